"""Gates of a process that takes another one's place: hosts may have been asked right before."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import ManualClock
from tocsin.engine.hosts.gates import LONGEST_CRAWL_DELAY_S, Gates
from tocsin.settings import HostSettings

HOST, ORIGIN = "a.example", "https://a.example"


def gates_of(clock: ManualClock, delay_s: float) -> Gates:
    return Gates(HostSettings(delay=timedelta(seconds=delay_s)), clock, asked_s=clock.monotonic())


async def test_a_host_is_not_asked_within_its_delay_of_the_end_of_who_was_there_before() -> None:
    clock = ManualClock()
    gates = gates_of(clock, 10)
    await clock.advance(9)

    assert gates.enter_at_once(HOST) is None
    await clock.advance(1)
    assert gates.enter_at_once(HOST) is not None


async def test_a_delay_that_is_learned_only_now_counts_from_there_too() -> None:
    clock = ManualClock()
    gates = gates_of(clock, 0)
    await clock.advance(5)

    gates.slow_down(HOST, ORIGIN, 20.0)

    assert gates.wait_s(HOST) == pytest.approx(15.0)


@given(delay_s=st.floats(0, 60), crawl_delay_s=st.floats(0, 60), later_s=st.floats(0, 120))
async def test_nobody_waits_longer_than_the_delay_for_who_was_there_before(
    delay_s: float, crawl_delay_s: float, later_s: float
) -> None:
    clock = ManualClock()
    gates = gates_of(clock, delay_s)
    await clock.advance(later_s)
    gates.slow_down(HOST, ORIGIN, crawl_delay_s)

    longest = max(delay_s, min(crawl_delay_s, LONGEST_CRAWL_DELAY_S))
    assert gates.wait_s(HOST) == pytest.approx(max(longest - later_s, 0.0), abs=1e-5)
