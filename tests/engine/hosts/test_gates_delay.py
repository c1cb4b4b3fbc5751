"""How long is waited between two requests to a host: by our settings, and as its robots.txt asks."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from tests.fakes import ManualClock
from tocsin.engine.hosts.gates import Gates
from tocsin.settings import HostRule, HostSettings

A_ORIGIN = "https://a.example"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


def gates_of(
    clock: ManualClock, *, concurrency: int = 1, delay_s: float = 0.0, rules: dict[str, HostRule] | None = None
) -> Gates:
    settings = HostSettings(concurrency=concurrency, delay=timedelta(seconds=delay_s), rules=rules or {})
    return Gates(settings, clock)


async def starts_of(gates: Gates, clock: ManualClock, *, seconds: float, visitors: int = 3) -> list[float]:
    """When visitors of one host get in, in seconds from now, while this much time passes."""
    now_s, starts = clock.monotonic(), []

    async def visit() -> None:
        gate = await gates.enter("a.example")
        starts.append(clock.monotonic() - now_s)
        gates.leave(gate)

    async with asyncio.TaskGroup() as group:
        for _ in range(visitors):
            group.create_task(visit())
        await clock.advance(seconds)
    return starts


@pytest.mark.parametrize(
    ("asked_s", "starts"),
    [(5.0, [0, 5, 10]), (0.1, [0, 1, 2]), (None, [0, 1, 2]), (1e9, [0, 30, 60])],
    ids=["longer than ours", "shorter than ours", "nothing", "without end"],
)
async def test_a_crawl_delay_lengthens_the_delay_within_reason(
    clock: ManualClock, asked_s: float | None, starts: list[float]
) -> None:
    gates = gates_of(clock, delay_s=1.0)

    gates.slow_down("a.example", A_ORIGIN, asked_s)

    assert await starts_of(gates, clock, seconds=100) == starts


async def test_the_user_s_delay_for_a_host_stands_above_its_crawl_delay(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=9.0, rules={"a.example": HostRule(delay=timedelta(seconds=2))})

    gates.slow_down("a.example", A_ORIGIN, 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 2, 4]


async def test_a_rule_without_a_delay_leaves_the_crawl_delay_in_force(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0, rules={"a.example": HostRule(concurrency=1)})

    gates.slow_down("a.example", A_ORIGIN, 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 20, 40]


async def test_a_crawl_delay_that_is_taken_back_ends(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)
    gates.slow_down("a.example", A_ORIGIN, 20.0)

    gates.slow_down("a.example", A_ORIGIN, None)

    assert await starts_of(gates, clock, seconds=100) == [0, 1, 2]


async def test_of_what_the_origins_of_a_host_ask_for_the_longest_is_in_force(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    for other, asked_s in ((A_ORIGIN, 10.0), ("http://a.example", None), (f"{A_ORIGIN}:8443", 3.0)):
        gates.slow_down("a.example", other, asked_s)
    assert await starts_of(gates, clock, seconds=100) == [0, 10, 20]

    gates.slow_down("a.example", A_ORIGIN, None)
    assert await starts_of(gates, clock, seconds=100) == [0, 3, 6]


async def test_a_crawl_delay_slows_down_nobody_else(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)

    gates.slow_down("b.example", "https://b.example", 20.0)

    assert await starts_of(gates, clock, seconds=100) == [0, 1, 2]


async def test_the_wait_is_told_by_the_crawl_delay(clock: ManualClock) -> None:
    gates = gates_of(clock, delay_s=1.0)
    gates.slow_down("a.example", A_ORIGIN, 10.0)
    gates.leave(await gates.enter("a.example"))

    assert gates.wait_s("a.example") == 10.0


@pytest.mark.parametrize(
    ("delay_s", "crawl_delay_s", "pages"),
    [(0.0, 0.0, 64), (1.0, 0.0, 15), (1.0, 5.0, 3), (1.0, 10.0, 2), (1.0, 20.0, 1), (1.0, None, 1), (0.1, 0.0, 64)],
)
def test_as_many_come_at_once_as_the_delay_in_force_lets_in(
    clock: ManualClock, delay_s: float, crawl_delay_s: float | None, pages: int
) -> None:
    gates = gates_of(clock, concurrency=2, delay_s=delay_s)

    if crawl_delay_s is not None:
        gates.slow_down("a.example", A_ORIGIN, crawl_delay_s)

    assert gates.at_once("a.example", 15.0, 64) == pages


@pytest.mark.parametrize(("delay_s", "pages"), [(0.0, 64), (1.0, 15), (20.0, 1)])
def test_a_host_that_was_not_asked_yet_says_nothing_of_how_many_others_let_in(
    clock: ManualClock, delay_s: float, pages: int
) -> None:
    gates = gates_of(clock, concurrency=2, delay_s=delay_s)

    assert gates.most_at_once(15.0, 64) == pages


@pytest.mark.parametrize("rule", [HostRule(delay=timedelta(seconds=1)), HostRule(robots="ignore")])
def test_where_robots_txt_has_no_say_in_the_delay_nobody_waits_for_it(clock: ManualClock, rule: HostRule) -> None:
    gates = gates_of(clock, delay_s=1.0, rules={"a.example": rule})

    assert gates.at_once("a.example", 15.0, 64) == 15
