"""Which alert shows how a channel's messages look: a stored one, or one that is made up."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.engine.alerting.routing import route_to
from tocsin.engine.judging.events import EventWriter
from tocsin.errors import UsageError
from tocsin.model import AlertQuery, JsonObject

if TYPE_CHECKING:
    from tocsin.model import Instant
    from tocsin.ports import Chance, Store
    from tocsin.settings import Settings


class ShownAlert(Struct, frozen=True):
    """An alert to show.

    id     None for one that is made up
    route  that sends it to the channel; "" where none does
    """

    event: JsonObject
    id: str | None
    route: str


async def alert_to_show(
    settings: Settings,
    store: Store,
    chance: Chance,
    now: Instant,
    *,
    channel: str,
    alert_id: str | None,
    route: str | None,
) -> ShownAlert:
    """Choose the alert to show for a channel.

    alert_id  None: the latest, or a made-up one where there is none
    route     None: the one that would send it
    Raises UsageError for an unknown channel, alert or route.
    """
    if channel not in settings.channels:
        raise UsageError(f"channel {channel[:80]}: there is no such channel; see: tocsin channel list")
    if route and route not in {each.name for each in settings.routes}:
        raise UsageError(f"route {route[:80]}: there is no such route; see: tocsin route list")
    if alert_id:
        alert = await store.alert(alert_id)
        if alert is None:
            raise UsageError(f"alert {alert_id[:80]}: no such alert; see: tocsin alerts list")
    else:
        alert = next(iter((await store.browse_alerts(AlertQuery(), limit=1)).rows), None)
    if alert is None:
        instance = settings.instance
        writer = EventWriter(instance.name, chance, public_url=settings.http.public_url, language=instance.language)
        return ShownAlert(writer.example_event(now), None, route or "")
    if route is None:
        # A thousand routes take a second.
        route = await asyncio.to_thread(route_to, settings, alert, channel)
    return ShownAlert(alert.event, alert.id, route)
