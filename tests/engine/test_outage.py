"""Telling our own outage from theirs."""

from __future__ import annotations

import pytest

from tests.fakes import START, ManualClock
from tocsin.engine.outage import OutageWatch
from tocsin.model import FailureKind


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def watch(clock: ManualClock) -> OutageWatch:
    return OutageWatch(clock)


def fail(watch: OutageWatch, *hosts: str, kind: FailureKind = FailureKind.CONNECT) -> None:
    for host in hosts:
        watch.note(host, ok=False, kind=kind)


def test_three_hosts_that_cannot_be_connected_to_are_an_outage(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c")

    assert watch.is_outage()
    assert watch.began_at == START


def test_fewer_hosts_are_never_an_outage(watch: OutageWatch) -> None:
    fail(watch, *["a", "b"] * 100)

    assert not watch.is_outage()


def test_one_success_within_the_minute_speaks_against_it(watch: OutageWatch) -> None:
    watch.note("z", ok=True)
    fail(watch, "a", "b")
    watch.note("z", ok=True)
    fail(watch, "c")

    assert not watch.is_outage()


@pytest.mark.parametrize("kind", [FailureKind.STATUS, FailureKind.DECODE, FailureKind.TOO_LARGE, FailureKind.REDIRECT])
def test_an_answer_of_any_kind_is_a_success(watch: OutageWatch, kind: FailureKind) -> None:
    fail(watch, "a", "b", "c")

    fail(watch, "d", kind=kind)

    assert not watch.is_outage()


def test_an_address_that_is_refused_says_nothing(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c", kind=FailureKind.BLOCKED_ADDRESS)

    assert not watch.is_outage()


def test_other_failures_may_be_one_in_twenty_at_most(watch: OutageWatch) -> None:
    fail(watch, "t", "t", kind=FailureKind.TIMEOUT)
    fail(watch, *["a", "b", "c"] * 12)
    before = watch.is_outage()
    fail(watch, "a", "b")

    assert not before
    assert watch.is_outage()


async def test_what_is_older_than_a_minute_does_not_count(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b")
    await clock.advance(61)

    fail(watch, "c")

    assert not watch.is_outage()


async def test_it_lasts_until_the_first_success(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b", "c")
    await clock.advance(3600)
    fail(watch, "a")
    during = watch.is_outage()

    watch.note("b", ok=True)

    assert during
    assert not watch.is_outage()
    assert watch.began_at is None


async def test_probes_come_at_growing_intervals_and_change_hosts(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b", "c")
    pauses, hosts = [], []
    for _ in range(9):
        pauses.append(watch.probe_in_s())
        await clock.advance(pauses[-1])
        hosts.append(watch.probe_host(["a", "b", "c"]))

    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert hosts == ["a", "b", "c"] * 3
