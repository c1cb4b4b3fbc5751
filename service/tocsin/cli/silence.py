"""`tocsin silence`: alerts that are not sent, for a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from tocsin.cli import output
from tocsin.cli.arguments import Number, match_in_words, match_options, parse_time
from tocsin.cli.formatting import show_time
from tocsin.cli.session import now, with_store
from tocsin.configuration.routes import read_silences
from tocsin.errors import UsageError
from tocsin.model.records.routing import silence_of
from tocsin.settings import MatchSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import Instant, Silence
    from tocsin.ports import Store

WHO: Final = "command line"
_SILENCE = Number("a silence", "tocsin silence list")


@click.group("silence", epilog="Example: tocsin silence add --host staging.example.org --until 7d --reason relaunch")
def command() -> None:
    """Silences: alerts that are not sent, for a time. They are listed, counted, and can be replayed."""


@command.command("add", epilog="Example: tocsin silence add --host staging.example.org --until 7d --reason relaunch")
@click.option("--until", metavar="WHEN", help='Its end: "7d" from now, or a date; default: when you end it.')
@click.option("--reason", default="", metavar="TEXT", help="Shown beside it.")
@match_options
@output.json_option
@click.pass_context
def add(ctx: click.Context, until: str | None, reason: str, match: dict[str, list[str]]) -> None:
    """Hold back alerts that match: each option that is given must hold, with one of its values.

    A running service takes it up at once.
    """
    at = now()
    if not match:
        raise UsageError("say which alerts: --host, --group, --kind … (see: tocsin silence add --help)")
    (wanted,) = read_silences([{"match": match, "reason": reason}], "tocsin silence add")
    end = parse_time(until, now=at, option="--until") if until else None

    async def work(store: Store) -> Silence:
        body = msgspec.to_builtins(wanted.match)
        return await store.add_silence(body, from_at=at, until_at=end, reason=reason, who=WHO)

    silence = with_store(ctx, work, create=True)
    told = f"Silence {silence.id} holds them back{f' until {show_time(end)}' if end else ''}."
    output.emit(silence_of(silence), lambda: output.say(told))


@command.command("list", epilog="Example: tocsin silence list --all")
@click.option("--all", "every", is_flag=True, help="Also those that have ended.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of rows.")
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int, *, every: bool) -> None:
    """List silences, newest first."""
    at = now()
    found = with_store(ctx, lambda store: _read(store, limit, at, every=every))
    if output.is_json():
        output.print_json(*map(silence_of, found))
    elif found:
        titles = ("id", "alerts", "from", "until", "reason", "by")
        output.table(titles, [_row(silence, at) for silence in found], whole=("id",), head="alerts")
    else:
        output.say("There is no silence." if every else "No silence is in force.")


@command.command("end", epilog="Example: tocsin silence end 7")
@click.argument("silence", type=_SILENCE, metavar="ID")
@output.json_option
@click.pass_context
def end(ctx: click.Context, silence: int) -> None:
    """End a silence before its time. What it held back stays so; `tocsin alerts replay` sends it."""
    at = now()
    if not with_store(ctx, lambda store: store.end_silence(silence, at)):
        raise UsageError(f"silence {silence}: no such silence is in force; see: tocsin silence list --all")
    output.emit({"id": str(silence)}, lambda: output.say(f"Silence {silence} has ended."))


async def _read(store: Store, limit: int, at: Instant, *, every: bool) -> Sequence[Silence]:
    found: list[Silence] = []
    before: int | None = None
    while len(found) < limit:
        piece = await store.silences(limit=limit, before=before)
        if not piece:
            break
        found += [silence for silence in piece if every or silence.is_in_force(at)]
        before = piece[-1].id
    return found[:limit]


def _row(silence: Silence, at: Instant) -> tuple[Any, ...]:
    until = show_time(silence.until_at) if silence.until_at is not None else "you end it"
    if silence.ended_at is not None:
        until = f"ended {show_time(silence.ended_at)}"
    elif not silence.is_in_force(at):
        until = f"ended {show_time(silence.until_at)}"
    try:
        alerts = match_in_words(msgspec.convert(silence.match, MatchSettings))
    except msgspec.ValidationError:
        alerts = "(written by a newer version)"
    return silence.id, alerts, show_time(silence.from_at), until, silence.reason, silence.who
