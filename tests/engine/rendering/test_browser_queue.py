"""Visits in the browser: renderings and checks share the limit (T55), and neither starves."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START, FakeBrowser, ManualClock, RecordingTelemetry, dom, settle
from tocsin.engine.rendering.browser_queue import MOST_WAITING, BrowserQueue, CheckPlaces
from tocsin.engine.rendering.render_queue import RenderGate
from tocsin.errors import FetchFailed, Postponed
from tocsin.model import FailureKind
from tocsin.ports.browser import BrowserVisit


def url_of(number: int) -> str:
    return f"https://app.example/{number}"


class Setting:
    """A queue over a browser whose visits last until they are told to end."""

    def __init__(self, *, slots: int = 2, limit: int = 4) -> None:
        self.browser, self.telemetry, self.clock = FakeBrowser(slots), RecordingTelemetry(), ManualClock()
        self.browser.before = self._hold
        self.queue = BrowserQueue(lambda _group: self.browser, slots, self.clock, self.telemetry)
        self.note(limit=limit)
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    def note(self, *, limit: int = 4, rendering: int = 0, waiting: bool = False, started: int = 0) -> None:
        self.queue.places.note(limit=limit, rendering=rendering, are_waiting=waiting, started=started)

    async def visit(self, number: int, *, is_urgent: bool = False) -> None:
        url = url_of(number)
        self.browser.on(url, dom(url, "<p>text"))
        await self.queue.visit(BrowserVisit(url), self._admit, is_urgent=is_urgent)

    async def end(self, number: int) -> None:
        self._ends[url_of(number)].set()
        await settle()

    async def _admit(self, url: str) -> None:
        self.begun.append(url.rpartition("/")[2])

    async def _hold(self, visit: BrowserVisit) -> None:
        await self._ends.setdefault(visit.url, asyncio.Event()).wait()


async def test_T55_renderings_go_first_then_checks_the_oldest_first() -> None:
    site = Setting(slots=1)
    async with site.queue.running(), asyncio.TaskGroup() as group:
        group.create_task(site.visit(1))
        await settle()
        for number in (2, 3):
            group.create_task(site.visit(number))
        await settle()
        group.create_task(site.visit(4, is_urgent=True))
        await settle()
        for number in (1, 4, 2, 3):
            await site.end(number)

    assert site.begun == ["1", "4", "2", "3"]
    assert site.browser.most == 1
    assert site.browser.is_closed


async def test_T55_checks_in_the_browser_take_slots_of_the_render_limit() -> None:
    site = Setting(slots=4, limit=2)
    site.note(limit=2, rendering=1)
    async with site.queue.running(), asyncio.TaskGroup() as group:
        for number in (1, 2):
            group.create_task(site.visit(number))
        await settle()
        begun = list(site.begun)
        site.note(limit=2, rendering=0)
        await settle()
        later = list(site.begun)
        for number in (1, 2):
            await site.end(number)

    assert (begun, later) == (["1"], ["1", "2"])
    assert site.queue.places.taken == 0


async def test_checks_wait_while_renderings_do_but_not_for_ever() -> None:
    places = CheckPlaces(limit=2)
    places.note(limit=2, rendering=2, are_waiting=True, started=2)
    async with asyncio.TaskGroup() as group:
        check = group.create_task(places.take())
        await settle()
        places.note(limit=2, rendering=1, are_waiting=True, started=1)
        await settle()
        first = check.done()
        places.note(limit=2, rendering=1, are_waiting=True, started=1)

    assert (first, places.owed, places.taken) == (False, 0, 1)


async def test_a_check_that_is_given_up_frees_its_slot() -> None:
    places = CheckPlaces(limit=1)
    await places.take()
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(places.take()) for _ in range(2)]
        await settle()
        waiting[0].cancel()
        places.give_back()

    assert (waiting[1].done(), len(places), places.taken) == (True, 0, 1)


async def test_more_checks_than_the_browser_has_work_for_are_put_off() -> None:
    site = Setting(slots=1, limit=1)
    site.note(limit=1, rendering=1)
    async with site.queue.running(), asyncio.TaskGroup() as group:
        waiting = [group.create_task(site.visit(number)) for number in range(MOST_WAITING)]
        await settle()
        with pytest.raises(Postponed) as caught:
            await site.visit(MOST_WAITING)
        for task in waiting:
            task.cancel()

    assert caught.value.not_before > START
    assert caught.value.why == "other pages wait for the browser"


async def test_each_visit_is_counted_with_what_became_of_it() -> None:
    site = Setting()
    site.browser.before = None
    async with site.queue.running():
        await site.visit(1)
        site.browser.on(url_of(2), FetchFailed(url_of(2), FailureKind.CRASHED, "gone"))
        with pytest.raises(FetchFailed):
            await site.queue.visit(BrowserVisit(url_of(2)), site._admit, is_urgent=True)

    said = [each.values["result"] for each in site.telemetry.happenings if each.name == "browser.visited"]
    assert said == ["read", "crashed"]


@given(
    limit=st.integers(1, 6),
    steps=st.lists(st.sampled_from(["rendering", "check", "end rendering", "end check"]), max_size=60),
)
def test_T55_renderings_and_checks_together_never_exceed_the_limit(limit: int, steps: list[str]) -> None:
    asyncio.run(_walk(limit, steps))


async def _walk(limit: int, steps: list[str]) -> None:
    async with asyncio.TaskGroup() as group:
        checks = await _go(group, limit, steps)
        for check in checks:
            check.cancel()


async def _go(group: asyncio.TaskGroup, limit: int, steps: list[str]) -> list[asyncio.Task[None]]:
    gate, places, waiting, busy = RenderGate(limit, 1), CheckPlaces(limit), 0, 0
    checks: list[asyncio.Task[None]] = []
    for step in steps:
        if step == "rendering":
            waiting += 1
        elif step == "check":
            checks.append(group.create_task(places.take()))
            await settle(2)
        elif step == "end rendering" and busy:
            busy -= 1
        elif step == "end check" and places.taken:
            places.give_back()
        started = gate.admit(waiting, busy + places.taken + places.owed)
        waiting, busy = waiting - started, busy + started
        places.note(limit=limit, rendering=busy, are_waiting=waiting > 0, started=started)
        assert busy + places.taken <= limit
        assert busy + places.taken == limit or not (waiting or len(places))
    return checks
