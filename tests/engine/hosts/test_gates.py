"""Turns at hosts' gates: fair, polite, and forgotten when nobody needs them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import ManualClock, settle
from tocsin.engine.hosts.gates import Gates
from tocsin.settings import HostRule, HostSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@asynccontextmanager
async def turn(gates: Gates, host: str) -> AsyncIterator[None]:
    """One turn at a host's gate, given up at the end."""
    gate = await gates.enter(host)
    try:
        yield
    finally:
        gates.leave(gate)


class Visitor:
    """Asks for turns and writes down when each one began."""

    def __init__(self, gates: Gates, clock: ManualClock, group: asyncio.TaskGroup) -> None:
        self._gates, self._clock, self._group = gates, clock, group
        self.began: list[tuple[str, float]] = []
        self.leave = asyncio.Event()

    def ask(self, name: str, host: str = "a.example") -> asyncio.Task[None]:
        return self._group.create_task(self._visit(name, host), name=name)

    async def _visit(self, name: str, host: str) -> None:
        async with turn(self._gates, host):
            self.began.append((name, self._clock.monotonic() - 1000))
            await self.leave.wait()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def gates_of(
    clock: ManualClock, *, concurrency: int = 1, delay_s: float = 0.0, rules: dict[str, HostRule] | None = None
) -> Gates:
    settings = HostSettings(concurrency=concurrency, delay=timedelta(seconds=delay_s), rules=rules or {})
    return Gates(settings, clock)


async def test_a_host_is_asked_by_no_more_than_its_concurrency(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, concurrency=2), clock, group)

        for name in "abc":
            visitor.ask(name)
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_turns_are_given_in_the_order_of_asking(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        visitor.leave.set()

        for name in "abcdefg":
            visitor.ask(name)
        await settle(100)

    assert [name for name, _ in visitor.began] == list("abcdefg")


async def test_the_delay_runs_from_one_start_to_the_next(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, concurrency=3, delay_s=2.0), clock, group)

        for name in "abc":
            visitor.ask(name)
        await clock.advance(10)
        visitor.leave.set()

    assert visitor.began == [("a", 0.0), ("b", 2.0), ("c", 4.0)]


async def test_one_host_does_not_make_another_wait(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock, delay_s=60.0), clock, group)

        visitor.ask("a")
        visitor.ask("b", host="b.example")
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_a_hold_keeps_everybody_out_until_its_end(clock: ManualClock) -> None:
    gates = gates_of(clock)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        gates.hold("a.example", clock.monotonic() + 30)

        visitor.ask("a")
        await clock.advance(29)
        early = list(visitor.began)
        await clock.advance(2)

    assert early == []
    assert visitor.began == [("a", 30.0)]


async def test_a_hold_reaches_also_the_one_who_waits_for_the_delay_already(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=5.0)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        visitor.ask("a")
        visitor.ask("b")
        await settle()

        gates.hold("a.example", clock.monotonic() + 60)
        await clock.advance(61)

    assert visitor.began == [("a", 0.0), ("b", 60.0)]


def test_a_hold_is_clamped_by_the_longest_that_is_allowed(clock: ManualClock) -> None:
    gates = gates_of(clock, rules={"a.example": HostRule(retry_after_max=timedelta(minutes=5))})

    gates.hold("a.example", clock.monotonic() + 10**9)

    assert gates.held_s("a.example") == 300


def test_a_shorter_hold_does_not_end_a_longer_one(clock: ManualClock) -> None:
    gates = gates_of(clock)
    gates.hold("a.example", clock.monotonic() + 100)

    gates.hold("a.example", clock.monotonic() + 1)

    assert gates.held_s("a.example") == 100


async def test_who_is_cancelled_in_the_line_holds_nobody_up(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        visitor.ask("a")
        first, second = visitor.ask("b"), visitor.ask("c")
        visitor.ask("d")
        await settle()

        first.cancel()
        second.cancel()
        await settle()
        visitor.leave.set()

    assert [name for name, _ in visitor.began] == ["a", "d"]


async def test_who_is_cancelled_inside_gives_the_place_up(clock: ManualClock) -> None:
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates_of(clock), clock, group)
        inside = visitor.ask("a")
        visitor.ask("b")
        await settle()

        inside.cancel()
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b"]
        visitor.leave.set()


async def test_the_wait_is_told_with_those_who_stand_in_line(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=4.0)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        for name in "abc":
            visitor.ask(name)
        await settle()

        wait_s = gates.wait_s("a.example")
        await clock.advance(20)

    assert wait_s == 4.0 + 2 * 4.0
    assert gates.wait_s("never.asked.example") == 0.0


async def test_hosts_that_nobody_waits_for_are_forgotten(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    for number in range(5000):
        async with turn(gates, f"h{number}.example"):
            pass
        await clock.advance(0.01)

    assert len(gates) <= 1100


async def test_a_host_that_asked_to_be_left_alone_is_not_forgotten(clock: ManualClock) -> None:
    gates = gates_of(clock)
    gates.hold("a.example", clock.monotonic() + 1000)

    for number in range(5000):
        async with turn(gates, f"h{number}.example"):
            pass

    assert gates.held_s("a.example") == 1000


async def test_other_settings_hold_at_once_for_hosts_in_use(clock: ManualClock) -> None:
    gates = gates_of(clock)
    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        for name in "abc":
            visitor.ask(name)
        await settle()

        gates.configure(HostSettings(concurrency=3, delay=timedelta(0)))
        await settle()

        assert [name for name, _ in visitor.began] == ["a", "b", "c"]
        visitor.leave.set()


async def test_turns_without_delay_do_not_touch_the_clock_s_sleep(clock: ManualClock) -> None:
    gates = gates_of(clock, concurrency=4)

    async with asyncio.TaskGroup() as group:
        visitor = Visitor(gates, clock, group)
        visitor.leave.set()
        for number in range(200):
            visitor.ask(str(number), host=f"h{number % 50}.example")

    assert len(visitor.began) == 200
    assert clock.sleepers == 0


STEP = st.tuples(st.sampled_from(["ask", "ask", "ask", "cancel", "leave", "pass", "hold"]), st.integers(0, 5))


class Crowd:
    """Visitors of one host who come, give up and leave as a list of steps says; notes what they saw of each other."""

    def __init__(self, concurrency: int, delay_s: float) -> None:
        self.clock = ManualClock()
        self.gates = gates_of(self.clock, concurrency=concurrency, delay_s=delay_s)
        self.inside = 0
        self.most_inside = 0
        self.starts: list[float] = []
        self.leaving: list[asyncio.Event] = []
        self.tasks: list[asyncio.Task[None]] = []

    async def visit(self) -> None:
        async with turn(self.gates, "a.example"):
            self.inside += 1
            self.most_inside = max(self.most_inside, self.inside)
            self.starts.append(self.clock.monotonic())
            leave = asyncio.Event()
            self.leaving.append(leave)
            try:
                await leave.wait()
            finally:
                self.inside -= 1

    async def act(self, steps: list[tuple[str, int]]) -> None:
        async with asyncio.TaskGroup() as group:
            for kind, number in steps:
                if kind == "ask":
                    self.tasks.append(group.create_task(self.visit()))
                elif kind == "cancel" and self.tasks:
                    self.tasks[number % len(self.tasks)].cancel()
                elif kind == "leave" and self.leaving:
                    self.leaving[number % len(self.leaving)].set()
                elif kind == "pass":
                    await self.clock.advance(number)
                elif kind == "hold":
                    self.gates.hold("a.example", self.clock.monotonic() + number)
                if number % 2:
                    await settle(3)
            while not all(task.done() for task in self.tasks):
                for leave in self.leaving:
                    leave.set()
                await self.clock.advance(10)


@given(st.lists(STEP, max_size=40), st.integers(1, 3), st.sampled_from([0.0, 1.0, 3.0]))
def test_whoever_comes_and_goes_the_gate_stays_polite_and_serves_everybody(
    steps: list[tuple[str, int]], concurrency: int, delay_s: float
) -> None:
    crowd = Crowd(concurrency, delay_s)

    asyncio.run(crowd.act(steps))

    assert crowd.most_inside <= concurrency
    assert all(later - earlier >= delay_s for earlier, later in pairwise(crowd.starts))
    assert len(crowd.starts) + sum(task.cancelled() for task in crowd.tasks) >= len(crowd.tasks)
    assert crowd.inside == 0
