"""`tocsin store`: care of the store."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Final

import click
from msgspec import structs

from tocsin.cli import output
from tocsin.cli.asking import careful, confirm, count
from tocsin.cli.session import configuration, now, with_store
from tocsin.cli.times import json_time, parse_past, show_time
from tocsin.configuration import show_size, show_span

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from datetime import timedelta

    from tocsin.model import Instant
    from tocsin.ports import Store
    from tocsin.settings import SnapshotSettings

_ROWS: Final = 1000


@click.group("store", epilog="Example: tocsin store backup tocsin-backup.db")
def command() -> None:
    """Care of the store."""


@command.command("migrate", epilog="Example: tocsin store migrate")
@output.json_option
@click.pass_context
def migrate(ctx: click.Context) -> None:
    """Bring the store to this version of the program; no service may run meanwhile."""
    from tocsin.adapters.stores import migrate as steps_of  # noqa: PLC0415 - the help needs no store

    url = configuration(ctx).settings.store.url
    done = asyncio.run(_follow("Migrating", steps_of(url)))
    told = f"{count(done, 'migration')} applied." if done else "Nothing to do: the store is of this version."
    output.emit({"store": url, "migrations": done}, lambda: output.say(told))


@command.command("backup", epilog="Example: tocsin store backup tocsin-backup.db")
@click.argument("file", metavar="FILE")
@output.json_option
@click.pass_context
def backup(ctx: click.Context, file: str) -> None:
    """Copy the store as it is at one instant, also while the service runs."""

    async def copy(store: Store) -> None:
        await _follow("Copying", await store.backup(file))

    with_store(ctx, copy)
    output.emit({"backup": file}, lambda: output.say(f"The store was copied to {file}."))


@command.command("check", epilog="Example: tocsin store check")
@output.json_option
@click.pass_context
def check(ctx: click.Context) -> int:
    """Verify the store's integrity and the program's own invariants. Exit status 1 if anything is wrong."""
    findings = with_store(ctx, lambda store: store.check())
    for finding in findings:
        output.emit({"finding": finding}, partial(output.say, finding, style="red"))
    if findings:
        output.note(f"{count(len(findings), 'finding')}; restore a backup, or ask for help with these words")
        return output.NEEDS_USER
    if not output.is_json():
        output.say("The store is sound.", style="green")
    return output.DONE


@command.command("prune", epilog="Example: tocsin store prune --older 90d --dry-run")
@click.option(
    "--older",
    metavar="DURATION",
    help="Than this; without, what the configuration says: store.history, snapshots.keep.",
)
@careful
@output.json_option
@click.pass_context
def prune(ctx: click.Context, older: str | None, *, dry_run: bool, yes: bool) -> None:
    """Forget history, alerts, answered questions and texts of pages.

    The table and whatever still waits stay; of texts the latest of each page, as far as snapshots.total leaves room.
    """
    settings = configuration(ctx).settings
    history, texts = settings.store.history, settings.snapshots
    if older is not None:
        history = parse_past(older, option="--older")
        texts = structs.replace(texts, keep=history)
    instant = now()
    before = instant - round(history.total_seconds() * 1_000_000)
    act = (
        f"forget history, alerts and answered questions from before {show_time(before)} ({show_span(history)}), "
        f"texts of pages after {show_span(texts.keep)}, and the oldest of those beyond {show_size(texts.total)} in all"
    )
    if not dry_run:
        confirm(act, yes=yes)
    rows = 0 if dry_run else with_store(ctx, lambda store: _prune(store, instant, history, texts))
    told = f"Would {act}." if dry_run else f"{count(rows, 'row')} forgotten."
    output.emit({"before": json_time(before), "rows": rows, "dry_run": dry_run}, lambda: output.say(told))


async def _prune(store: Store, at: Instant, history: timedelta, texts: SnapshotSettings) -> int:
    rows = 0
    prunings: tuple[Callable[[], Awaitable[int]], ...] = (
        partial(store.prune, at, history=history, limit=_ROWS),
        partial(store.prune_snapshots, at, keep=texts.keep, per_page=texts.per_page, limit=_ROWS),
        partial(store.fit_snapshots, total=texts.total, limit=_ROWS),
    )
    with output.progress("Forgetting") as advance:
        for pruning in prunings:
            while some := await pruning():
                rows += some
                advance(some)
    return rows


async def _follow(description: str, steps: AsyncIterator[tuple[int, int]]) -> int:
    """Show steps as a progress bar; returns how many there were."""
    with ExitStack() as stack:
        advance, before, total = None, 0, 0
        async for done, total in steps:
            # Only the first step tells how many there are.
            advance = advance or stack.enter_context(output.progress(description, total=total))
            advance(done - before)
            before = done
    return total
