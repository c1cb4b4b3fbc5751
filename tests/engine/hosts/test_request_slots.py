"""How many requests are under way together."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes import ManualClock, settle
from tocsin.engine.hosts.process_limits import (
    FEWEST_PAGES,
    LATE_S,
    MEASURED_S,
    SHORT_S,
    TURN_S,
    LoopTime,
    PageAllowance,
    RequestSlots,
)


async def test_so_many_places_are_taken_at_once_and_no_more() -> None:
    in_flight = RequestSlots(2)

    taken = [in_flight.take_at_once() for _ in range(3)]

    assert taken == [True, True, False]


async def test_who_has_waited_longest_is_given_the_place_that_is_given_back() -> None:
    in_flight, order = RequestSlots(1), list[str]()

    async def wait(name: str) -> None:
        await in_flight.take()
        order.append(name)
        in_flight.give_back()

    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        group.create_task(wait("first"))
        group.create_task(wait("second"))
        await asyncio.sleep(0)
        in_flight.give_back()

    assert order == ["first", "second"]
    assert in_flight.free == 1


async def test_a_place_that_was_handed_to_somebody_cancelled_is_not_lost() -> None:
    in_flight = RequestSlots(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        in_flight.give_back()
        waiting.cancel()

    assert in_flight.free == 1


async def test_who_is_cancelled_while_waiting_is_passed_over() -> None:
    in_flight = RequestSlots(1)
    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(in_flight.take())
        await asyncio.sleep(0)

        waiting.cancel()
        in_flight.give_back()

    assert in_flight.free == 1


async def test_what_is_urgent_is_given_the_next_place_before_all_who_waited_longer() -> None:
    in_flight, order = RequestSlots(1), list[str]()

    async def wait(name: str, *, urgent: bool) -> None:
        await in_flight.take(urgent=urgent)
        order.append(name)
        in_flight.give_back()

    assert in_flight.take_at_once()
    async with asyncio.TaskGroup() as group:
        group.create_task(wait("check", urgent=False))
        group.create_task(wait("another check", urgent=False))
        group.create_task(wait("rendering", urgent=True))
        await asyncio.sleep(0)
        in_flight.give_back()

    assert order == ["rendering", "check", "another check"]
    assert in_flight.taken == 0


def test_a_process_that_is_late_has_fewer_pages_in_hand_but_never_none() -> None:
    allowance, pages = PageAllowance(1000), [1000]

    for _ in range(12):
        allowance.adapt(LATE_S * 3, in_hand=allowance.pages)
        pages.append(allowance.pages)

    assert pages == sorted(pages, reverse=True)
    assert pages[-1] == FEWEST_PAGES


def test_a_process_that_is_late_is_cut_by_what_it_has_and_not_by_what_it_may_have() -> None:
    allowance = PageAllowance(1000)

    allowance.adapt(LATE_S * 1.25, in_hand=200)

    assert allowance.pages == 160


def test_a_process_that_is_late_no_longer_has_all_its_pages_again() -> None:
    allowance = PageAllowance(1000)
    allowance.adapt(60.0, in_hand=10)

    for _ in range(20):
        allowance.adapt(0.0, in_hand=0)

    assert allowance.pages == 1000


def test_little_lag_changes_nothing() -> None:
    allowance = PageAllowance(1000)
    allowance.adapt(60.0, in_hand=400)

    allowance.adapt(LATE_S * 0.75, in_hand=200)

    assert allowance.pages == 200


def test_where_few_requests_are_let_through_few_pages_are_the_fewest() -> None:
    allowance = PageAllowance(4)

    allowance.adapt(60.0, in_hand=4)

    assert allowance.pages == 4


class Work:
    """Pieces of work, each of which takes as long as the test says, on a watch that stands still otherwise."""

    def __init__(self, took_s: float = TURN_S) -> None:
        self.now_s, self.took_s = 0.0, took_s
        self.loop_time = LoopTime(lambda: self.now_s)
        self.done: list[tuple[int, str]] = []
        self.turn = 0

    async def do(self, name: str, *, urgent: bool = False) -> None:
        """Do one piece."""
        await self.loop_time.begin(urgent=urgent)
        self.now_s += self.took_s
        self.loop_time.end()
        self.done.append((self.turn, name))

    async def count_turns(self) -> None:
        """Count the turns of the loop, until cancelled."""
        while True:
            await asyncio.sleep(0)
            self.turn += 1

    async def do_all(self, **named: bool) -> None:
        """Begin all of these together: names, and whether they are urgent."""
        async with asyncio.TaskGroup() as group:
            counting = group.create_task(self.count_turns())
            work = [group.create_task(self.do(name, urgent=urgent)) for name, urgent in named.items()]
            await asyncio.wait(work)
            counting.cancel()


async def test_the_loop_has_a_turn_between_two_pieces_of_work() -> None:
    work = Work()

    await work.do_all(a=False, b=False, c=False)

    turns = [turn for turn, _ in work.done]
    assert len(set(turns)) == 3


@pytest.mark.parametrize("took_s", [TURN_S / 5, SHORT_S / 2])
async def test_short_pieces_share_a_turn(took_s: float) -> None:
    work = Work(took_s)

    await work.do_all(a=False, b=False, c=False)

    assert len({turn for turn, _ in work.done}) == 1


async def test_what_hardly_takes_time_waits_for_no_turn_however_many_there_are() -> None:
    work = Work(SHORT_S / 2)

    for _ in range(1000):
        assert work.loop_time.begin_at_once()
        work.now_s += SHORT_S / 2
        work.loop_time.end()


async def test_what_is_urgent_goes_before_all_that_waits() -> None:
    work = Work()

    await work.do_all(a=False, b=False, c=False, alert=True)

    assert [name for _, name in work.done] == ["a", "alert", "b", "c"]


async def test_work_that_is_given_up_while_it_waits_keeps_nothing_from_the_others() -> None:
    work = Work()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work.do(name)) for name in "abc"]
        await asyncio.sleep(0)
        tasks[1].cancel()

    assert [name for _, name in work.done] == ["a", "c"]


async def test_the_lag_is_what_a_piece_of_work_waited_at_most() -> None:
    work, clock = Work(took_s=2.0), ManualClock()
    async with asyncio.TaskGroup() as group:
        measuring = group.create_task(work.loop_time.measure(clock))
        await settle()
        await work.do_all(a=False, b=False, c=False, d=False)
        await clock.advance(MEASURED_S)

    # The first one was done before the others began to wait.
    assert measuring.result() == work.loop_time.lag_s == 4.0


async def test_the_lag_is_nothing_once_nothing_waited() -> None:
    work, clock = Work(took_s=2.0), ManualClock()
    await work.do_all(a=False, b=False)
    for _ in range(2):
        async with asyncio.TaskGroup() as group:
            group.create_task(work.loop_time.measure(clock))
            await clock.advance(MEASURED_S)

    assert work.loop_time.lag_s == 0.0


async def test_the_lag_is_how_late_a_timer_was() -> None:
    class LateClock(ManualClock):
        async def sleep(self, seconds: float) -> None:
            self._go_to(self._monotonic + seconds + 3.0)

    assert await LoopTime().measure(LateClock()) == 3.0
