"""Noise: what changes from check to check is muted; what has become quiet is heard again."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.engine.judging.noise import HEARD_AT, MOST, MUTED_AT, learn, muted_keys, muted_signals, signal_place
from tocsin.model import PageKnowledge, PageNoise, SignalContext
from tocsin.spec.signals.fingerprint import Place

HOUR, DAY, WEEK = 3_600_000_000, 86_400_000_000, 604_800_000_000
COUNTER = Place(7, "p.counter: 12 visitors")
TEASER = Place(8, "aside: read also")


def taught(*readings: tuple[Place, ...]) -> tuple[PageNoise, ...]:
    noise: tuple[PageNoise, ...] = ()
    for at, differing in enumerate(readings, 1):
        noise = learn(noise, differing, at)
    return noise


def muted(noise: tuple[PageNoise, ...]) -> list[int]:
    return [each.key for each in noise if each.since is not None]


def test_what_differs_in_three_readings_in_a_row_is_muted_from_then_on() -> None:
    readings = [(COUNTER,)] * MUTED_AT

    assert muted(taught(*readings[:-1])) == []
    assert taught(*readings) == (PageNoise(7, COUNTER.what, MUTED_AT, 0, since=MUTED_AT, at=MUTED_AT),)


def test_what_differs_now_and_then_is_never_muted() -> None:
    assert muted(taught((TEASER,), (TEASER,), (), (TEASER,), (TEASER,), ())) == []


def test_a_muted_place_stays_muted_while_it_rests_a_little() -> None:
    noise = taught(*[(COUNTER,)] * MUTED_AT, *[()] * (HEARD_AT - 1))

    assert muted(noise) == [7]


def test_a_muted_place_that_has_become_quiet_is_heard_again() -> None:
    assert taught(*[(COUNTER,)] * MUTED_AT, *[()] * HEARD_AT) == ()


def test_each_place_is_learnt_by_itself() -> None:
    noise = taught((COUNTER, TEASER), (COUNTER,), (COUNTER, TEASER))

    assert [(each.key, each.changes) for each in noise] == [(7, 3), (8, 1)]


def test_what_the_user_wants_to_hear_is_not_muted_whoever_muted_it() -> None:
    known = PageKnowledge("1", {}, noise=(PageNoise(7, "", 3, 0, 1), PageNoise(8, "", 2)))

    assert muted_keys(SignalContext(known, host_muted=(9, 10))) == {7, 9, 10}
    assert muted_keys(SignalContext(known, heard=(7, 9), host_muted=(9, 10))) == {10}
    assert muted_keys(None) == frozenset()


def test_a_signal_is_muted_by_its_own_key() -> None:
    keys = {signal_place("json-ld.modified").key}

    assert muted_signals(("json-ld.modified", "json-ld.version"), keys) == {"json-ld.modified"}


def test_a_change_after_checks_that_found_the_same_bytes_is_not_in_a_row() -> None:
    noise: tuple[PageNoise, ...] = ()
    for week in range(1, 9):
        # Each hour the page was checked, and its bytes were the same; once a week its price changes.
        noise = learn(noise, (COUNTER,), week * WEEK, checked_before=week * WEEK - HOUR)

    assert noise == (PageNoise(7, COUNTER.what, 1, at=8 * WEEK),)


def test_a_place_that_differs_at_each_check_is_in_a_row() -> None:
    noise: tuple[PageNoise, ...] = ()
    for hour in range(1, MUTED_AT + 1):
        noise = learn(noise, (COUNTER,), hour * HOUR + 5, checked_before=(hour - 1) * HOUR)

    assert muted(noise) == [7]


def test_what_was_muted_and_has_not_changed_for_a_month_is_heard_again_at_once() -> None:
    beside = SignalContext(PageKnowledge("1", {}, noise=(PageNoise(7, "", 3, 0, since=0, at=0),)))

    assert muted_keys(beside, 29 * DAY) == {7}
    assert muted_keys(beside, 31 * DAY) == set()
    assert muted(learn(beside.known.noise if beside.known else (), (COUNTER,), 31 * DAY, 30 * DAY)) == []


@given(st.lists(st.lists(st.integers(0, 200).map(lambda key: Place(key, "")), max_size=150), max_size=8))
def test_what_is_remembered_of_a_page_is_bounded(readings: list[list[Place]]) -> None:
    noise = taught(*map(tuple, readings))

    assert len(noise) <= MOST
    assert len({each.key for each in noise}) == len(noise)


def test_a_place_whose_text_is_gone_keeps_the_words_that_stood_there() -> None:
    gone = Place(COUNTER.key, "text, gone")

    assert [each.what for each in taught((COUNTER,), (gone,))] == [COUNTER.what]
