from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START
from tocsin.engine.alerting.backoff import (
    after_failure,
    after_success,
    channel_after_failure,
    channel_after_success,
    next_step,
    pause_left,
)
from tocsin.errors import DeliveryError
from tocsin.model import ChannelState, DeliveryResult, DueDelivery, SerializedEvent

SECOND = 1_000_000
HOUR = 3600 * SECOND
GIVE_UP = timedelta(days=5)


def delivery(*, tries: int = 0, tried: int = 0, paused: int = 0, meant: int | None = None) -> DueDelivery:
    """A delivery that is tried now for the next time.

    tried   how long it was tried until its last try
    paused  how long ago that was
    meant   how long the pause was meant to be, if not as long as it was
    """
    last_try_at = START - paused if tries else None
    return DueDelivery(
        alert_id="A1",
        channel="ops",
        page_id=7,
        position=1,
        tries=tries,
        first_try_at=START - paused - tried if tries else None,
        created_at=START - paused - tried,
        event=SerializedEvent("a", b"{}"),
        last_try_at=last_try_at,
        next_at=(last_try_at or START) + (paused if meant is None else meant),
        tried_us=tried,
    )


def refused(blames: str = "alert", retry_after: timedelta | None = None) -> DeliveryError:
    return DeliveryError("ops", blames, "answered 404", retry_after=retry_after)


def test_the_steps_grow_from_a_second_to_a_day() -> None:
    steps = [next_step(failures).total_seconds() for failures in range(1, 13)]

    assert steps == [1, 5, 30, 120, 600, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, 24 * 3600, 24 * 3600]


def failed(given: DueDelivery, error: DeliveryError, *, channel_again_at: int | None = None) -> DeliveryResult:
    return after_failure(given, error, START, give_up=GIVE_UP, channel_again_at=channel_again_at)


def test_an_alert_that_a_channel_refuses_is_tried_again_after_its_own_step() -> None:
    result = failed(delivery(tries=2, tried=SECOND, paused=5 * SECOND), refused())

    assert (result.state, result.next_at, result.error) == ("waiting", START + 30 * SECOND, "answered 404")
    assert result.tried_us == 6 * SECOND
    assert type(result.next_at) is int  # a column of whole microseconds


def test_an_alert_waits_for_its_channel_where_the_fault_is_the_channels() -> None:
    result = failed(delivery(), refused("channel"), channel_again_at=START + HOUR)

    assert (result.state, result.next_at) == ("waiting", START + HOUR)


def test_a_shortage_of_this_machine_counts_neither_towards_giving_up_nor_towards_longer_steps() -> None:
    given = delivery(tries=9, tried=int(GIVE_UP.total_seconds()) * SECOND, paused=HOUR)

    result = failed(given, refused("ours"))

    assert (result.state, result.next_at, result.tried_us) == ("waiting", START + 15 * SECOND, given.tried_us)


def test_an_alert_is_dead_when_its_time_is_up() -> None:
    result = failed(delivery(tries=14, tried=96 * HOUR, paused=24 * HOUR), refused())

    assert (result.state, result.next_at) == ("dead", None)


@pytest.mark.parametrize("paused", [200 * HOUR, -HOUR])
def test_only_a_pause_as_it_was_meant_counts_towards_giving_up(paused: int) -> None:
    result = failed(delivery(tries=14, tried=96 * HOUR, paused=paused, meant=HOUR), refused())

    assert (result.state, result.tried_us) == ("waiting", (97 if paused > 0 else 96) * HOUR)


def test_the_last_try_is_made_when_the_time_is_up() -> None:
    result = failed(delivery(tries=14, tried=86 * HOUR, paused=24 * HOUR), refused())

    assert (result.state, result.next_at) == ("waiting", START + 10 * HOUR)


def test_an_alert_is_kept_while_its_receiver_is_gone() -> None:
    result = failed(delivery(tries=3, tried=500 * HOUR), refused("gone"))

    assert result.state == "waiting"


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        (timedelta(seconds=90), 90),
        (timedelta(days=400), 24 * 3600),
        (timedelta(seconds=-5), 1),
        (timedelta(milliseconds=10), 1),
    ],
)
def test_a_channel_is_left_alone_as_long_as_it_asks_but_never_longer_than_a_day(asked: timedelta, seconds: int) -> None:
    state = channel_after_failure(ChannelState("ops"), refused("channel", asked), START)

    assert (state.failures, state.next_at) == (1, START + seconds * SECOND)


def test_a_channel_whose_receiver_is_gone_is_disabled_and_says_why() -> None:
    state = channel_after_failure(ChannelState("ops", failures=2), refused("gone"), START)

    assert (state.disabled, state.error) == (True, "answered 404")


def test_a_channel_that_accepts_again_is_as_if_it_had_never_failed() -> None:
    broken = channel_after_failure(ChannelState("ops", waiting=3), refused("gone"), START)

    assert channel_after_success(broken, START) == ChannelState("ops", waiting=3, accepted_at=START)


def test_a_channel_fails_since_the_first_of_the_alerts_that_it_is_blamed_for() -> None:
    first = channel_after_failure(ChannelState("ops"), refused("channel"), START, since=START - SECOND)
    again = channel_after_failure(first, refused("channel"), START + HOUR, since=START + HOUR)

    assert (first.since, again.since) == (START - SECOND, START - SECOND)


@pytest.mark.parametrize(
    ("later", "left"),
    [(timedelta(seconds=10), 20), (timedelta(hours=1), 0), (timedelta(seconds=-10), 30), (timedelta(days=-9), 30)],
)
def test_the_pause_that_is_left_never_contains_what_the_clock_has_to_catch_up(later: timedelta, left: int) -> None:
    state = channel_after_failure(ChannelState("ops", failures=2), refused("channel"), START)

    assert pause_left(state, START + later // timedelta(microseconds=1)) == timedelta(seconds=left)


def test_a_pause_from_an_older_version_is_a_day_at_most() -> None:
    state = ChannelState("ops", failures=1, next_at=START + 1000 * HOUR)

    assert pause_left(state, START) == timedelta(days=1)


def test_an_accepted_alert_is_done() -> None:
    result = after_success(delivery(tries=2, tried=SECOND, paused=5 * SECOND), START)

    assert result == DeliveryResult("A1", "ops", "accepted", START, tried_us=6 * SECOND, position=1)


@given(
    tries=st.integers(1, 50),
    spent=st.timedeltas(timedelta(0), timedelta(days=6)),
    asked=st.none() | st.timedeltas(timedelta(days=-1), timedelta(days=30)),
)
def test_a_refused_alert_is_dead_after_five_days_or_due_within_a_day(
    tries: int, spent: timedelta, asked: timedelta | None
) -> None:
    result = failed(delivery(tries=tries, tried=spent // timedelta(microseconds=1)), refused(retry_after=asked))

    if spent >= GIVE_UP:
        assert result.state == "dead"
    else:
        assert result.next_at is not None
        assert START < result.next_at <= START + 24 * HOUR
