"""A page that ends the whole browser twice is set aside for an hour; pages that were only there are not."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes import FakeBrowser, ManualClock, RecordingTelemetry, dom, settle
from tocsin.engine.hosts.crash_suspects import SET_ASIDE_S
from tocsin.engine.rendering.browser_queue import BrowserQueue
from tocsin.errors import BrowserLost, FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind
from tocsin.ports.browser import BrowserVisit

# The test begins on 2026-11-18 at 11:06 UTC, and the page is set aside for an hour.
UNTIL = "set aside until 2026-11-18 12:06 UTC, since all browsers ended twice on it: the browser's worker ended"


def url_of(page: int) -> str:
    return f"https://app.example/{page}"


class Setting:
    """A queue over a browser with some slots, and pages that are received unless a test says otherwise."""

    def __init__(self, slots: int = 4) -> None:
        self.browser, self.clock = FakeBrowser(slots), ManualClock()
        self.queue = BrowserQueue(lambda _group: self.browser, slots, self.clock, RecordingTelemetry())
        self.queue.places.note(limit=slots, rendering=0, are_waiting=False)

    def fails(self, page: int, kind: FailureKind) -> None:
        self.browser.on(url_of(page), FetchFailed(url_of(page), kind, "the browser ended"))

    def ends_all(self, page: int) -> None:
        # Each end of the browser has pages in hand of its own.
        ends = (BrowserLost(url_of(page), "the browser's worker ended", [page]) for _ in range(9))
        self.browser.on(url_of(page), *ends)

    def works(self, page: int) -> None:
        self.browser.on(url_of(page), dom(url_of(page), "<p>text"))

    async def visit(self, page: int) -> str:
        """Visit a page; returns the kind of its failure, "read" without one."""
        error = await self.error_of(page)
        return str(error.kind) if error is not None else "read"

    async def error_of(self, page: int) -> FetchError | None:
        try:
            await self.queue.visit(BrowserVisit(url_of(page), page_id=page), _admit, is_urgent=False)
        except FetchError as exc:
            return exc
        return None

    async def visit_all(self, pages: list[int]) -> list[str]:
        return list(await asyncio.gather(*map(self.visit, pages)))


async def _admit(_url: str) -> None:
    pass


async def test_a_page_that_ends_all_browsers_twice_is_set_aside_for_an_hour_and_says_until_when_and_why() -> None:
    site = Setting()
    site.ends_all(1)
    async with site.queue.running():
        first, second, third = [await site.error_of(1) for _ in range(3)]
        visits = len(site.browser.visits)
        await site.clock.advance(SET_ASIDE_S + 1)
        site.works(1)
        later = await site.visit(1)

    assert (type(first), first and first.kind) == (BrowserLost, "crashed")
    for error in (second, third):
        assert isinstance(error, FetchRefused)
        assert (error.kind, error.detail) == ("set-aside", UNTIL)
    assert visits == 2
    assert later == "read"


@pytest.mark.parametrize("kind", [FailureKind.TIMEOUT, FailureKind.CRASHED, FailureKind.TOO_COMPLEX])
async def test_T58_a_page_that_fails_in_its_own_slot_is_tried_as_often_as_any(kind: FailureKind) -> None:
    site = Setting()
    site.fails(1, kind)
    async with site.queue.running():
        found = [await site.visit(1) for _ in range(3)]

    assert found == [kind] * 3


async def test_a_page_that_was_received_in_between_has_no_strikes() -> None:
    site = Setting()
    found = []
    async with site.queue.running():
        for _ in range(3):
            site.ends_all(1)
            found.append(await site.visit(1))
            site.works(1)
            found.append(await site.visit(1))

    assert found == ["crashed", "read"] * 3


async def test_the_user_s_wish_gives_a_page_that_is_set_aside_one_more_try() -> None:
    site = Setting()
    site.ends_all(1)
    async with site.queue.running():
        for _ in range(2):
            await site.visit(1)
        site.queue.give_another_try(1)
        again = len(site.browser.visits)
        at_once = await site.visit(1)
        tried = len(site.browser.visits) - again
        site.queue.give_another_try(1)
        site.works(1)
        mended = [await site.visit(1) for _ in range(2)]

    # It ended all browsers once more, and needs no second strike for that.
    assert (at_once, tried) == ("set-aside", 1)
    assert mended == ["read", "read"]


class Poison(Setting):
    """Pages of which one ends the whole browser, and with it all that are in it."""

    def __init__(self, poison: int, slots: int = 4) -> None:
        super().__init__(slots)
        self._poison, self._in_hand = poison, dict[int, asyncio.Future[None]]()
        self.browser.before = self._share
        self.deaths, self.most_suspects = 0, 0

    async def _share(self, visit: BrowserVisit) -> None:
        """Wait until all that can be visited now are, and end with them where the poison is among them."""
        ends = asyncio.get_running_loop().create_future()
        self._in_hand[visit.page_id] = ends
        if len(self._in_hand) == 1:
            asyncio.get_running_loop().call_later(0, asyncio.create_task, self._end_all())
        await ends

    async def _end_all(self) -> None:
        await settle()
        in_hand, self._in_hand = self._in_hand, {}
        lost = list(in_hand)
        is_death = self._poison in lost
        self.deaths += is_death
        for page, ends in in_hand.items():
            if is_death:
                ends.set_exception(BrowserLost(url_of(page), "the browser's worker ended", lost))
            else:
                ends.set_result(None)


async def test_a_page_that_ends_the_whole_browser_is_found_and_pages_beside_it_are_not_blamed() -> None:
    site = Poison(poison=3)
    left, found = list(range(1, 9)), dict[int, str]()
    for page in left:
        site.works(page)
    async with site.queue.running():
        for _ in range(6):
            said = dict(zip(left, await site.visit_all(left), strict=True))
            found |= said
            left = [page for page, what in said.items() if what == "crashed"]

    assert found == {page: "set-aside" if page == 3 else "read" for page in range(1, 9)}
    assert left == []
    assert site.deaths <= 4


async def test_where_the_browser_was_ended_from_outside_no_page_is_a_suspect() -> None:
    site = Setting()
    found = []
    async with site.queue.running():
        for _ in range(4):
            site.browser.on(url_of(1), BrowserLost(url_of(1), "the browser's worker ended", []))
            found.append(await site.visit(1))
        site.works(1)
        found.append(await site.visit(1))

    assert found == [*["crashed"] * 4, "read"]


async def test_pages_without_an_id_are_neither_set_aside_nor_blamed_for_others() -> None:
    site = Setting()
    site.browser.on(url_of(0), FetchFailed(url_of(0), FailureKind.CRASHED, "the browser ended"))
    lost = [0, 7]
    site.browser.on(url_of(7), BrowserLost(url_of(7), "the browser's worker ended", lost))
    async with site.queue.running():
        trials = [await site.visit(0) for _ in range(3)]
        beside = [await site.visit(7) for _ in range(2)]

    assert trials == ["crashed"] * 3
    # One end of the browser beside a trial: a suspect, and no strike.
    assert beside == ["crashed", "crashed"]
