"""Pages are asked for once for what their checks found, and once a minute, however many want them."""

from __future__ import annotations

import asyncio
import gc
import weakref
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from tests.fakes import ManualClock, settle
from tocsin.errors import FetchFailed, FetchRefused, NotAllowed, NotWatched
from tocsin.model import PageItems, Rendered
from tocsin.server.receipts import (
    DOUBTED_S,
    MOST_TRIED,
    PAUSE_S,
    Finding,
    NotReceived,
    Receipts,
    Standing,
    Step,
    Tried,
    next_step,
)

if TYPE_CHECKING:
    from tocsin.errors import FetchError, TocsinError

FIRST, SECOND = Finding((b"first",)), Finding((b"second",))
PAGE = Rendered(1, 2, 200, "https://a.example/", "text/html", None, b"x" * 100, (None, None), "https://a.example/")
TIMEOUT = FetchFailed("https://a.example/", "timeout", "nothing came")


class Origin:
    """Gives pages, and counts who asks."""

    def __init__(self, *, most_bytes: int = 10_000) -> None:
        self.clock = ManualClock()
        self.asked: list[int] = []
        self.error: TocsinError | None = None
        self.open = asyncio.Event()
        self.open.set()
        self.receipts = Receipts(self.receive, self.clock, most_bytes=most_bytes)
        self.made: list[FetchError | None] = []

    async def receive(self, page_id: int) -> Rendered:
        self.asked.append(page_id)
        await self.open.wait()
        if self.error is not None:
            raise self.error
        return replace(PAGE, received_at=len(self.asked))

    async def get(self, page_id: int = 1, finding: Finding = FIRST) -> Rendered:
        async def made(error: FetchError | None) -> None:
            self.made.append(error)

        return await self.receipts.get(page_id, finding, on_made=made)


@pytest.fixture
def origin() -> Origin:
    return Origin()


@pytest.mark.parametrize(
    ("finding", "after_s", "is_here", "step"),
    [
        (FIRST, 0, True, Step.USE),
        (FIRST, 10 * PAUSE_S, True, Step.USE),
        (SECOND, PAUSE_S - 1, True, Step.USE),
        (SECOND, PAUSE_S, True, Step.ASK),
        (FIRST, PAUSE_S - 1, False, Step.WAIT),
        (FIRST, PAUSE_S, False, Step.ASK),
    ],
)
def test_what_is_done_for_somebody_follows_from_the_last_request(
    finding: Finding, after_s: float, *, is_here: bool, step: Step
) -> None:
    tried = Tried(FIRST, until_s=PAUSE_S)

    assert next_step(tried, finding, after_s, is_here=is_here) is step


@pytest.mark.parametrize(
    ("after_s", "is_here", "step"),
    [
        (DOUBTED_S - 1, True, Step.USE),
        (DOUBTED_S, True, Step.ASK),
        (PAUSE_S - 1, False, Step.WAIT),
        (PAUSE_S, False, Step.ASK),
    ],
)
@pytest.mark.parametrize("is_known", [True, False])
def test_what_is_no_such_page_serves_for_a_while_if_it_is_still_there(
    after_s: float, step: Step, *, is_here: bool, is_known: bool
) -> None:
    finding = replace(FIRST, standing=Standing.SUSPECT) if is_known else FIRST
    tried = Tried(finding, until_s=PAUSE_S, doubted=not is_known)

    assert next_step(tried, finding, after_s, is_here=is_here) is step


SUSPECT, UNSEEN = replace(FIRST, standing=Standing.SUSPECT), replace(FIRST, standing=Standing.UNSEEN)


@pytest.mark.parametrize(
    ("tried", "finding", "is_over"),
    [
        (Tried(FIRST, 0, at=5), replace(FIRST, at=6), False),
        (Tried(FIRST, 0, at=5, doubted=True), replace(FIRST, at=5), False),
        (Tried(FIRST, 0, at=5, doubted=True), replace(FIRST, at=6), True),
        (Tried(FIRST, 0, at=5, doubted=True), replace(SUSPECT, at=6), False),
        # A check that began before that request, and ended behind it.
        (Tried(SUSPECT, 0, at=5), replace(FIRST, at=4), True),
        (Tried(UNSEEN, 0, at=5), replace(FIRST, at=6), True),
        (Tried(UNSEEN, 0, at=5), replace(UNSEEN, at=6), False),
        (Tried(FIRST, 0, at=5, error=TIMEOUT), replace(FIRST, at=4), False),
        (Tried(FIRST, 0, at=5, error=TIMEOUT), replace(FIRST, at=6), True),
        (Tried(FIRST, 0, at=5, error=TIMEOUT), replace(SUSPECT, at=6), True),
        (Tried(FIRST, 0, at=5, error=TIMEOUT), replace(UNSEEN, at=6), False),
    ],
)
def test_what_came_of_a_request_is_over_as_soon_as_checks_show_it(
    tried: Tried, finding: Finding, *, is_over: bool
) -> None:
    assert tried.is_over(finding) is is_over
    assert (next_step(replace(tried, until_s=PAUSE_S), finding, 0, is_here=True) is Step.ASK) is is_over


async def test_who_knows_that_the_page_is_back_does_not_share_what_was_asked_for_before(origin: Origin) -> None:
    origin.open.clear()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(origin.get(finding=SUSPECT))
        await settle()
        second = group.create_task(origin.get())
        await settle()
        origin.open.set()

    assert (first.result().received_at, second.result().received_at) == (1, 2)


async def test_a_doubt_is_about_what_it_was_found_in_alone(origin: Origin) -> None:
    page = await origin.get()
    origin.receipts.doubt(1, replace(page, status=203))
    await origin.clock.advance(86_400)

    assert origin.receipts.at_hand(1, FIRST) is page


def test_who_wants_a_page_first_has_it_asked_for() -> None:
    assert next_step(None, FIRST, 0.0, is_here=False) is Step.ASK


async def test_a_page_is_asked_for_once_for_what_its_checks_found(origin: Origin) -> None:
    first = await origin.get()
    await origin.clock.advance(86_400)

    assert await origin.get() is first
    assert origin.asked == [1]


async def test_a_page_whose_checks_found_something_else_is_asked_for_anew(origin: Origin) -> None:
    await origin.get()
    await origin.clock.advance(PAUSE_S)

    again = await origin.get(finding=SECOND)

    assert (again.received_at, origin.asked) == (2, [1, 1])


async def test_however_often_checks_find_something_else_it_is_asked_for_once_a_minute(origin: Origin) -> None:
    for number in range(600):
        await origin.get(finding=Finding((number,)))
        await origin.clock.advance(1)

    assert len(origin.asked) == 10


async def test_those_who_want_it_meanwhile_share_one_request(origin: Origin) -> None:
    origin.open.clear()
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(origin.get()) for _ in range(5)]
        await settle()
        origin.open.set()

    assert origin.asked == [1]
    assert origin.made == [None]
    assert {id(each.result()) for each in waiting} == {id(waiting[0].result())}


async def test_those_who_share_a_request_share_why_it_failed(origin: Origin) -> None:
    origin.open.clear()
    origin.error = TIMEOUT
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(_refusal(origin)) for _ in range(3)]
        await settle()
        origin.open.set()

    assert origin.asked == [1]
    assert {each.result().kind for each in waiting} == {"timeout"}


async def test_who_waits_for_a_request_that_was_stopped_is_told_when_to_ask_again(origin: Origin) -> None:
    origin.open.clear()
    async with asyncio.TaskGroup() as group:
        stopped = group.create_task(origin.get())
        await settle()
        waiting = group.create_task(_refusal(origin))
        await settle()
        stopped.cancel()

    assert waiting.result().headers["Retry-After"] == "60"


async def test_a_request_that_failed_is_made_again_after_a_minute(origin: Origin) -> None:
    origin.error = TIMEOUT
    refused = await _refusal(origin)
    at_once = await _refusal(origin)
    origin.error = None
    await origin.clock.advance(PAUSE_S)

    assert (await origin.get()).received_at == 2
    assert (refused.status, refused.headers["Retry-After"], at_once.headers["Retry-After"]) == (502, "60", "60")
    assert origin.made == [TIMEOUT, None]


async def test_a_server_that_asks_for_a_longer_pause_has_it(origin: Origin) -> None:
    origin.error = FetchFailed("https://a.example/", "status", "503", retry_after=timedelta(minutes=5))
    refused = await _refusal(origin)
    await origin.clock.advance(299)
    await _refusal(origin)

    assert (refused.headers["Retry-After"], origin.asked) == ("300", [1])


async def test_a_pause_without_end_is_a_day(origin: Origin) -> None:
    origin.error = FetchFailed("https://a.example/", "status", "503", retry_after=timedelta(days=3650))

    assert (await _refusal(origin)).headers["Retry-After"] == "86400"


async def test_what_was_received_before_a_request_that_failed_is_not_given_for_new(origin: Origin) -> None:
    await origin.get()
    await origin.clock.advance(PAUSE_S)
    origin.error = TIMEOUT
    await _refusal(origin, SECOND)

    assert (await _refusal(origin, SECOND)).kind == "timeout"
    assert origin.receipts.at_hand(1, SECOND) is None


async def test_a_page_that_may_not_be_asked_for_is_had_as_soon_as_it_may(origin: Origin) -> None:
    origin.error = NotAllowed("https://a.example/", "paused", "the page is paused; resume it first")
    refused = await _refusal(origin)
    origin.error = None

    assert (await origin.get()).status == 200
    assert (refused.status, refused.kind, refused.mend) == (409, "paused", "resume it first")
    assert "Retry-After" not in refused.headers
    assert origin.made == [None]


async def test_a_page_that_leads_to_where_nobody_may_ask_was_asked_for_itself(origin: Origin) -> None:
    origin.error = NotAllowed("https://b.example/", "disallowed", "forbidden; mend", is_asked=True)
    refused = await _refusal(origin)
    again = await _refusal(origin)

    assert [each.headers["Retry-After"] for each in (refused, again)] == ["60", "60"]
    assert (refused.kind, origin.asked) == ("disallowed", [1])


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (FetchFailed("https://a.example/", "status", "answered 503", status=503), "status-503"),
        (FetchRefused("https://a.example/", "status", "answered 410", status=410), "status-410"),
        (FetchRefused("https://a.example/", "too-large", "it is", status=200), "too-large"),
    ],
)
async def test_why_a_page_was_not_received_is_said_in_a_word(origin: Origin, error: FetchError, word: str) -> None:
    origin.error = error

    assert (await _refusal(origin)).kind == word


async def test_a_page_that_is_watched_no_more_is_not_remembered(origin: Origin) -> None:
    origin.error = NotWatched("page 1 is not on the list")
    for _ in range(2):
        with pytest.raises(NotWatched):
            await origin.get()

    assert origin.asked == [1, 1]


async def test_a_page_that_had_to_make_room_is_asked_for_after_a_minute(origin: Origin) -> None:
    origin = Origin(most_bytes=500)
    await origin.get(1)
    await origin.get(2)
    refused = await _refusal(origin)
    await origin.clock.advance(PAUSE_S)

    assert (await origin.get(1)).received_at == 3
    assert (refused.status, refused.kind) == (503, "asked-already")


async def test_a_page_at_hand_is_given_without_waiting_for_anybody(origin: Origin) -> None:
    assert origin.receipts.at_hand(1, FIRST) is None

    received = await origin.get()

    assert origin.receipts.at_hand(1, FIRST) is received
    await origin.clock.advance(PAUSE_S)
    assert origin.receipts.at_hand(1, SECOND) is None


async def test_of_more_pages_than_are_remembered_none_is_asked_for_twice_in_a_minute() -> None:
    origin = Origin(most_bytes=0)
    for page_id in range(MOST_TRIED):
        await origin.get(page_id)

    refused = await _refusal(origin, page_id=MOST_TRIED)
    await origin.clock.advance(PAUSE_S)
    await origin.get(MOST_TRIED)

    assert (refused.status, len(origin.asked)) == (503, MOST_TRIED + 1)


async def _refusal(origin: Origin, finding: Finding = FIRST, page_id: int = 1) -> NotReceived:
    with pytest.raises(NotReceived) as caught:
        await origin.get(page_id, finding)
    return caught.value


async def test_an_error_that_is_remembered_keeps_nothing_of_what_was_received(origin: Origin) -> None:
    found: list[weakref.ref[bytearray]] = []

    class Body(bytearray):
        """Bytes that can be seen to go."""

    def read(body: Body) -> None:
        found.append(weakref.ref(body))
        raise ValueError

    async def receive(_: int) -> Rendered:
        body = Body(b"deep")
        try:
            read(body)
        except ValueError as exc:
            raise TIMEOUT from exc
        return PAGE

    receipts = Receipts(receive, origin.clock)
    with pytest.raises(NotReceived):
        await receipts.get(1, FIRST)
    gc.collect()

    assert [each() for each in found] == [None]


async def test_what_comes_beside_the_bytes_takes_room_or_is_not_kept() -> None:
    items = PageItems(1, b"", b"x" * 10_000, 1)
    received = replace(PAGE, headers=(("x-long", "y" * 1_000),), items=items)

    async def receive(_: int) -> Rendered:
        return received

    receipts = Receipts(receive, ManualClock(), most_bytes=2_000)
    await receipts.get(1, FIRST)
    await receipts.get(2, FIRST)

    assert receipts.at_hand(1, FIRST) is None
    assert receipts.at_hand(2, FIRST) == replace(received, items=None)
