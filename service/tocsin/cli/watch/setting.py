"""`tocsin watch set`: what holds for pages, a group, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import Struct

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm
from tocsin.cli.formatting import count
from tocsin.cli.progress import steps
from tocsin.cli.session import now, with_store
from tocsin.cli.watch.choosing import pages_named, select
from tocsin.cli.watch.options import page_options
from tocsin.configuration import all_unset, check_page_keys, mask
from tocsin.configuration.tree import PAGE_KEYS
from tocsin.errors import UsageError
from tocsin.lists.pages import check_group, check_words
from tocsin.model import PageFilter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.cli.watch.choosing import Selection
    from tocsin.model import JsonObject
    from tocsin.ports import Store


class Edit(Struct, frozen=True):
    """What is to be changed.

    settings, unset  what is set from now on, and which keys inherit again
    paused           None leaves it
    move_to          another group, or None
    text             the user's own words, or None; `clear_text` takes them away
    """

    settings: JsonObject
    unset: tuple[str, ...]
    paused: bool | None
    move_to: str | None
    text: str | None
    clear_text: bool

    @property
    def is_of_pages(self) -> bool:
        """Whether something is changed that only pages have, not groups."""
        return self.paused is not None or self.move_to is not None or self.text is not None or self.clear_text

    def overwrites(self, *, everywhere: bool) -> str:
        """What of the pages' own would be lost, in words; empty if nothing is. Of a group its name is known."""
        if self.text is not None:
            return "write these words in the place of whatever you wrote on"
        if self.clear_text:
            return "take away what you wrote on"
        return "move out of their groups" if everywhere and self.move_to is not None else ""


@click.command("set", epilog="Example: tocsin watch set --group news --every 6h --tell major")
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--group", metavar="NAME", help="For this group, those that are added later too.")
@click.option("--all", "everywhere", is_flag=True, help="For all pages, those that are added later too.")
@page_options
@click.option("--unset", multiple=True, metavar="KEY", help="Let this setting inherit again.")
@click.option("--pause", is_flag=True, help="No checks until --resume.")
@click.option("--resume", is_flag=True, help="Check again.")
@click.option("--move-to", metavar="GROUP", help="Into another group.")
@click.option("--text", metavar="WORDS", help="Your own words on the page, at most 253 characters.")
@click.option("--clear-text", is_flag=True, help="Take your words away.")
@careful
@output.json_option
@click.pass_context
def set_(
    ctx: click.Context,
    urls: tuple[str, ...],
    group: str | None,
    unset: tuple[str, ...],
    move_to: str | None,
    text: str | None,
    settings: JsonObject,
    *,
    everywhere: bool,
    pause: bool,
    resume: bool,
    clear_text: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Set what holds for pages, for a group, or for all; the nearest setting wins."""
    if bool(urls) + (group is not None) + everywhere != 1:
        raise UsageError("say for whom: name pages, or give --group NAME, or --all")
    if text and clear_text:
        raise UsageError("--text and --clear-text exclude each other; leave one of them out")
    if pause and resume:
        raise UsageError("--pause and --resume exclude each other; leave one of them out")
    keys = _keys_of(ctx, unset, urls, group)
    if settings.keys() & set(keys):
        both = ", ".join(sorted(settings.keys() & set(keys)))
        raise UsageError(f"--unset {both}: set and unset at once; leave one of them out")
    paused = pause if pause or resume else None
    edit = Edit(settings, keys, paused, check_group(move_to) if move_to else None, check_words(text), clear_text)
    if not (settings or keys or edit.is_of_pages):
        raise UsageError("say what to set, such as --every 6h, --mode off or --pause; see: tocsin watch set --help")
    lost = "" if urls else edit.overwrites(everywhere=everywhere)
    if dry_run or lost:
        changed = with_store(ctx, lambda store: _count(store, urls, group))
        if changed and not dry_run:
            confirm(f"{lost} {count(changed, 'page')}", yes=yes)
    if not dry_run:
        changed = with_store(ctx, lambda store: _set(store, urls, group, edit))
    whom = count(changed, "page") if urls or edit.is_of_pages else f"group {group}" if group else "all pages"
    record: JsonObject = {"scope": "page" if urls else "group" if group else "all", "group": group, "pages": changed}
    shown = {key: mask(("pages", key), value) for key, value in settings.items()}
    record.update(set=shown, unset=list(keys))
    if dry_run:
        record["dry_run"] = True
    output.emit(record, lambda: output.say(f"{'Would be set' if dry_run else 'Set'} for {whom}."))


async def _count(store: Store, urls: Sequence[str], group: str | None) -> int:
    """Count the pages that are meant."""
    await _demand_group(store, group)
    return (await select(store, urls, PageFilter(group=group))).pages


def _keys_of(ctx: click.Context, unset: Sequence[str], urls: Sequence[str], group: str | None) -> tuple[str, ...]:
    """Read the keys of `--unset`; what another version set, and this one does not know, can be unset, too.

    Raises SettingsError, NotWatched, BadUrl.
    """
    keys = tuple(key.replace("-", "_") for key in unset)
    if all(key in PAGE_KEYS for key in keys):
        return keys
    held = with_store(ctx, lambda store: _held(store, urls, group))
    keys = tuple(key if key in held else key.replace("-", "_") for key in unset)
    check_page_keys((key for key in keys if key not in held), source="--unset")
    return keys


async def _held(store: Store, urls: Sequence[str], group: str | None) -> set[str]:
    """Tell which keys are set for these pages, for the group, or for all pages."""
    if urls:
        return {key for page in await pages_named(store, urls) for key in page.settings}
    for_all, groups = await store.overrides()
    return set(for_all) if group is None else {key for name, own in groups.values() if name == group for key in own}


async def _demand_group(store: Store, group: str | None) -> None:
    if group is None:
        return
    groups = sorted(name for name, _ in (await store.overrides())[1].values())
    if group not in groups:
        raise UsageError(f"group {group}: there is no such group; there are: {', '.join(groups)}")


async def _set(store: Store, urls: Sequence[str], group: str | None, edit: Edit) -> int:
    """Change pages, or a group; returns how many pages were changed themselves, or inherit the change."""
    await _demand_group(store, group)
    selection = await select(store, urls, PageFilter(group=group))
    if urls:
        return await _edit(store, selection, edit)
    if edit.settings or edit.unset:
        unset = all_unset(edit.settings, edit.unset)
        with steps("Scheduling", "scheduled anew", total=selection.pages) as on_step:
            await store.edit_group(group, now(), settings=edit.settings, unset=unset, on_step=on_step)
    if not edit.is_of_pages:
        return selection.pages
    # Settings belong to the group alone: its pages inherit them.
    own = Edit({}, (), edit.paused, edit.move_to, edit.text, edit.clear_text)
    return await _edit(store, selection, own)


async def _edit(store: Store, selection: Selection, edit: Edit) -> int:
    changed = 0
    unset = all_unset(edit.settings, edit.unset)
    with steps("Setting", "set", total=selection.pages) as on_step:
        async for some in selection.batches(store):
            changed += await store.edit_pages(
                some,
                now(),
                settings=edit.settings,
                unset=unset,
                paused=edit.paused,
                group=edit.move_to,
                text=edit.text,
                clear_text=edit.clear_text,
                of=selection.pages,
                on_step=on_step,
            )
    return changed
