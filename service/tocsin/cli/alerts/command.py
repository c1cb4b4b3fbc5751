"""`tocsin alerts`: what was told, and to whom."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import click

from tocsin.cli import output
from tocsin.cli.alerts.storms import release, storms
from tocsin.cli.arguments import careful, confirm
from tocsin.cli.formatting import count, json_time, show_time
from tocsin.cli.progress import steps
from tocsin.cli.session import configuration, now, with_store
from tocsin.errors import UsageError
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.model import AlertRow
    from tocsin.ports import Store

_PIECE: Final = 500


@click.group("alerts", epilog="Example: tocsin alerts list --dead")
def command() -> None:
    """Alerts, their deliveries, and dead letters."""


@command.command("list", epilog="Example: tocsin alerts list --url https://example.org/news")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="The latest so many.")
@click.option("--dead", is_flag=True, help="Only those that a channel never accepted.")
@click.option("--url", metavar="URL", help="Only those of this page.")
@output.json_option
@click.pass_context
def list_(ctx: click.Context, limit: int, url: str | None, *, dead: bool) -> None:
    """List the latest alerts, newest first, and how their deliveries stand."""
    wanted = watch_url(url).url if url else None
    alerts = with_store(ctx, lambda store: _read(store, limit, dead=dead, url=wanted))
    if output.is_json():
        for alert in alerts:
            output.print_json(to_record(alert))
    elif alerts:
        output.table(("id", "when", "what", "page", "delivered"), map(_row, alerts), whole=("id", "what"), head="page")
    else:
        output.say("There is no such alert." if dead or url else "No alert yet.")


@command.command("show", epilog="Example: tocsin alerts show 01KAKQ4ZC8N2V3J5R7T9WXYZ00")
@click.argument("alert_id", metavar="ID")
@output.json_option
@click.pass_context
def show(ctx: click.Context, alert_id: str) -> None:
    """Show an alert whole: its event as the channels are given it, and its deliveries."""
    alert = with_store(ctx, lambda store: _one(store, alert_id))

    def human() -> None:
        for line in json.dumps(alert.event, ensure_ascii=False, indent=2).splitlines():
            output.say(line, whole=True)
        if alert.deliveries:
            output.table(("channel", "stands", "tries", "error"), alert.deliveries)

    output.emit({**to_record(alert), "event": alert.event}, human)


@command.command("replay", epilog="Example: tocsin alerts replay --dead --channel ops")
@click.argument("alert_id", required=False, metavar="[ID]")
@click.option("--channel", metavar="NAME", help="Only to this channel.")
@click.option("--dead", is_flag=True, help="All dead letters.")
@careful
@output.json_option
@click.pass_context
def replay(
    ctx: click.Context, alert_id: str | None, channel: str | None, *, dead: bool, dry_run: bool, yes: bool
) -> None:
    """Deliver an alert again, or all dead letters; receivers get the same id once more."""
    if (alert_id is None) != dead:
        raise UsageError("name the alert, or give --dead for all dead letters")
    known = configuration(ctx).settings.channels
    if channel is not None and channel not in known:
        raise UsageError(
            f"channel {channel}: there is no such channel; there are: {', '.join(sorted(known)) or 'none'}"
        )
    deliveries = with_store(ctx, lambda store: _count(store, alert_id, channel))
    if deliveries and not dry_run:
        confirm(f"deliver {count(deliveries, 'alert')} again", yes=yes)
        deliveries = with_store(ctx, lambda store: _replay(store, alert_id, channel, deliveries))
    told = "would be delivered again." if dry_run else "due again; a running service delivers."
    record = {"deliveries": deliveries, "dry_run": dry_run}
    output.emit(record, lambda: output.say(f"{count(deliveries, 'alert')} {told}"))


command.add_command(storms)
command.add_command(release)


def to_record(alert: AlertRow) -> dict[str, Any]:
    """Tell an alert as `--json` does."""
    return {
        "id": alert.id,
        "type": alert.type,
        "url": alert.url,
        "time": json_time(alert.created_at),
        "outcome": alert.event.get("data", {}).get("outcome"),
        "deliveries": [
            {"channel": channel, "state": state, "tries": tries, "error": error}
            for channel, state, tries, error in alert.deliveries
        ],
    }


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
        raise UsageError(f"alert {alert_id}: there is none; see: tocsin alerts list")
    return alert


async def _count(store: Store, alert_id: str | None, channel: str | None) -> int:
    """Count the deliveries that a replay would make due."""
    if alert_id is not None:
        alert = await _one(store, alert_id)
        found = sum(channel in (None, name) for name, _, _, _ in alert.deliveries)
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
    stands = ", ".join(f"{channel}: {state}" for channel, state, _, _ in alert.deliveries) or "no channel"
    return (alert.id, show_time(alert.created_at), f"{what}: {outcome}" if outcome else what, alert.url, stands)
