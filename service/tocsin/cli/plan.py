"""`tocsin plan` and `tocsin apply`: what a declared list of pages would change, and changing it."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec
from msgspec import Struct, field

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, removal
from tocsin.cli.files import open_lines, opened_target
from tocsin.cli.formatting import count
from tocsin.cli.output import progress, steps
from tocsin.cli.selection import BATCH, batches
from tocsin.cli.session import configuration, is_store_there, now, settings_in_force, with_store
from tocsin.configuration import mask
from tocsin.configuration.loading import read_secret
from tocsin.configuration.routes import check_page_route
from tocsin.errors import UsageError
from tocsin.lists.declared import (
    Declared,
    DeclaredWriter,
    ListChange,
    TomlWriter,
    YamlWriter,
    compare_group,
    compare_page,
    edit_of,
    read_declared,
    to_new,
    to_schema,
)
from tocsin.lists.declared.tree import FORMATS, LARGEST_BYTES
from tocsin.lists.formats.text import PRIVATE
from tocsin.lists.pages import GroupNames
from tocsin.model import PageFilter
from tocsin.model.records.operations import PlannedChange, PlannedPages, PlannedValue, PlanSummary

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
    from typing import IO, TypeVar

    from tocsin.lists.declared import DeclaredEdit
    from tocsin.model import NewPage, PageRow
    from tocsin.ports import Store


if TYPE_CHECKING:
    Function = TypeVar("Function", bound=Callable[..., object])

_ON_TERMINAL: Final = 200
_SIGNS: Final = {"added": ("+", "green"), "changed": ("~", "yellow"), "removed": ("-", "red")}
_OWN: Final = ("group", "text", "paused")


class Plan(Struct):
    """What a file would change.

    settings  of all pages and of groups
    added     pages that are not watched yet, as the store takes them; `new` describes them
    changed, removed  pages that are watched
    """

    settings: list[ListChange] = field(default_factory=list)
    added: list[NewPage] = field(default_factory=list)
    new: list[ListChange] = field(default_factory=list)
    changed: list[ListChange] = field(default_factory=list)
    removed: list[ListChange] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.settings or self.new or self.changed or self.removed)

    def changes(self) -> Iterator[ListChange]:
        """Yield all changes, in the order in which they are carried out."""
        for some in (self.settings, self.new, self.changed, self.removed):
            yield from some


def file_options(function: Function) -> Function:
    """Give a command the options that say what its file is."""
    pruned = click.option(
        "--prune/--no-prune",
        default=None,
        help="Remove pages that the file does not list; default: what the file says.",
    )
    kind = click.option(
        "--format", "kind", type=click.Choice(FORMATS), help="Format of the file; by default from its extension."
    )
    return kind(pruned(function))


def read_file(name: str, kind: str | None, *, prune: bool | None) -> Declared:
    """Read a declared list. Raises UsageError for one that cannot be taken whole."""
    with open_lines(name) as stream:
        body = stream.read(LARGEST_BYTES + 1)
    folder = Path(name).parent

    def secret(file: str, key: str, source: str) -> str:
        return read_secret(folder / file, key=key, source=source)

    declared = read_declared(body, name=name, kind=kind, read_secret=secret)
    if prune and not declared.pages:
        raise UsageError(
            f"--prune: {name} names no page, which would remove all; to empty the list: tocsin watch clear"
        )
    return declared if prune is None else msgspec.structs.replace(declared, prune=prune)


def make_plan(ctx: click.Context, declared: Declared) -> Plan:
    """Compare a file with the store; where there is no store yet, all of it is new, and none is made.

    Raises SettingsError where it names a route that the configuration does not have.
    """
    _check_routes(ctx, declared)
    if not is_store_there(configuration(ctx).settings):
        return _of_nothing(declared)
    return with_store(ctx, lambda store: survey(store, declared))


def _check_routes(ctx: click.Context, declared: Declared) -> None:
    levels = [
        declared.for_all or {},
        *declared.groups.values(),
        *(page.new.settings or {} for page in declared.pages.values()),
    ]
    names = {level["route"] for level in levels if "route" in level}
    routes = settings_in_force(ctx).routes if names else ()
    # A job in CI may plan without the configuration of the service.
    for name in names if routes else ():
        check_page_route(name, routes, "route")


async def survey(store: Store, declared: Declared) -> Plan:
    """Compare a file with what is stored."""
    plan = Plan()
    for_all, groups = await store.overrides()
    _demand_names(declared, [name for name, _ in groups.values()])
    _add_settings(plan, declared, for_all, dict(groups.values()))
    known: set[str] = set()
    total = await store.count_pages(PageFilter()) if declared.prune else len(declared.pages)
    with progress("Comparing", total=total) as advance:
        async for pages in _pages_of(store, declared):
            for page in pages:
                known.add(page.url)
                change = compare_page(page, declared)
                if change is not None:
                    (plan.removed if change.action == "removed" else plan.changed).append(change)
            advance(len(pages))
    _add_new(plan, declared, known)
    return plan


def _demand_names(declared: Declared, there: Iterable[str]) -> None:
    """Refuse groups whose names differ only in capitals from those that there are; raises UsageError."""
    names = GroupNames(there)
    for name in dict.fromkeys([*declared.groups, *(page.new.group for page in declared.pages.values())]):
        names.take(name)


async def _pages_of(store: Store, declared: Declared) -> AsyncIterator[list[PageRow]]:
    """Yield the pages that the file may change: all of them where it prunes, else those that it names."""
    if declared.prune:
        async for pages in batches(store, PageFilter()):
            yield pages
        return
    urls = list(declared.pages)
    for start in range(0, len(urls), BATCH):
        yield await store.pages(PageFilter(urls=tuple(urls[start : start + BATCH])), limit=BATCH)


def _of_nothing(declared: Declared) -> Plan:
    plan = Plan()
    _add_settings(plan, declared, {}, {})
    _add_new(plan, declared, set())
    return plan


def _add_settings(plan: Plan, declared: Declared, for_all: dict[str, Any], groups: dict[str, dict[str, Any]]) -> None:
    found = [] if declared.for_all is None else [compare_group(None, for_all, declared.for_all)]
    found += [compare_group(name, groups.get(name), settings) for name, settings in declared.groups.items()]
    plan.settings += [change for change in found if change is not None]


def _add_new(plan: Plan, declared: Declared, known: set[str]) -> None:
    for url, said in declared.pages.items():
        if url not in known:
            new, change = to_new(said)
            plan.added.append(new)
            plan.new.append(change)


def tell(plan: Plan, *, applied: bool) -> None:
    """Print what a file would change, or has changed: a diff to a person, a line each to a program; last the sum."""
    if output.is_json():
        # A line each, since a list may change a million pages.
        for change in plan.changes():
            output.print_json(_planned(change))
        pages = PlannedPages(added=len(plan.new), changed=len(plan.changed), removed=len(plan.removed))
        output.print_json(PlanSummary(pages=pages, settings=len(plan.settings), applied=applied))
        return
    for change in islice(plan.changes(), _ON_TERMINAL):
        _print(change)
    total = sum(1 for _ in plan.changes())
    if total > _ON_TERMINAL:
        output.say(f"… and {count(total - _ON_TERMINAL, 'change')} more; --json lists all")
    output.say(told_in_short(plan, applied=applied), style="bold")


def _planned(change: ListChange) -> PlannedChange:
    """Make the record of a change; secrets are masked."""
    changes = [
        PlannedValue(key=each.key, previous=_masked(each.key, each.previous), latest=_masked(each.key, each.latest))
        for each in change.fields
    ]
    url, group = (change.name if change.scope == scope else None for scope in ("page", "group"))
    return PlannedChange(change=change.action, scope=change.scope, url=url, group=group, changes=changes)


def told_in_short(plan: Plan, *, applied: bool) -> str:
    """Say the same in words."""
    if not plan:
        return "Nothing to do: the store is as the file says."
    numbers = (len(plan.new), len(plan.changed), len(plan.removed))
    verbs = ("added", "changed", "removed") if applied else ("to add", "to change", "to remove")
    parts = [f"{count(number, 'page')} {verb}" for number, verb in zip(numbers, verbs, strict=True) if number]
    if plan.settings:
        groups = sum(change.scope == "group" for change in plan.settings)
        whom = ["all pages"] if groups < len(plan.settings) else []
        whom += [count(groups, "group")] if groups else []
        parts.append(f"settings of {' and '.join(whom)} {'changed' if applied else 'to change'}")
    return f"{'Done' if applied else 'Plan'}: {', '.join(parts)}."


def _print(change: ListChange) -> None:
    sign, style = _SIGNS[change.action]
    name = {"all": "all pages", "group": f"group {change.name}", "page": change.name}[change.scope]
    output.say(f"{sign} {name}", style=style)
    for change_of in change.fields:
        output.say("    " + _told(change_of.key, change_of.previous, change_of.latest))


def _told(key: str, previous: object, latest: object) -> str:
    before, after = (_shown(key, value) for value in (previous, latest))
    if latest is None:
        gone = "removed" if key in _OWN else "inherited again"
        return f"- {key}: {before}  ({gone})"
    return f"+ {key}: {after}" if previous is None else f"~ {key}: {before} -> {after}"


def _shown(key: str, value: object) -> str:
    shown = _masked(key, value)
    if isinstance(shown, bool):
        return str(shown).lower()
    return ", ".join(map(str, shown)) if isinstance(shown, list) else str(shown)


def _masked(key: str, value: Any) -> Any:
    return value if value is None or key in _OWN else mask(("pages", key), value)


@click.command("plan", epilog="Example: tocsin plan pages.toml")
@click.argument("file", metavar="[FILE]", required=False)
@file_options
@click.option("--exit-code", is_flag=True, help="Exit with status 1 if anything would change.")
@click.option("--schema", is_flag=True, help="Print the JSON Schema of these files.")
@click.option(
    "--from-store", is_flag=True, help="Write the stored list as such a file; applying it would change nothing."
)
@click.option("--output", "-o", "target", metavar="FILE", help="With --from-store: write to this file.")
@click.option("--with-secrets", is_flag=True, help="With --from-store: include credentials, headers, cookies, proxies.")
@output.json_option
@click.pass_context
def command(
    ctx: click.Context,
    file: str | None,
    kind: str | None,
    target: str | None,
    *,
    prune: bool | None,
    exit_code: bool,
    schema: bool,
    from_store: bool,
    with_secrets: bool,
) -> int:
    """Show what applying a list of pages (TOML or YAML) would change; nothing is changed.

    The file is authoritative for everything it lists: defaults, groups, pages. What it does not list is kept, unless
    it says prune = true. Apply it with: tocsin apply FILE
    """
    if (file is not None) + schema + from_store != 1:
        raise UsageError("give a file, --schema or --from-store, and only one of them")
    if (target is not None or with_secrets) and not from_store:
        raise UsageError("--output and --with-secrets need --from-store")
    if schema:
        click.echo(json.dumps(to_schema(), indent=2, ensure_ascii=False))
        return output.DONE
    if from_store:
        _write(ctx, kind or "toml", target, with_secrets=with_secrets)
        return output.DONE
    plan = make_plan(ctx, read_file(str(file), kind, prune=prune))
    tell(plan, applied=False)
    return output.NEEDS_USER if plan and exit_code else output.DONE


def _write(ctx: click.Context, kind: str, target: str | None, *, with_secrets: bool) -> None:
    writer: DeclaredWriter = YamlWriter(with_secrets=with_secrets)
    if kind == "toml":
        writer = TomlWriter(with_secrets=with_secrets)
    with opened_target(target) as stream:
        pages, kept_back = with_store(ctx, lambda store: _export(store, writer, stream))
    output.note(f"{count(pages, 'page')} written.")
    if kept_back and not with_secrets:
        output.note(
            f"Credentials, headers, cookies or proxies of {count(kept_back, 'page')} were left out. Applying the "
            "file keeps them; to write them too, give --with-secrets"
        )


async def _export(store: Store, writer: DeclaredWriter, stream: IO[bytes]) -> tuple[int, int]:
    for_all, groups = await store.overrides()
    stream.write(writer.head(for_all, dict(sorted(groups.values()))).encode())
    written = kept_back = 0
    with progress("Writing", total=await store.count_pages(PageFilter())) as advance:
        async for pages in batches(store, PageFilter()):
            stream.write(writer.pages(pages).encode())
            written += len(pages)
            kept_back += sum(page.has_secrets or not page.settings.keys().isdisjoint(PRIVATE) for page in pages)
            advance(len(pages))
    return written, kept_back


@click.command("apply", epilog="Example: tocsin apply pages.toml")
@click.argument("file", metavar="FILE")
@file_options
@careful
@output.json_option
@click.pass_context
def apply(ctx: click.Context, file: str, kind: str | None, *, prune: bool | None, dry_run: bool, yes: bool) -> None:
    """Apply a list of pages (TOML or YAML): settings, groups, pages. Applying it twice changes nothing more.

    It works in small steps, also while a service runs. A file with any error is rejected as a whole. You are asked
    before pages are removed (prune = true, or --prune).
    """
    plan = make_plan(ctx, read_file(file, kind, prune=prune))
    if plan.removed and not dry_run:
        confirm(removal(len(plan.removed)), yes=yes)
    if plan and not dry_run:
        with_store(ctx, lambda store: carry_out(store, plan), create=True)
    tell(plan, applied=not dry_run)


async def carry_out(store: Store, plan: Plan) -> None:
    """Make every change of a plan; what is interrupted goes on by planning and applying again."""
    for change in plan.settings:
        edit = edit_of(change)
        with steps("Setting", "set") as on_step:
            name = change.name if change.scope == "group" else None
            await store.edit_group(name, now(), settings=edit.settings, unset=edit.unset, on_step=on_step)
    if plan.added:
        with steps("Adding", "added", total=len(plan.added)) as on_step:
            for start in range(0, len(plan.added), BATCH):
                await store.add_pages(plan.added[start : start + BATCH], now(), on_step=on_step)
    await _change(store, plan.changed)
    if plan.removed:
        ids = [change.page_id for change in plan.removed if change.page_id is not None]
        with steps("Removing", "removed", total=len(ids)) as on_step:
            for start in range(0, len(ids), BATCH):
                await store.remove_pages(ids[start : start + BATCH], on_step=on_step)


async def _change(store: Store, changes: Sequence[ListChange]) -> None:
    """Edit pages, those together whose edit is the same."""
    alike: dict[bytes, tuple[DeclaredEdit, list[int]]] = {}
    for change in changes:
        if change.page_id is not None:
            edit = edit_of(change)
            alike.setdefault(edit.key, (edit, []))[1].append(change.page_id)
    if not alike:
        return
    with steps("Changing", "changed", total=len(changes)) as on_step:
        for edit, ids in alike.values():
            await _edit_pages(store, edit, ids, len(changes), on_step)


async def _edit_pages(
    store: Store, edit: DeclaredEdit, ids: Sequence[int], of: int, on_step: Callable[[int], None]
) -> None:
    for start in range(0, len(ids), BATCH):
        await store.edit_pages(
            ids[start : start + BATCH],
            now(),
            settings=edit.settings,
            unset=edit.unset,
            paused=edit.paused,
            group=edit.group,
            text=edit.text,
            clear_text=edit.clear_text,
            of=of,
            on_step=on_step,
        )
