"""Telling our own outage from theirs."""

from __future__ import annotations

import pytest

from tests.fakes import START, ManualClock
from tocsin.engine.hosts.outage import OutageWatch
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


def test_T61_three_hosts_that_cannot_be_connected_to_are_a_doubt_and_no_outage_yet(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c")

    assert watch.in_doubt
    assert not watch.is_outage()


def test_T61_it_is_an_outage_where_the_hosts_that_answered_last_fail_too(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c")

    watch.settle(is_outage=True)

    assert watch.is_outage()
    assert watch.began_at == START


def test_fewer_hosts_are_never_an_outage(watch: OutageWatch) -> None:
    fail(watch, *["a", "b"] * 100)
    watch.settle(is_outage=True)

    assert not watch.in_doubt
    assert not watch.is_outage()


def test_one_success_within_the_minute_speaks_against_it(watch: OutageWatch) -> None:
    watch.note("z", ok=True)
    fail(watch, "a", "b")
    watch.note("z", ok=True)
    fail(watch, "c")

    assert not watch.in_doubt


def test_T60_hosts_that_failed_while_others_answered_are_no_evidence_however_often_they_fail(
    watch: OutageWatch,
) -> None:
    fail(watch, "a", "b", "c", "d")
    watch.note("z", ok=True)

    fail(watch, *["a", "b", "c", "d"] * 10, "e", "f")

    assert not watch.in_doubt


def test_a_host_that_answers_again_is_evidence_again(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c")
    watch.note("z", ok=True)
    for host in ("a", "b", "c"):
        watch.note(host, ok=True)

    fail(watch, "a", "b", "c")

    assert watch.in_doubt


def test_hosts_that_failed_in_an_outage_are_evidence_of_the_next_one(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c")
    watch.settle(is_outage=True)
    fail(watch, "a", "b", "c")
    watch.note("z", ok=True)

    fail(watch, "a", "b", "c")

    assert watch.in_doubt


def test_T60_what_a_check_came_to_is_held_until_the_doubt_is_settled(watch: OutageWatch) -> None:
    given: list[bool] = []
    fail(watch, "a", "b", "c")
    watch.hold(given.append)
    before = list(given)

    watch.note("z", ok=True)

    assert before == []
    assert given == [False]


def test_without_a_doubt_nothing_is_held(watch: OutageWatch) -> None:
    given: list[bool] = []

    watch.hold(given.append)
    fail(watch, "a", "b", "c")
    watch.settle(is_outage=True)
    watch.hold(given.append)

    assert given == [False, True]


def test_at_a_stop_what_is_held_keeps_its_tries(watch: OutageWatch) -> None:
    given: list[bool] = []
    fail(watch, "a", "b", "c")
    watch.hold(given.append)

    watch.stop_holding()
    watch.hold(given.append)

    assert given == [True, True]
    assert watch.held == 0


@pytest.mark.parametrize("kind", ["status", "decode", "too-large", "redirect", "step"])
def test_an_answer_of_any_kind_is_a_success(watch: OutageWatch, kind: str) -> None:
    fail(watch, "a", "b", "c")

    fail(watch, "d", kind=FailureKind(kind))

    assert not watch.in_doubt


def test_an_address_that_is_refused_says_nothing(watch: OutageWatch) -> None:
    fail(watch, "a", "b", "c", kind=FailureKind.BLOCKED_ADDRESS)

    assert not watch.in_doubt


def test_other_failures_may_be_one_in_twenty_at_most(watch: OutageWatch) -> None:
    fail(watch, "t", "t", kind=FailureKind.TIMEOUT)
    fail(watch, *["a", "b", "c"] * 12)
    before = watch.in_doubt
    fail(watch, "a", "b")

    assert not before
    assert watch.in_doubt


async def test_what_is_older_than_a_minute_does_not_count(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b")
    await clock.advance(61)

    fail(watch, "c")

    assert not watch.in_doubt


async def test_an_outage_lasts_until_the_first_success(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b", "c")
    watch.settle(is_outage=True)
    await clock.advance(3600)
    fail(watch, "a")
    during = watch.is_outage()

    watch.note("b", ok=True)

    assert during
    assert not watch.is_outage()
    assert watch.began_at is None


async def test_probes_come_at_growing_intervals(watch: OutageWatch, clock: ManualClock) -> None:
    fail(watch, "a", "b", "c")
    watch.settle(is_outage=True)
    pauses, numbers = [], []
    for _ in range(9):
        pauses.append(watch.probe_in_s())
        await clock.advance(pauses[-1])
        numbers.append(watch.next_probe())

    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300, 300]
    assert numbers == list(range(9))
