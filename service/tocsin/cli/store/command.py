"""`tocsin store`: care of the store."""

from __future__ import annotations

import asyncio
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final

import click
from msgspec import structs

from tocsin.cli import output
from tocsin.cli.arguments import careful, confirm, parse_past
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.progress import progress
from tocsin.cli.session import configuration, now, with_store
from tocsin.cli.store.backup import backup, restore
from tocsin.cli.store.migrating import KEPT, migrate_store
from tocsin.configuration import show_size, show_span

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from datetime import timedelta

    from tocsin.model import Instant
    from tocsin.ports import Store
    from tocsin.settings import SnapshotSettings

_ROWS: Final = 1000


@click.group("store", epilog="Example: tocsin store backup tocsin-backup.db")
def command() -> None:
    """Care of the store."""


command.add_command(backup)
command.add_command(restore)


@command.command("migrate", epilog="Example: tocsin store migrate")
@click.option("--backup/--no-backup", "keep", default=True, help="Keep a copy of the store as it was, beside it.")
@output.json_option
@click.pass_context
def migrate(ctx: click.Context, *, keep: bool) -> None:
    """Bring the store to this version of the program; no service may run meanwhile.

    An engine does so at its start, and keeps a copy, too: FILE.before-N.vM beside the store.
    """
    url = configuration(ctx).settings.store.url
    done, kept = asyncio.run(migrate_store(url, keep=keep))
    told = f"{count(done, 'migration')} applied." if done else "Nothing to do: the store is of this version."

    def human() -> None:
        output.say(told)
        for file in kept:
            output.say(KEPT.format(file))

    output.emit({"store": url, "migrations": done, "kept": kept}, human)


@command.command("check", epilog="Example: tocsin store check")
@click.argument("file", metavar="[FILE]", required=False)
@output.json_option
@click.pass_context
def check(ctx: click.Context, file: str | None) -> int:
    """Verify the store, or a backup: SQLite's structure, the program's own invariants, and the digests of rows.

    A changed bit is found in states, verdicts, alerts, URLs, texts, microdata and all that is in an index; not in what
    each check writes anew, such as validators and times. Exit status 1 if anything is wrong.
    """
    from tocsin.adapters.stores import verify  # noqa: PLC0415 - the help needs no store

    if file is None:
        findings, uncovered = with_store(ctx, _check)
    else:
        verified = asyncio.run(verify(file))
        findings, uncovered = verified.findings, verified.without_digest
    for finding in findings:
        output.emit({"finding": finding}, partial(output.say, finding, style="red"))
    if uncovered:
        told = ", ".join(f"{rows:,} {table}" for table, rows in uncovered.items())
        output.note(f"not covered by digests, since an earlier version wrote them: {told}")
    if findings:
        output.note(f"{count(len(findings), 'finding')}; restore a backup, or ask for help with these words")
        return output.NEEDS_USER
    if not output.is_json():
        output.say("The store is sound." if file is None else "The backup is sound.", style="green")
    return output.DONE


async def _check(store: Store) -> tuple[list[str], dict[str, int]]:
    return await store.check(), await store.without_digest()


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
    forgotten = {} if dry_run else with_store(ctx, lambda store: _prune(store, instant, history, texts))
    rows = sum(forgotten.values())
    what = ", ".join(f"{number:,} {kind}" for kind, number in forgotten.items() if number)
    told = f"Would {act}." if dry_run else f"{count(rows, 'row')} forgotten{f': {what}' if what else ''}."
    record = {"before": json_time(before), "rows": rows, "forgotten": forgotten, "dry_run": dry_run}
    output.emit(record, lambda: output.say(told))


async def _prune(store: Store, at: Instant, history: timedelta, texts: SnapshotSettings) -> dict[str, int]:
    """Forget in small batches; returns how many rows of each kind."""
    forgotten: Counter[str] = Counter()
    prunings: tuple[Callable[[], Awaitable[int]], ...] = (
        partial(store.prune_snapshots, at, keep=texts.keep, per_page=texts.per_page, limit=_ROWS),
        partial(store.fit_snapshots, total=texts.total, limit=_ROWS),
    )
    with progress("Forgetting") as advance:
        while sum((found := await store.forget(at, history=history, limit=_ROWS)).values()):
            forgotten.update(found)
            advance(sum(found.values()))
        for pruning in prunings:
            while some := await pruning():
                forgotten["texts"] += some
                advance(some)
    return dict(forgotten)
