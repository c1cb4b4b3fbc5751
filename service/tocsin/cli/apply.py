"""`tocsin apply`: make the list of pages what a declared list says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, removal
from tocsin.cli.output import steps
from tocsin.cli.plan import Plan, file_options, make_plan, read_file, tell
from tocsin.cli.selection import BATCH
from tocsin.cli.session import now, with_store
from tocsin.lists.declared import ListChange, edit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.lists.declared import DeclaredEdit
    from tocsin.ports import Store


@click.command("apply", epilog="Example: tocsin apply pages.toml")
@click.argument("file", metavar="FILE")
@file_options
@careful
@output.json_option
@click.pass_context
def command(ctx: click.Context, file: str, kind: str | None, *, prune: bool | None, dry_run: bool, yes: bool) -> None:
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
            await _edit(store, edit, ids, len(changes), on_step)


async def _edit(store: Store, edit: DeclaredEdit, ids: Sequence[int], of: int, on_step: Callable[[int], None]) -> None:
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
