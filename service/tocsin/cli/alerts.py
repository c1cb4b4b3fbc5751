"""`tocsin alerts`: alerts, their deliveries, and changes that many pages of a host shared."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

import click

from tocsin.cli import output
from tocsin.cli.arguments import Number, careful, confirm, match_options
from tocsin.cli.formatting import count, show_time
from tocsin.cli.output import steps
from tocsin.cli.session import configuration, now, with_store
from tocsin.configuration.convert import parse_span
from tocsin.configuration.routes import read_match
from tocsin.engine.alerting.routing import router_of
from tocsin.errors import UsageError
from tocsin.model.records.alerting import alert_of, storm_of, storm_page_of
from tocsin.ports.pages import unheard
from tocsin.settings import MatchSettings
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.model import AlertRow, BundledAlert, JsonObject, StormRow, StormVerdict
    from tocsin.ports import Store
    from tocsin.ports.pages import OnStep
    from tocsin.settings import Settings


_PIECE: Final = 500
_SHOWN: Final = 80
_DIGEST: Final = Number("a digest", "tocsin alerts show ID")
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
    # What came says more of a change than what went.
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
    # Released, but its page was not rendered since: the alert is written with its rendering.
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
        # In pieces, so that no transaction reads a storm of a million pages while an engine wants to write.
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
@match_options
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int, match: dict[str, list[str]], *, dead: bool) -> None:
    """List the latest alerts, newest first, with the status of their deliveries.

    Each option that is given must hold, with one of its values, as in routes.
    """
    urls = match.get("url", [])
    wanted = None
    if len(urls) == 1 and "*" not in urls[0]:
        # The alerts of one page have an index.
        wanted = watch_url(urls[0]).url
        match = {key: values for key, values in match.items() if key != "url"}
    alerts = with_store(ctx, lambda store: _read(store, limit, read_match(match), dead=dead, url=wanted))
    if output.is_json():
        output.print_json(*map(alert_of, alerts))
    elif alerts:
        titles = ("id", "when", "what", "page", "summary", "delivered")
        output.table(titles, map(_row, alerts), whole=("id", "what"), head="page")
    else:
        output.say("No alert matches." if dead or match or wanted else "No alert yet.")


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
        if places := _places(alert):
            output.table(("channel", "status", "tries", "error"), places)

    output.emit(alert_of(alert), human)


@command.command("replay", epilog="Example: tocsin alerts replay --dead --channel ops")
@click.argument("alert_id", required=False, metavar="[ID]")
@click.option("--channel", metavar="NAME", help="Deliver to this channel only.")
@click.option("--dead", is_flag=True, help="Replay all dead letters, and dead digests.")
@click.option("--digest", type=_DIGEST, metavar="N", help="Replay a digest: the same content under the same id.")
@click.option("--route", metavar="NAME", help="Send earlier alerts to the channels that this route names for them now.")
@click.option("--since", default="7d", show_default=True, metavar="SPAN", help="With --route: how far back.")
@careful
@output.json_option
@click.pass_context
def replay(
    ctx: click.Context,
    alert_id: str | None,
    channel: str | None,
    digest: int | None,
    route: str | None,
    since: str,
    *,
    dead: bool,
    dry_run: bool,
    yes: bool,
) -> None:
    """Deliver an alert again, a digest, or all dead letters; receivers get the same ids again. Or apply a new route."""
    # Each of them counts in another way, so that two of them at once would have no clear sum.
    if (alert_id is not None) + dead + (digest is not None) + (route is not None) != 1:
        raise UsageError("name an alert, or give one of --dead (all dead letters), --digest N or --route NAME")
    settings = configuration(ctx).settings
    _demand_known("channel", channel, settings.channels)
    _demand_known("route", route, [each.name for each in settings.routes])
    if route is not None:
        replaying = partial(_replay_route, settings=settings, route=route, back=_span(since))
    elif digest is not None:
        replaying = partial(_replay_digest, number=digest)
    else:
        replaying = partial(_replay, alert_id=alert_id, channel=channel)
    # Counted first in any case: the question names a number, and nothing to do needs no question.
    deliveries = with_store(ctx, lambda store: replaying(store, dry_run=True))
    if deliveries and not dry_run:
        confirm(f"deliver {count(deliveries, 'alert')} {'now' if route is not None else 'again'}", yes=yes)
        with steps("Replaying", "due again", total=deliveries, what="alert") as on_step:
            deliveries = with_store(ctx, lambda store: replaying(store, dry_run=False, on_step=on_step))
    told = "would be delivered again." if dry_run else "due again; a running service delivers."
    record = {"deliveries": deliveries, "dry_run": dry_run}
    output.emit(record, lambda: output.say(f"{count(deliveries, 'alert')} {told}"))


command.add_command(storms)
command.add_command(release)


async def _read(store: Store, limit: int, match: MatchSettings, *, dead: bool, url: str | None) -> list[AlertRow]:
    from tocsin.engine.alerting.matching import AlertFacts, Matcher  # noqa: PLC0415 - the help needs no engine

    matcher = Matcher(match)
    found: list[AlertRow] = []
    before: int | None = None
    while len(found) < limit:
        # Filtered, it may take many alerts to find one.
        wanted = _PIECE if match != MatchSettings() else min(_PIECE, limit - len(found))
        piece = await store.alerts(limit=wanted, before=before, dead=dead, url=url)
        if not piece:
            break
        found += [alert for alert in piece if matcher.takes(AlertFacts(alert.type, alert.event))]
        before = piece[-1].position
    return found[:limit]


async def _one(store: Store, alert_id: str) -> AlertRow:
    alert = await store.alert(alert_id)
    if alert is None:
        raise UsageError(f"alert {alert_id}: no such alert; see: tocsin alerts list")
    return alert


def _demand_known(what: str, name: str | None, known: Collection[str]) -> None:
    if name is not None and name not in known:
        raise UsageError(f"{what} {name}: no such {what}; configured are: {', '.join(sorted(known)) or 'none'}")


def _span(text: str) -> timedelta:
    try:
        return parse_span(text)
    except ValueError as exc:
        raise UsageError(f"--since {text}: {exc}") from exc


async def _replay(
    store: Store, alert_id: str | None, channel: str | None, *, dry_run: bool, on_step: OnStep = unheard
) -> int:
    """Make deliveries due again; returns how many are, or would be."""
    if not dry_run:
        if alert_id is not None:
            return await store.replay(alert_id, channel=channel, now=now())
        return await store.replay_dead(channel=channel, now=now(), on_step=on_step)
    if alert_id is None:
        return await store.count_dead(channel)
    alert = await _one(store, alert_id)
    # What replaying touches: deliveries, digests that are sealed or over, and what silences held back.
    found = sum(channel in (None, name) for name, *_ in alert.deliveries)
    found += sum(channel in (None, each.channel) and each.state != "gathered" for each in alert.bundled)
    found += sum(channel in (None, name) for name, _ in alert.silenced)
    # A channel that was configured after the alert was written is given it all the same.
    return max(found, int(channel is not None))


async def _replay_digest(store: Store, number: int, *, dry_run: bool, on_step: OnStep = unheard) -> int:
    row = await store.bundle(number)
    if row is None:
        raise UsageError(f"digest {number}: no such digest; `tocsin alerts show ID` names those of an alert")
    # One that is under way would be sent twice.
    if row.state not in {"accepted", "dead"}:
        raise UsageError(f"digest {number}: it is {row.state}, and sent by itself; replay one that ended")
    replayed = row.alerts if dry_run else await store.replay_bundle(number, now())
    # The store refuses quietly what has no receiver; a user must know why nothing happens.
    if not dry_run and not replayed and row.alerts:
        raise UsageError(f"digest {number}: its channel {row.channel} is no longer configured; put it back first")
    on_step(replayed)
    return replayed


async def _replay_route(
    store: Store, settings: Settings, route: str, back: timedelta, *, dry_run: bool, on_step: OnStep = unheard
) -> int:
    at = now()
    since = at - back // timedelta(microseconds=1)
    return await store.replay_route(router_of(settings), route, since=since, now=at, dry_run=dry_run, on_step=on_step)


def _places(alert: AlertRow) -> list[tuple[str, str, int, str | None]]:
    """Say for each channel where an alert is: (channel, state, tries, error), and of a digest which one."""
    in_digests = {each.channel: _bundle_state(each) for each in alert.bundled}
    return [(name, in_digests.get(name, state), tries, error) for name, state, tries, error, _ in alert.by_channel()]


def _bundle_state(each: BundledAlert) -> str:
    if each.state == "gathered":
        return f"in digest {each.bundle}, due {show_time(each.due_at)}"
    return f"{each.state} in digest {each.bundle}"


def _row(alert: AlertRow) -> tuple[object, ...]:
    what = alert.type.removeprefix("tocsin.").removeprefix("page.").removesuffix(".v1")
    data = alert.event.get("data", {})
    outcome = ", ".join(filter(None, (data.get("outcome"), data.get("basis"))))
    stands = ", ".join(f"{channel}: {state}" for channel, state, _, _ in _places(alert)) or "no channel"
    at, said = show_time(alert.created_at), data.get("short")
    return (alert.id, at, f"{what}: {outcome}" if outcome else what, alert.url, said, stands)
