"""`tocsin alerts storms` and `release`: changes that many pages of a host had in common, told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import Number, careful, confirm
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.progress import steps
from tocsin.cli.session import now, with_store
from tocsin.errors import UsageError

if TYPE_CHECKING:
    from tocsin.model import JsonObject, StormRow, StormVerdict
    from tocsin.ports import Store

_PIECE: Final = 500
_SHOWN: Final = 80
_STORM = Number("a storm", "tocsin alerts storms")


@click.command("storms", epilog="Example: tocsin alerts storms 7")
@click.argument("storm", required=False, type=_STORM, metavar="[ID]")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@output.json_option
@click.pass_context
def storms(ctx: click.Context, storm: int | None, limit: int) -> None:
    """List changes that many pages of a host shared, so that they were told once; or the pages of one of them."""
    if storm is None:
        _print_storms(with_store(ctx, lambda store: store.storms(limit=limit)))
        return
    found, verdicts = with_store(ctx, lambda store: _whole(store, storm, limit))
    if output.is_json():
        for verdict in verdicts:
            output.print_json(_verdict_record(found, verdict))
    else:
        on = count(found.pages, "page")
        output.say(f"Storm {found.id}: the same {found.outcome} change on {on} of {found.host} ({found.basis})")
        for line in _lines(found.excerpt):
            output.say(line)
        output.table(("page", "when", "outcome", "alert"), map(_verdict_row, verdicts), whole=("alert",), head="page")


@click.command("release", epilog="Example: tocsin alerts release 7")
@click.argument("storm", type=_STORM, metavar="ID")
@careful
@output.json_option
@click.pass_context
def release(ctx: click.Context, storm: int, *, dry_run: bool, yes: bool) -> None:
    """Give each page of a storm an alert of its own after all; a running service receives the pages and tells."""
    verdicts = with_store(ctx, lambda store: _count(store, storm))
    pages = 0
    if not dry_run:
        confirm(f"give {count(verdicts, 'alert')} that were withheld", yes=yes)
        pages = with_store(ctx, lambda store: _release(store, storm, verdicts))
    record = {"storm": str(storm), "alerts": verdicts, "pages": pages, "dry_run": dry_run}
    told = "would be due." if dry_run else "due; a running service, or `tocsin check`, gives them."
    output.emit(record, lambda: output.say(f"{count(verdicts, 'alert')} {told}"))


def to_record(storm: StormRow) -> dict[str, Any]:
    """Tell a storm as `--json` does."""
    return {
        "id": str(storm.id),
        "host": storm.host,
        "pages": storm.pages,
        "sample": list(storm.sample),
        "outcome": storm.outcome,
        "basis": storm.basis,
        "excerpt": storm.excerpt,
        "first": json_time(storm.first_at),
        "latest": json_time(storm.latest_at),
        "told": json_time(storm.announced_at),
        "released": json_time(storm.released_at),
    }


def _print_storms(found: list[StormRow]) -> None:
    if output.is_json():
        for storm in found:
            output.print_json(to_record(storm))
    elif found:
        output.table(
            ("id", "when", "host", "pages", "what", "told"), map(_row, found), whole=("id", "pages"), head="host"
        )
    else:
        output.say("No change was shared by many pages of a host.")


def _row(storm: StormRow) -> tuple[object, ...]:
    told = "page by page" if storm.released_at is not None else show_time(storm.announced_at) or "not yet"
    return (storm.id, show_time(storm.first_at), storm.host, storm.pages, _what(storm), told)


def _what(storm: StormRow) -> str:
    """Say what changed in a line: what is new there, or else what is gone."""
    lines = _lines(storm.excerpt)
    line = next((each for each in lines if each.startswith("+")), next(iter(lines), ""))
    short = line if len(line) <= _SHOWN else f"{line[:_SHOWN].rstrip()}…"
    return f"{storm.outcome}: {short}" if short else storm.outcome


def _lines(excerpt: JsonObject | None) -> list[str]:
    """Show what changed: what is gone after a minus, what is new after a plus."""
    if excerpt is None:
        return []
    gone, new = excerpt.get("removed") or (), excerpt.get("added") or ()
    return [*(f"- {text}" for text in gone), *(f"+ {text}" for text in new)]


def _verdict_record(storm: StormRow, verdict: StormVerdict) -> dict[str, Any]:
    return {
        "storm": str(storm.id),
        "url": verdict.url,
        "time": json_time(verdict.at),
        "outcome": verdict.outcome,
        "alert": verdict.alert_id,
        "withheld": verdict.withheld,
    }


def _verdict_row(verdict: StormVerdict) -> tuple[object, ...]:
    stands = verdict.alert_id or ("withheld" if verdict.withheld else "due")
    return (verdict.url, show_time(verdict.at), verdict.outcome, stands)


async def _one(store: Store, storm_id: int) -> StormRow:
    storm = await store.storm(storm_id)
    if storm is None:
        raise UsageError(f"storm {storm_id}: there is none; see: tocsin alerts storms")
    return storm


async def _whole(store: Store, storm_id: int, limit: int) -> tuple[StormRow, list[StormVerdict]]:
    storm = await _one(store, storm_id)
    found: list[StormVerdict] = []
    after = (0, 0)
    while len(found) < limit:
        piece = await store.storm_verdicts(storm_id, after=after, limit=min(_PIECE, limit - len(found)))
        if not piece:
            break
        found += piece
        after = (piece[-1].page_id, piece[-1].id)
    return storm, found


async def _count(store: Store, storm_id: int) -> int:
    await _one(store, storm_id)
    return await store.count_withheld(storm_id)


async def _release(store: Store, storm_id: int, verdicts: int) -> int:
    with steps("Releasing", "due", total=verdicts) as on_step:
        return await store.release_storm(storm_id, now(), on_step=on_step)
