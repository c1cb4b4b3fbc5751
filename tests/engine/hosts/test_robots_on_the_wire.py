"""robots.txt asked for over real connections: conditions, length, redirects, each request at its host's gate."""

from __future__ import annotations

import gzip
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.fakes import EagerClock
from tests.origin import Origin, Page, RawOrigin
from tests.wire import fetcher
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.request_slots import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.settings import FetchSettings, HostSettings, PageSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.model import HopRequest, HopResponse, ReceivedPage
    from tocsin.ports import Fetcher

DAY_US = 24 * 3600 * 1_000_000
TEXT = "text/plain"


class World:
    """A cache of robots.txt over the network, and a site; time passes only while a task waits for it."""

    def __init__(self, origin: Origin, client: Fetcher) -> None:
        self.origin, self._client, self.clock = origin, client, EagerClock()
        self.gates = Gates(HostSettings(delay=timedelta(seconds=5)), self.clock)
        self.cache = RobotsCache(self._get, None, self.clock)
        outage, in_flight = OutageWatch(self.clock), RequestSlots(10)
        self._receiver = Receiver(self.gates, self.cache, outage, in_flight, FetchSettings(), self.clock)

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self._receiver.hop(request, self._client.shared())

    async def receive(self, request: PageRequest) -> ReceivedPage:
        return await self._receiver.receive(request, self._client.shared())

    async def is_allowed(self, path: str) -> bool:
        return (await self.cache.ruling(self.origin.url(path))).allowed

    def serve(self, robots: str | bytes, **answer: object) -> None:
        self.origin.pages["/robots.txt"] = Page(robots, content_type=TEXT, **answer)  # type: ignore[arg-type]  # passed on


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with Origin() as origin, fetcher() as client:
        await origin.start("127.0.0.2")
        yield World(origin, client)


async def test_the_conditions_are_the_bytes_that_came_and_a_304_renews_the_answer(world: World) -> None:
    world.serve("User-agent: *\nDisallow: /a", etag='W/"1,2"')

    allowed = [await world.is_allowed("/a")]
    world.clock.set_wall(world.clock.now() + DAY_US)
    allowed.append(await world.is_allowed("/a"))

    assert allowed == [False, False]
    assert [asked.headers.get("if-none-match") for asked in world.origin.log] == [None, 'W/"1,2"']


@pytest.mark.parametrize("packed", [False, True])
async def test_LM42_of_10_mb_the_first_500_kib_are_read(world: World, packed: bool) -> None:  # noqa: FBT001 - a table
    body = b"User-agent: *\nDisallow: /a\n" + b"# more\n" * 1_500_000 + b"Disallow: /b\n"
    world.serve(gzip.compress(body) if packed else body, headers={"content-encoding": "gzip"} if packed else {})

    assert not await world.is_allowed("/a")
    assert await world.is_allowed("/b")


async def test_a_redirect_to_another_host_is_followed_at_that_host_s_gate(world: World) -> None:
    there = world.origin.url("/rules").replace("127.0.0.1", "127.0.0.2")
    world.serve("", status=301, headers={"location": there})
    world.origin.pages["/rules"] = Page("User-agent: *\nDisallow: /a", content_type=TEXT)
    world.gates.leave(await world.gates.enter("127.0.0.2"))

    assert not await world.is_allowed("/a")
    # That host had been asked a moment before.
    assert world.clock.slept == [5.0]


async def test_robots_txt_is_asked_for_through_the_proxy_of_its_page() -> None:
    async with RawOrigin(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n.") as proxy, fetcher() as client:
        policy = PageSettings(proxy=proxy.url(""))
        await World(Origin(), client).receive(PageRequest("http://a.example/page", "a.example", policy))

    assert [head.partition(b" HTTP")[0] for head in proxy.heads] == [
        b"GET http://a.example/robots.txt",
        b"GET http://a.example/page",
    ]
