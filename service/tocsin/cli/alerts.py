"""`tocsin alerts`: alerts, their deliveries, and changes that many pages of a host shared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import Number, careful, confirm
from tocsin.cli.formatting import count, show_time
from tocsin.cli.output import steps
from tocsin.cli.session import configuration, now, with_store
from tocsin.errors import UsageError
from tocsin.model.records.alerting import alert_of, storm_of, storm_page_of
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.model import AlertRow, JsonObject, StormRow, StormVerdict
    from tocsin.ports import Store


_PIECE: Final = 500
_SHOWN: Final = 80
_STORM = Number("a storm", "tocsin alerts storms")


@click.command("storms", epilog="Example: tocsin alerts storms 7")
@click.argument("storm", required=False, type=_STORM, metavar="[ID]")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of rows.")
@output.json_option
@click.pass_context
def storms(ctx: click.Context, storm: int | None, limit: int) -> None:
    """List storms (the same change on many pages of a host, alerted once), or the pages of one storm."""
    if storm is None:
        _print_storms(with_store(ctx, lambda store: store.storms(limit=limit)))
        return
    found, verdicts = with_store(ctx, lambda store: _whole(store, storm, limit))
    if output.is_json():
        output.print_json(*(storm_page_of(found.id, verdict) for verdict in verdicts))
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
    """Deliver the alerts that a storm withheld, one per page; a running service writes and sends them."""
    verdicts = with_store(ctx, lambda store: _count_withheld(store, storm))
    pages = 0
    if not dry_run:
        confirm(f"deliver {count(verdicts, 'withheld alert')}", yes=yes)
        pages = with_store(ctx, lambda store: _release(store, storm, verdicts))
    record = {"storm": str(storm), "alerts": verdicts, "pages": pages, "dry_run": dry_run}
    told = "would be due." if dry_run else "due; a running service or `tocsin check` sends them."
    output.emit(record, lambda: output.say(f"{count(verdicts, 'alert')} {told}"))


def _print_storms(found: list[StormRow]) -> None:
    if output.is_json():
        output.print_json(*map(storm_of, found))
    elif found:
        output.table(
            ("id", "when", "host", "pages", "change", "alerted"),
            map(_storm_row, found),
            whole=("id", "pages"),
            head="host",
        )
    else:
        output.say("There was no storm: no change was shared by many pages of a host.")


def _storm_row(storm: StormRow) -> tuple[object, ...]:
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


def _verdict_row(verdict: StormVerdict) -> tuple[object, ...]:
    stands = verdict.alert_id or ("withheld" if verdict.withheld else "due")
    return (verdict.url, show_time(verdict.at), verdict.outcome, stands)


async def _one_storm(store: Store, storm_id: int) -> StormRow:
    storm = await store.storm(storm_id)
    if storm is None:
        raise UsageError(f"storm {storm_id}: no such storm; see: tocsin alerts storms")
    return storm


async def _whole(store: Store, storm_id: int, limit: int) -> tuple[StormRow, list[StormVerdict]]:
    storm = await _one_storm(store, storm_id)
    found: list[StormVerdict] = []
    after = (0, 0)
    while len(found) < limit:
        piece = await store.storm_verdicts(storm_id, after=after, limit=min(_PIECE, limit - len(found)))
        if not piece:
            break
        found += piece
        after = (piece[-1].page_id, piece[-1].id)
    return storm, found


async def _count_withheld(store: Store, storm_id: int) -> int:
    await _one_storm(store, storm_id)
    return await store.count_withheld(storm_id)


async def _release(store: Store, storm_id: int, verdicts: int) -> int:
    with steps("Releasing", "due", total=verdicts) as on_step:
        return await store.release_storm(storm_id, now(), on_step=on_step)


@click.group("alerts", epilog="Example: tocsin alerts list --dead")
def command() -> None:
    """Alerts, their deliveries, and dead letters."""


@command.command("list", epilog="Example: tocsin alerts list --url https://example.org/news")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Maximum number of alerts.")
@click.option("--dead", is_flag=True, help="Only dead letters: alerts that a channel never accepted.")
@click.option("--url", metavar="URL", help="Only alerts about this page.")
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int, url: str | None, *, dead: bool) -> None:
    """List the latest alerts, newest first, with the status of their deliveries."""
    wanted = watch_url(url).url if url else None
    alerts = with_store(ctx, lambda store: _read(store, limit, dead=dead, url=wanted))
    if output.is_json():
        output.print_json(*map(alert_of, alerts))
    elif alerts:
        titles = ("id", "when", "what", "page", "summary", "delivered")
        output.table(titles, map(_row, alerts), whole=("id", "what"), head="page")
    else:
        output.say("No alert matches." if dead or url else "No alert yet.")


@command.command("show", epilog="Example: tocsin alerts show 01KAKQ4ZC8N2V3J5R7T9WXYZ00")
@click.argument("alert_id", metavar="ID")
@output.json_option
@click.pass_context
def show(ctx: click.Context, alert_id: str) -> None:
    """Show an alert: its event as it is sent to channels, and its deliveries."""
    alert = with_store(ctx, lambda store: _one(store, alert_id))

    def human() -> None:
        for line in json.dumps(alert.event, ensure_ascii=False, indent=2).splitlines():
            output.say(line, whole=True)
        if given := alert.by_channel():
            output.table(("channel", "status", "tries", "error"), given)

    output.emit(alert_of(alert), human)


@command.command("replay", epilog="Example: tocsin alerts replay --dead --channel ops")
@click.argument("alert_id", required=False, metavar="[ID]")
@click.option("--channel", metavar="NAME", help="Deliver to this channel only.")
@click.option("--dead", is_flag=True, help="Replay all dead letters.")
@careful
@output.json_option
@click.pass_context
def replay(
    ctx: click.Context, alert_id: str | None, channel: str | None, *, dead: bool, dry_run: bool, yes: bool
) -> None:
    """Deliver an alert again, or all dead letters. Receivers get the same id again."""
    if (alert_id is None) != dead:
        raise UsageError("name an alert, or give --dead for all dead letters")
    known = configuration(ctx).settings.channels
    if channel is not None and channel not in known:
        raise UsageError(f"channel {channel}: no such channel; configured are: {', '.join(sorted(known)) or 'none'}")
    deliveries = with_store(ctx, lambda store: _count(store, alert_id, channel))
    if deliveries and not dry_run:
        confirm(f"deliver {count(deliveries, 'alert')} again", yes=yes)
        deliveries = with_store(ctx, lambda store: _replay(store, alert_id, channel, deliveries))
    told = "would be delivered again." if dry_run else "due again; a running service delivers."
    record = {"deliveries": deliveries, "dry_run": dry_run}
    output.emit(record, lambda: output.say(f"{count(deliveries, 'alert')} {told}"))


command.add_command(storms)
command.add_command(release)


async def _read(store: Store, limit: int, *, dead: bool, url: str | None) -> list[AlertRow]:
    found: list[AlertRow] = []
    before: int | None = None
    while len(found) < limit:
        piece = await store.alerts(limit=min(_PIECE, limit - len(found)), before=before, dead=dead, url=url)
        if not piece:
            break
        found += piece
        before = piece[-1].position
    return found


async def _one(store: Store, alert_id: str) -> AlertRow:
    alert = await store.alert(alert_id)
    if alert is None:
        raise UsageError(f"alert {alert_id}: no such alert; see: tocsin alerts list")
    return alert


async def _count(store: Store, alert_id: str | None, channel: str | None) -> int:
    """Count the deliveries that a replay would make due."""
    if alert_id is not None:
        alert = await _one(store, alert_id)
        # What waits in a digest stays there, unless its channel is named.
        found = sum(
            name == channel or (channel is None and state != "gathered") for name, state, _, _ in alert.by_channel()
        )
        # A channel that was configured after the alert was written is given it all the same.
        return max(found, int(channel is not None))
    return await store.count_dead(channel)


async def _replay(store: Store, alert_id: str | None, channel: str | None, deliveries: int) -> int:
    if alert_id is not None:
        return await store.replay(alert_id, channel=channel, now=now())
    with steps("Replaying", "due again", total=deliveries, what="alert") as on_step:
        return await store.replay_dead(channel=channel, now=now(), on_step=on_step)


def _row(alert: AlertRow) -> tuple[object, ...]:
    what = alert.type.removeprefix("tocsin.").removeprefix("page.").removesuffix(".v1")
    data = alert.event.get("data", {})
    outcome = ", ".join(filter(None, (data.get("outcome"), data.get("basis"))))
    stands = ", ".join(f"{channel}: {state}" for channel, state, _, _ in alert.by_channel()) or "no channel"
    at, said = show_time(alert.created_at), data.get("short")
    return (alert.id, at, f"{what}: {outcome}" if outcome else what, alert.url, said, stands)
