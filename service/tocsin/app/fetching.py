"""What takes pages through their checks, put together; alike in the main process and in a fetcher process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.engine.conclude import Conclusions
from tocsin.engine.in_flight import InFlight
from tocsin.engine.receive import Receiver
from tocsin.engine.rendering import HttpRenderer
from tocsin.engine.robots import RobotsCache
from tocsin.engine.tries import Tries
from tocsin.engine.visit import Visitor
from tocsin.model import KEEPS_ALL
from tocsin.spec.html.urls import host_and_origin

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.engine.alerts import Alerts
    from tocsin.engine.gates import Gates
    from tocsin.engine.outage import OutageWatch
    from tocsin.engine.policies import Policies
    from tocsin.engine.receive import TryNotes
    from tocsin.engine.rendering import Agreement
    from tocsin.engine.robots import RobotsStore
    from tocsin.engine.visit import Peers
    from tocsin.model import Keeps
    from tocsin.ports import Chance, Clock, Fetcher, HopRequest, HopResponse, Telemetry
    from tocsin.settings import FetchSettings, InstanceSettings


class Checking(Struct, frozen=True):
    """The parts."""

    receiver: Receiver
    in_flight: InFlight
    conclusions: Conclusions
    visitor: Visitor
    renderer: HttpRenderer


def put_together(
    instance: InstanceSettings,
    fetch: FetchSettings,
    *,
    fetcher: Fetcher,
    alerts: Alerts,
    gates: Gates,
    policies: Policies,
    robots_store: RobotsStore,
    agreement: Agreement,
    notes: TryNotes,
    outage: OutageWatch | None,
    clock: Clock,
    chance: Chance,
    telemetry: Telemetry,
    peers: Peers | None = None,
    hop_elsewhere: Callable[[HopRequest], Awaitable[HopResponse]] | None = None,
    is_ours: Callable[[str], bool] = lambda _host: True,
    mark: Callable[[int], None] = lambda _page_id: None,
    keeps: Keeps = KEEPS_ALL,
) -> Checking:
    """Put the parts together.

    outage         None: whether it is our own connection that fails is decided elsewhere
    hop_elsewhere  makes requests to hosts that are not ours
    keeps          what of pages' contents is kept
    """

    async def get_robots(request: HopRequest) -> HopResponse:
        if hop_elsewhere is not None and not is_ours(host_and_origin(request.url)[0]):
            return await hop_elsewhere(request)
        return await receiver.hop(request, fetcher.shared())

    robots = RobotsCache(get_robots, robots_store, clock, total_s=fetch.deadlines.total.total_seconds())
    in_flight = InFlight(fetch.in_flight)
    receiver = Receiver(gates, robots, notes, in_flight, fetch, clock, is_ours=is_ours)
    tries = Tries(receiver, fetcher, gates, fetch, clock, chance)
    conclusions = Conclusions(alerts, time_zone=instance.time_zone, keeps=keeps)
    visitor = Visitor(tries, policies, conclusions, gates, outage, fetch, clock, telemetry, peers=peers, mark=mark)
    renderer = HttpRenderer(receiver, fetcher, policies, agreement, clock, mark=mark, keeps_items=keeps.items)
    return Checking(receiver, in_flight, conclusions, visitor, renderer)
