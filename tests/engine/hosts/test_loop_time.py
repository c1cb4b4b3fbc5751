"""The time of the loop is shared: work goes in turns, what is urgent first; and it is known how long work waited."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes import ManualClock, settle
from tocsin.engine.hosts.loop_time import MEASURED_S, SHORT_S, TURN_S, LoopTime


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
