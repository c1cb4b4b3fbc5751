"""How often a page changes, estimated from what checks found (Cho and Garcia-Molina 2003)."""

from __future__ import annotations

from itertools import pairwise
from math import log
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DAY, HOUR, SECOND
from tests.fakes import START
from tocsin.engine.judging.pace import HALF_LIFE_CHECKS, LOOK_BACK, interval_s, note, rate_of
from tocsin.model.knowledge import ChangePace

if TYPE_CHECKING:
    from collections.abc import Iterable

DAY_S = 86_400.0
EVERY_S = DAY_S

check = st.tuples(st.floats(60, 60 * DAY_S), st.booleans(), st.one_of(st.none(), st.floats(0, 2)))
"""How long after the one before, whether it found a change, and how old that is in intervals by the page's own date."""


def noted(checks: Iterable[tuple[float, bool, float | None]], pace: ChangePace | None = None) -> ChangePace | None:
    now = START
    for span_s, changed, age in checks:
        since, now = now, now + round(span_s * SECOND)
        declared_at = None if age is None else now - round(age * span_s * SECOND)
        pace = note(pace, since=since, now=now, changed=changed, declared_at=declared_at, every_s=EVERY_S)
    return pace


def daily(changes: str) -> ChangePace | None:
    return noted((DAY_S, mark == "x", None) for mark in changes)


def changes_a_day(pace: ChangePace | None) -> float:
    return rate_of(pace, EVERY_S) * DAY_S


def test_a_page_nobody_knows_is_taken_to_change_once_in_its_interval() -> None:
    assert changes_a_day(None) == pytest.approx(1)


def test_regular_checks_give_the_estimator_with_reduced_bias() -> None:
    # So long ago that no expectation counts beside it: n checks in one-second intervals, X of which found a change.
    n, found = 1e9, 4e8
    pace = ChangePace(checks=n, found=found, found_s=found, quiet_s=n - found)

    assert rate_of(pace, EVERY_S) == pytest.approx(-log((n - found + 0.5) / (n + 0.5)), rel=1e-4)


def test_declared_dates_give_changes_for_the_time_known_as_quiet() -> None:
    pace = ChangePace(checks=1e6, dated=3e5, quiet_s=6e5 * DAY_S)

    assert changes_a_day(pace) == pytest.approx(0.5, rel=1e-4)


@pytest.mark.parametrize("a_day", [0.05, 0.3, 1.0, 3.0])
@pytest.mark.parametrize("is_dated", [True, False])
def test_the_rate_of_a_poisson_process_is_found_to_within_a_factor_of_two(a_day: float, *, is_dated: bool) -> None:
    random = Random(7)  # noqa: S311 - the same pages every time
    interval = DAY if a_day > 0.2 else 5 * DAY
    changes, at = [], float(START)
    while (at := at + random.expovariate(a_day / DAY)) < START + 400 * interval:
        changes.append(int(at))

    pace: ChangePace | None = None
    for now in range(START + interval, START + 400 * interval, interval):
        recent = [change for change in changes if now - interval < change <= now]
        declared_at = recent[-1] if is_dated and recent else None
        pace = note(pace, since=now - interval, now=now, changed=bool(recent), declared_at=declared_at, every_s=EVERY_S)

    assert a_day / 2 < changes_a_day(pace) < a_day * 2


@given(st.lists(check, max_size=60), check)
def test_a_change_never_makes_the_interval_longer_than_no_change_would(
    history: list[tuple[float, bool, float | None]], last: tuple[float, bool, float | None]
) -> None:
    before = noted(history)
    span_s, _, age = last

    changed, quiet = (noted([(span_s, is_changed, age)], before) for is_changed in (True, False))

    assert rate_of(changed, EVERY_S) >= rate_of(quiet, EVERY_S) * 0.999


@given(st.lists(check, max_size=80))
def test_a_rate_is_always_one_that_an_interval_can_follow_from(history: list[tuple[float, bool, float | None]]) -> None:
    rate = rate_of(noted(history), EVERY_S)

    assert 0 < rate < float("inf")
    assert 0 < interval_s(rate, EVERY_S) < float("inf")


@given(st.floats(0, 1e6), st.floats(1e-6, 1e12), st.floats(0, 1e6), st.floats(0, 1e12), st.floats(1, 1e9))
def test_whatever_is_kept_of_a_page_has_a_rate(
    found: float, found_s: float, dated: float, quiet_s: float, every_s: float
) -> None:
    pace = ChangePace(found + dated, found, found_s if found else 0.0, dated, quiet_s)

    assert 0 < rate_of(pace, every_s) < float("inf")


def test_the_estimate_solves_the_likelihood_s_equation() -> None:
    pace = ChangePace(checks=30, found=6, found_s=9 * DAY_S, dated=4, quiet_s=40 * DAY_S)

    rate = rate_of(pace, EVERY_S)

    mean_s = 9 * DAY_S / 6
    quiet_s = 40 * DAY_S + mean_s / 2 + EVERY_S / 2
    expected = 9 * DAY_S / (2.718281828459045 ** (rate * mean_s) - 1) + 4.5 / rate
    assert expected == pytest.approx(quiet_s, rel=1e-3)


def test_a_page_that_falls_asleep_is_noticed() -> None:
    awake = daily("x" * 100)

    asleep = noted([(DAY_S, False, None)] * 3 * HALF_LIFE_CHECKS, awake)

    assert changes_a_day(asleep) < changes_a_day(awake) / 20


def test_a_page_that_wakes_up_is_noticed() -> None:
    asleep = noted([(10 * DAY_S, False, None)] * 40)

    awake = noted([(10 * DAY_S, True, None)] * 3, asleep)

    assert changes_a_day(awake) > 5 * changes_a_day(asleep)


def test_evidence_counts_half_after_its_half_life() -> None:
    before = daily("x." * 30)
    assert before is not None

    after = noted([(DAY_S, False, None)] * HALF_LIFE_CHECKS, before)

    assert after is not None
    assert after.found == pytest.approx(before.found / 2)


def test_evidence_that_faded_for_ever_does_no_harm() -> None:
    pace = noted([(DAY_S, True, None), *[(DAY_S, False, None)] * 25_000])

    assert changes_a_day(pace) == pytest.approx(changes_a_day(daily("." * 400)), rel=0.01)


@pytest.mark.parametrize("age", [-0.5, 1.5], ids=["to come", "before the last check"])
def test_a_date_that_cannot_be_that_of_the_change_says_nothing(age: float) -> None:
    with_date, without = noted([(DAY_S, True, age)]), noted([(DAY_S, True, None)])

    assert with_date == without


def test_a_date_that_moves_although_nothing_changed_says_nothing() -> None:
    assert noted([(DAY_S, False, 0.1)]) == noted([(DAY_S, False, None)])


def test_a_page_that_declares_the_moment_of_each_answer_does_not_run_away() -> None:
    pace, interval = None, EVERY_S
    for _ in range(200):
        pace = noted([(interval, True, 0.0)], pace)
        interval = interval_s(rate_of(pace, EVERY_S), EVERY_S)

    assert interval > EVERY_S / 12


def test_a_page_that_changes_at_every_check_does_not_run_away() -> None:
    pace, interval = None, EVERY_S
    for _ in range(200):
        pace = noted([(interval, True, None)], pace)
        interval = interval_s(rate_of(pace, EVERY_S), EVERY_S)

    assert EVERY_S / 6 < interval < EVERY_S / 2


def test_at_the_first_check_an_old_date_says_that_the_page_is_quiet() -> None:
    pace = note(None, since=None, now=START, changed=False, declared_at=START - 900 * DAY, every_s=EVERY_S)

    assert pace is not None
    assert pace.quiet_s == pytest.approx(LOOK_BACK * EVERY_S)
    assert pace.dated == 0
    assert changes_a_day(pace) < 1


def test_at_the_first_check_a_date_of_today_says_that_the_page_changes() -> None:
    pace = note(None, since=None, now=START, changed=False, declared_at=START - 6 * HOUR, every_s=EVERY_S)

    assert pace is not None
    assert pace.dated == 1
    assert changes_a_day(pace) > 1


@pytest.mark.parametrize("declared_at", [None, START + DAY])
def test_at_the_first_check_no_date_says_nothing(declared_at: int | None) -> None:
    assert note(None, since=None, now=START, changed=False, declared_at=declared_at, every_s=EVERY_S) is None


def test_a_clock_that_was_set_back_adds_nothing() -> None:
    before = daily("x.")

    assert note(before, since=START, now=START - DAY, changed=True, declared_at=None, every_s=EVERY_S) == before


def test_four_times_as_many_changes_are_worth_twice_as_many_checks() -> None:
    intervals = [interval_s(changes / DAY_S, EVERY_S) for changes in (0.25, 1, 4, 16)]

    assert intervals[1] == pytest.approx(EVERY_S)
    assert all(one == pytest.approx(2 * other) for one, other in pairwise(intervals))
