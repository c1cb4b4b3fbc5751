"""What takes pages through their checks, put together; alike in the main process and in a fetcher process."""

from __future__ import annotations

import resource
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from msgspec import Struct

from tocsin import __version__
from tocsin.engine.hosts.process_limits import LoopTime, RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.rendering.renderer import PageRenderer
from tocsin.engine.visiting.receive import Receiver, RequestSets
from tocsin.engine.visiting.visit import Visitor
from tocsin.model import KEEPS_ALL
from tocsin.spec.html.decoding import load_decoders
from tocsin.spec.html.urls import host_and_origin
from tocsin.spec.infrastructure.urls import load_encoders

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from tocsin.app.asides import DocumentReader
    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.hosts.robots import RobotsStore
    from tocsin.engine.judging.events import EventWriter
    from tocsin.engine.policies import Policies
    from tocsin.engine.rendering.renderer import WatchedPages
    from tocsin.engine.visiting.browsing import PageBrowser
    from tocsin.engine.visiting.receive import TryObserver
    from tocsin.engine.visiting.visit import Handoff
    from tocsin.model import HopRequest, HopResponse, KeptContents
    from tocsin.ports import Chance, Clock, Documents, Fetcher, Telemetry
    from tocsin.settings import (
        FetchSettings,
        HostSettings,
        InstanceSettings,
        NetworkSettings,
        RenderSettings,
    )


def user_agent(contact: str) -> str:
    """What requests say that they come from."""
    return f"Tocsin/{__version__} (+{contact})" if contact else f"Tocsin/{__version__}"


# Of clients; as `server.connections` has it, which fetcher processes do not load.
FEWEST_CONNECTIONS: Final = 16
# What a process has open beside connections: its store, logs, pipes, sockets of its own, modules being loaded.
_OWN_FILES: Final = 24


def most_in_flight(wanted: int, files: int | None = None) -> int:
    """Say how many requests this process may have under way: as many as are wanted, if it may open a file for each.

    files  how many it may open; None: the system's limit
    A quarter is for idle connections (see `llhttp.pool`), an eighth for clients (see `server.connections`).
    """
    if files is None:
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    if files == resource.RLIM_INFINITY:
        return wanted
    return max(1, min(wanted, files - files // 4 - max(files // 8, FEWEST_CONNECTIONS) - _OWN_FILES))


def load_ahead(time_zone: str) -> None:
    """Load what a page may need and lies in files: by then, this process may be short of files.

    The writers of formats are not loaded: few pages need them.
    """
    for module in ("concurrent.futures.thread", "encodings.idna", "encodings.punycode", "tocsin.spec.links.copies"):
        import_module(module)
    load_decoders()
    load_encoders()
    ZoneInfo(time_zone)


@asynccontextmanager
async def open_fetcher(
    instance: InstanceSettings,
    fetch: FetchSettings,
    network: NetworkSettings,
    hosts: HostSettings,
    *,
    body_room: int | None = None,
    demo_port: int = 0,
) -> AsyncIterator[tuple[Fetcher, DocumentReader]]:
    """Open what receives pages, and what reads the documents among them; the last two are as `HttpFetcher` has them."""
    # Where fetcher processes receive pages, only they need these.
    from tocsin.adapters.http.fetcher import HttpFetcher  # noqa: PLC0415 - as said
    from tocsin.adapters.http.tls import accepted_of  # noqa: PLC0415 - as said
    from tocsin.app.asides import DocumentReader  # noqa: PLC0415 - as said

    agent, accepted = user_agent(instance.contact), accepted_of(hosts)
    async with (
        DocumentReader() as documents,
        HttpFetcher(
            fetch, network, user_agent=agent, accepted=accepted, body_room=body_room, demo_port=demo_port
        ) as fetcher,
    ):
        yield fetcher, documents


class Checking(Struct, frozen=True):
    """The parts."""

    receiver: Receiver
    in_flight: RequestSlots
    conclusions: Conclusions
    visitor: Visitor
    renderer: PageRenderer
    loop_time: LoopTime


def put_together(
    instance: InstanceSettings,
    fetch: FetchSettings,
    *,
    fetcher: Fetcher,
    alerts: EventWriter,
    gates: Gates,
    policies: Policies,
    robots_store: RobotsStore,
    agreement: WatchedPages,
    notes: TryObserver,
    outage: OutageWatch | None,
    clock: Clock,
    chance: Chance,
    telemetry: Telemetry,
    documents: Documents | None = None,
    handoff: Handoff | None = None,
    hop_elsewhere: Callable[[HopRequest], Awaitable[HopResponse]] | None = None,
    is_ours: Callable[[str], bool] = lambda _host: True,
    mark: Callable[[int], None] = lambda _page_id: None,
    keeps: KeptContents = KEEPS_ALL,
    loop_time: LoopTime | None = None,
    browser: PageBrowser | None = None,
    turn_elsewhere: Callable[[str], Awaitable[None]] | None = None,
    render: RenderSettings | None = None,
) -> Checking:
    """Put the parts together.

    outage         None: whether it is our own connection that fails is decided elsewhere
    documents      reads what is no page; None: its bytes are compared
    hop_elsewhere  makes requests to hosts that are not ours
    keeps          what of pages' contents is kept
    loop_time      shares the time of the loop that this runs on
    browser        receives pages by visits in it; None: no page is read in one
    turn_elsewhere  takes a turn at the gate of a host that is not ours
    """

    async def get_robots(request: HopRequest) -> HopResponse:
        if hop_elsewhere is not None and not is_ours(host_and_origin(request.url)[0]):
            return await hop_elsewhere(request)
        return await receiver.hop(request, fetcher.shared())

    robots = RobotsCache(get_robots, robots_store, clock, total_s=fetch.deadlines.total.total_seconds())
    load_ahead(instance.time_zone)
    in_flight = RequestSlots(most_in_flight(fetch.in_flight))
    aside = (documents, browser, turn_elsewhere)
    receiver = Receiver(gates, robots, notes, in_flight, fetch, clock, *aside, is_ours=is_ours)
    tries = RequestSets(receiver, fetcher, gates, fetch, clock, chance)
    conclusions = Conclusions(alerts, time_zone=instance.time_zone, keeps=keeps)
    shared = loop_time or LoopTime()
    beside = (gates, outage, fetch, clock, telemetry)
    visitor = Visitor(tries, policies, conclusions, *beside, handoff=handoff, mark=mark, loop_time=shared)
    renderer = PageRenderer(
        receiver, fetcher, policies, agreement, clock, render, mark=mark, keeps_items=keeps.items, loop_time=shared
    )
    return Checking(receiver, in_flight, conclusions, visitor, renderer, shared)
