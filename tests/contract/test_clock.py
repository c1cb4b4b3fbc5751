"""What every clock and every source of chance promises."""

from __future__ import annotations

import asyncio

import pytest

from tests.fakes import EagerClock, FixedChance, ManualClock, SeededChance
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.ports import Chance, Clock

AT = 1_795_000_000_123_456


@pytest.fixture(params=[SystemClock, EagerClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    made: Clock = request.param()
    return made


@pytest.fixture(params=[SystemChance, SeededChance, FixedChance])
def chance(request: pytest.FixtureRequest) -> Chance:
    made: Chance = request.param()
    return made


async def test_monotonic_time_grows_by_what_was_slept(clock: Clock) -> None:
    before = clock.monotonic()

    await clock.sleep(0.01)

    assert clock.monotonic() - before >= 0.009


async def test_the_wall_clock_counts_microseconds_of_this_century(clock: Clock) -> None:
    assert 1_700_000_000_000_000 < clock.now() < 4_200_000_000_000_000


async def test_no_time_at_all_still_lets_others_run(clock: Clock) -> None:
    ran = asyncio.Event()
    asyncio.get_running_loop().call_soon(ran.set)

    await clock.sleep(0)
    await clock.sleep(-1)

    assert ran.is_set()


def test_a_fraction_lies_below_one(chance: Chance) -> None:
    assert all(0 <= chance.fraction() < 1 for _ in range(100))


def test_identifiers_are_unique_and_sort_by_their_time_and_then_by_their_making(chance: Chance) -> None:
    made = [chance.ulid(AT + ms * 1000) for ms in range(50) for _ in range(20)]

    assert len(set(made)) == len(made)
    assert sorted(made) == made
    assert all(len(identifier) == 26 for identifier in made)


async def test_a_manual_clock_wakes_sleepers_each_at_its_own_time() -> None:
    clock, woke = ManualClock(), list[tuple[str, float]]()

    async def sleep(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woke.append((name, clock.monotonic() - 1000))

    async with asyncio.TaskGroup() as group:
        group.create_task(sleep("late", 5.0))
        group.create_task(sleep("soon", 2.0))
        await clock.advance(10)

    assert woke == [("soon", 2.0), ("late", 5.0)]
