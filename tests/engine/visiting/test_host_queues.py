"""Pages on their way to be visited, by host."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from tests.builders import task
from tests.fakes import ManualClock, ScriptedFetcher, answer
from tocsin.engine.fetchers.checkers import HostQueues
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.model import PageTask
from tocsin.settings import FetchSettings, HostSettings, PageSettings


class Site:
    """Every page of it is under way until it is let go."""

    def __init__(self, *, concurrency: int = 2, in_flight: int = 10) -> None:
        gates = Gates(HostSettings(delay=timedelta(0), concurrency=concurrency), ManualClock())
        self.in_flight = RequestSlots(in_flight)
        self.queues = HostQueues(self._visit, gates, self.in_flight)
        self.begun: list[int] = []
        self.ended: list[int] = []
        self._under_way: dict[int, asyncio.Event] = {}
        self._stand_aside: dict[int, Callable[[], None]] = {}
        self._group: asyncio.TaskGroup | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Site]:
        """Have pages visited inside; all are let go at the end."""
        async with asyncio.TaskGroup() as self._group:
            yield self
            while self._under_way:
                await self.let_go(*self._under_way)

    async def begin(self, *pages: PageTask) -> None:
        """Begin these."""
        assert self._group is not None
        self.queues.begin(pages, self._group.create_task)
        await self._settle()

    async def let_go(self, *page_ids: int) -> None:
        """Let these visits end."""
        for page_id in page_ids:
            self._under_way.pop(page_id).set()
        await self._settle()

    async def stand_aside(self, page_id: int) -> None:
        """Let this one wait for something else."""
        self._stand_aside[page_id]()
        await self._settle()

    async def _settle(self) -> None:
        for _ in range(5):
            await asyncio.sleep(0)

    async def _visit(self, page: PageTask, stand_aside: Callable[[], None]) -> None:
        self.begun.append(page.page_id)
        self._stand_aside[page.page_id] = stand_aside
        await self.in_flight.take()
        self._under_way[page.page_id] = asyncio.Event()
        await self._under_way[page.page_id].wait()
        self.in_flight.give_back()
        self.ended.append(page.page_id)


def pages(*page_ids: int, host: str = "site.test") -> list[PageTask]:
    """Pages of one host."""
    return [task(page_id=page_id, host=host, url=f"http://{host}/{page_id}") for page_id in page_ids]


async def test_a_host_is_visited_by_as_many_as_its_gate_lets_in() -> None:
    async with Site(concurrency=2).open() as site:
        await site.begin(*pages(1, 2, 3, 4))

        assert site.begun == [1, 2]


async def test_the_pages_of_a_host_come_in_their_order_and_all_of_them() -> None:
    async with Site(concurrency=1).open() as site:
        await site.begin(*pages(1, 2, 3))
        await site.begin(*pages(4))

    assert site.ended == [1, 2, 3, 4]


async def test_each_host_has_one_before_any_has_a_second() -> None:
    async with Site(concurrency=2, in_flight=3).open() as site:
        await site.begin(*pages(1, 2, host="a.test"), *pages(3, 4, host="b.test"))

        assert site.begun == [1, 3, 2]


async def test_where_requests_have_no_room_a_host_is_visited_by_one_whose_connection_stands() -> None:
    async with Site(concurrency=2, in_flight=2).open() as site:
        await site.begin(*pages(1, 2, 3, host="a.test"), *pages(4, 5, 6, host="b.test"))
        await site.let_go(1)

        assert site.begun == [1, 4, 2]


async def test_once_there_is_room_a_second_one_comes() -> None:
    async with Site(concurrency=2, in_flight=2).open() as site:
        await site.begin(*pages(1, 2, 3, 4, host="a.test"), *pages(5, host="b.test"))
        await site.let_go(5)
        await site.let_go(1)

        assert site.begun == [1, 5, 2, 3]


async def test_a_visit_that_waits_for_something_else_does_not_keep_its_host_waiting() -> None:
    async with Site(concurrency=1).open() as site:
        await site.begin(*pages(1, 2, 3))

        await site.stand_aside(1)

        assert site.begun == [1, 2]


async def test_a_visit_that_stood_aside_takes_no_further_page() -> None:
    async with Site(concurrency=1).open() as site:
        await site.begin(*pages(1, 2, 3))
        await site.stand_aside(1)
        await site.stand_aside(1)

        await site.let_go(1)

        assert site.begun == [1, 2]


async def test_a_host_whose_pages_are_done_begins_anew() -> None:
    async with Site(concurrency=1).open() as site:
        await site.begin(*pages(1))
        await site.stand_aside(1)
        await site.let_go(1)

        await site.begin(*pages(2))

        assert site.begun == [1, 2]


@pytest.mark.parametrize(("target", "stood"), [("http://a.test/there", []), ("http://b.test/there", [0])])
async def test_a_page_stands_aside_before_another_host_is_asked(target: str, stood: list[int]) -> None:
    web, clock, page = ScriptedFetcher(), ManualClock(), "http://a.test/page"
    web.on(page, answer(page, status=302, headers=[("location", target)]))
    web.page(target, "<title>there</title>")
    gates = Gates(HostSettings(delay=timedelta(0)), clock)
    receiver = Receiver(gates, None, OutageWatch(clock), RequestSlots(1), FetchSettings(), clock)
    asked: list[int] = []

    request = PageRequest(page, "a.test", PageSettings(), stand_aside=lambda: asked.append(web.asked(target)))
    await receiver.receive(request, web)

    assert asked == stood
