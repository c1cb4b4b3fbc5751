from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import calls_of
from tests.spec.pages import state_of, states
from tocsin.spec.topper.compare import (
    Comparison,
    Mode,
    Outcome,
    Reason,
    Tell,
    Thresholds,
    compare,
    count_minor_changes,
    is_awareness_due,
    is_stored,
)
from tocsin.spec.topper.state import EMPTY, Dates, PageState

DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)
MANY = Thresholds(minor=100)


def verdict(found: Comparison) -> tuple[Outcome, Reason | None, str]:
    return found.outcome, found.reason, found.rule


def test_the_defaults_are_80_days_3_changes_and_a_week() -> None:
    assert Thresholds() == Thresholds(timedelta(days=80), 3, timedelta(days=7))


def test_T40_nothing_is_done_at_the_first_storing() -> None:
    found = compare(None, state_of(major="2014", minor="2014-02 2014-03"), DAY)

    assert verdict(found) == (Outcome.FIRST, None, "T40")
    assert found.changed == ()
    assert found.minor_count == 2
    assert found.new_dates == Dates(("2014",), ("2014-02", "2014-03"))


def test_T40_a_first_storing_is_first_whatever_time_has_passed() -> None:
    assert compare(None, EMPTY, timedelta(days=500)).outcome is Outcome.FIRST
    assert compare(None, state_of(refresh="600"), timedelta(0)).outcome is Outcome.FIRST


def test_T42_without_a_difference_nothing_is_done() -> None:
    same = state_of(major="2014", page_version="1")

    assert compare(same, same, DAY) == Comparison(Outcome.UNCHANGED, None, "T42")


@pytest.mark.parametrize("elapsed", [timedelta(days=-1), timedelta(0), timedelta(days=80) - SECOND])
def test_T42_stands_before_too_soon(elapsed: timedelta) -> None:
    same = state_of(refresh="100000")

    assert verdict(compare(same, same, elapsed)) == (Outcome.UNCHANGED, None, "T42")


@pytest.mark.parametrize("elapsed", [timedelta(days=80), timedelta(days=500)])
def test_T45_equal_states_are_a_major_change_from_the_durational_threshold_on(elapsed: timedelta) -> None:
    same = state_of(major="2014")

    assert verdict(compare(same, same, elapsed)) == (Outcome.MAJOR, Reason.DURATION, "T45")


def test_T45_the_user_sets_the_durational_threshold() -> None:
    assert compare(EMPTY, EMPTY, DAY, Thresholds(durational=DAY)).reason is Reason.DURATION
    assert compare(EMPTY, EMPTY, DAY - SECOND, Thresholds(durational=DAY)).outcome is Outcome.UNCHANGED


def test_T45_is_not_for_states_that_differ() -> None:
    found = compare(EMPTY, state_of(page_version="2"), timedelta(days=500))

    assert verdict(found) == (Outcome.MINOR, Reason.OTHER, "T47")


@pytest.mark.parametrize(
    ("elapsed_s", "outcome"), [(599, Outcome.TOO_SOON), (600, Outcome.MINOR), (601, Outcome.MINOR)]
)
def test_T43_a_change_within_the_refresh_is_too_soon(elapsed_s: int, outcome: Outcome) -> None:
    before, latest = state_of(page_version="1"), state_of(page_version="2", refresh="600")

    assert compare(before, latest, timedelta(seconds=elapsed_s)).outcome is outcome


def test_T43_the_refresh_is_that_of_the_latest_state() -> None:
    before, latest = state_of(refresh="600"), state_of(refresh="10")

    found = compare(before, latest, timedelta(seconds=60))

    assert verdict(found) == (Outcome.MINOR, Reason.OTHER, "T47")
    assert found.changed == ("refresh",)


def test_T43_even_a_major_change_can_be_too_soon() -> None:
    found = compare(EMPTY, state_of(major="2014", refresh="600"), SECOND)

    assert verdict(found) == (Outcome.TOO_SOON, None, "T43")
    assert found.changed == ("refresh", "topper-major")


@pytest.mark.parametrize("elapsed", [timedelta(0), timedelta(seconds=-5)])
def test_T43_no_time_at_all_is_too_soon(elapsed: timedelta) -> None:
    assert compare(EMPTY, state_of(page_version="2"), elapsed).outcome is Outcome.TOO_SOON


def test_T43_the_smallest_time_is_enough_without_refresh() -> None:
    assert compare(EMPTY, state_of(page_version="2"), timedelta(microseconds=1)).outcome is Outcome.MINOR


def test_T43_a_refresh_counts_up_to_its_cap() -> None:
    latest = state_of(page_version="2", refresh="9" * 5000)

    assert compare(EMPTY, latest, timedelta(days=7)).outcome is Outcome.MINOR
    assert compare(EMPTY, latest, timedelta(days=7) - SECOND).outcome is Outcome.TOO_SOON
    assert compare(EMPTY, latest, DAY, Thresholds(refresh_cap=DAY)).outcome is Outcome.MINOR


@pytest.mark.parametrize(
    ("before", "latest"),
    [
        (state_of(major="2014-01-01"), state_of(major="2014-01-01 2014-03-01")),
        (state_of(), state_of(major="2014")),
        (state_of(major="2014"), state_of()),
        (state_of(major="2014"), state_of(major="soon")),
        (state_of(major="2014", page_version="1"), state_of(major="2015", page_version="2", minor="2013")),
    ],
)
def test_T44_a_change_among_the_major_elements_is_major(before: PageState, latest: PageState) -> None:
    assert verdict(compare(before, latest, DAY, MANY)) == (Outcome.MAJOR, Reason.TOPPER_MAJOR, "T44")


@pytest.mark.parametrize("minor", ["2014-03-05", "2014-03-05T00:00:00Z"])
def test_T09_a_new_minor_date_that_is_a_major_one_is_major(minor: str) -> None:
    major = f"2013 {minor}"

    found = compare(state_of(major=major), state_of(major=major, minor=minor), DAY, MANY)

    assert verdict(found) == (Outcome.MAJOR, Reason.TOPPER_MAJOR, "T09")
    assert found.changed == ("topper-minor",)


def test_T09_compares_times_not_spellings() -> None:
    major = "2014-03-05T10:00+01:00"

    assert compare(state_of(major=major), state_of(major=major, topper="2014-03-05T09:00Z"), DAY).rule == "T09"
    assert compare(state_of(major=major), state_of(major=major, topper="2014-03-05T09:00:00Z"), DAY).rule == "T47"


def test_T09_is_about_new_minor_dates() -> None:
    before = state_of(major="2014", minor="2014", page_version="1")
    moved = state_of(major="2014", topper="2014", page_version="1")

    assert compare(before, state_of(major="2014", minor="2014", page_version="2"), DAY).rule == "T47"
    assert compare(before, moved, DAY, MANY).rule == "T47"


def test_T46_minor_changes_reach_the_quantitative_threshold() -> None:
    before, latest = state_of(minor="2014-01 2014-02"), state_of(minor="2014-01 2014-02 2014-03")

    found = compare(before, latest, DAY)

    assert verdict(found) == (Outcome.MAJOR, Reason.MINOR_COUNT, "T46")
    assert found.minor_count == 3
    assert found.new_dates == Dates((), ("2014-03",))
    assert compare(before, latest, DAY, Thresholds(minor=4)).outcome is Outcome.MINOR
    assert compare(before, latest, DAY, Thresholds(minor=2)).outcome is Outcome.MAJOR


def test_T46_the_threshold_is_at_least_1() -> None:
    latest = state_of(minor="soon")

    assert compare(EMPTY, latest, DAY, Thresholds(minor=0)).rule == "T47"
    assert compare(EMPTY, state_of(minor="2014"), DAY, Thresholds(minor=0)).rule == "T46"


def test_T46_counts_for_topper_with_dates_too() -> None:
    latest = state_of(topper="2014-01 2014-02 2014-03")

    assert compare(EMPTY, latest, DAY).rule == "T46"


def test_T46_a_topper_without_dates_is_not_among_the_minor_ones() -> None:
    dates = "2014-01 2014-02 2014-03"

    assert compare(state_of(minor=dates), state_of(minor=dates, topper="true"), DAY).rule == "T47"
    assert compare(state_of(topper=f"{dates} x"), state_of(topper="soon"), DAY, Thresholds(minor=1)).rule == "T47"


def test_T46_needs_a_change_among_the_minor_elements() -> None:
    dates = "2014-01 2014-02 2014-03"
    before, latest = state_of(minor=dates, page_version="1"), state_of(minor=dates, page_version="2")

    assert compare(before, latest, DAY).rule == "T47"
    assert compare(state_of(topper=dates), state_of(topper=dates, created="x"), DAY).rule == "T47"


def test_T46_a_removed_minor_date_is_a_change_too() -> None:
    before, latest = state_of(minor="2014-01 2014-02 2014-03 2014-04"), state_of(minor="2014-02 2014-03 2014-04")

    assert compare(before, latest, DAY).rule == "T46"


@pytest.mark.parametrize(
    ("before", "latest", "changed"),
    [
        (state_of(), state_of(topper="true"), ("topper",)),
        (state_of(minor="2014"), state_of(), ("topper-minor",)),
        (state_of(article_modified_time="1"), state_of(article_modified_time="2"), ("article:modified_time",)),
        (state_of(refresh="1", created="x"), state_of(refresh="2"), ("created", "refresh")),
    ],
)
def test_T47_every_other_change_is_minor(before: PageState, latest: PageState, changed: tuple[str, ...]) -> None:
    found = compare(before, latest, DAY)

    assert verdict(found) == (Outcome.MINOR, Reason.OTHER, "T47")
    assert found.changed == changed


@pytest.mark.parametrize(
    ("latest", "count"),
    [
        (state_of(), 0),
        (state_of(topper="true", minor="soon"), 0),
        (state_of(minor="2014-01 2014-02", topper="2014-02 2014-03 true"), 4),
        (state_of(minor="2014-01 2014-02 2014-03", major="2014-02"), 2),
        (state_of(minor="2014-01-31 2014-02-01 2014-02-02", major="2014-02"), 2),
        (state_of(minor="2014-01 2014-02", major="2013 soon"), 2),
        (state_of(minor="2014-01 2014-02 2014-03", major="2014-03 2014-01-15"), 1),
        (state_of(minor="2014", major="2014-12-31T23:59:59.9Z"), 1),
        (state_of(minor="2014", major="2015-01-01T00:00Z"), 0),
        (state_of(minor="2014-03-05T10:00Z 2014-03-05T11:00+01:00"), 2),
        (state_of(minor="9999"), 1),
    ],
)
def test_T48_minor_changes_earlier_than_the_latest_major_one_are_left_out(latest: PageState, count: int) -> None:
    assert count_minor_changes(latest) == count


def test_T48_the_count_is_told_whatever_the_outcome_is() -> None:
    latest = state_of(major="2014-02", minor="2014-03", refresh="600")

    assert compare(EMPTY, latest, SECOND).minor_count == 1
    assert compare(latest, latest, DAY).minor_count == 1
    assert compare(EMPTY, latest, DAY).minor_count == 1


def test_new_dates_are_those_that_were_not_there_before() -> None:
    before = state_of(major="2012 2013", minor="2014-01", topper="2014-02")
    latest = state_of(major="2013 2014", minor="2014-02 2014-03", topper="2014-04 true")

    assert compare(before, latest, DAY).new_dates == Dates(("2014",), ("2014-03", "2014-04"))


@given(states(), states(), st.timedeltas())
def test_every_comparison_has_a_verdict_by_one_rule(before: PageState, latest: PageState, elapsed: timedelta) -> None:
    found = compare(before, latest, elapsed)

    assert (found.reason is None) == (found.outcome not in {Outcome.MINOR, Outcome.MAJOR})
    assert bool(found.changed) == (before != latest)
    assert found.rule in {"T42", "T43", "T44", "T09", "T45", "T46", "T47"}


@given(states(), st.timedeltas(max_value=timedelta(days=79)))
def test_T42_a_state_never_differs_from_itself(state: PageState, elapsed: timedelta) -> None:
    assert compare(state, state, elapsed).outcome is Outcome.UNCHANGED


@given(states(), states())
def test_what_changed_is_the_same_both_ways(one: PageState, other: PageState) -> None:
    assert compare(one, other, DAY).changed == compare(other, one, DAY).changed


def test_states_of_many_dates_are_compared_with_little_work() -> None:
    dates = [f"2014-01-01T00:00:{second:02}.{number}Z" for second in range(60) for number in range(1, 400)]
    before, latest = (state_of(major=" ".join(sorted(some))) for some in (dates[:-1], dates[1:]))
    found: list[Comparison] = []

    calls = calls_of(lambda: found.append(compare(before, latest, timedelta(days=1))))

    assert len(found[0].new_dates.major) == 1
    assert calls < 200 * len(dates)  # comparing each with each would make millions more


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("latest", [True, False])
def test_T50_a_page_that_is_on_is_stored_whatever_it_says(*, answer: bool, latest: bool) -> None:
    assert is_stored(Mode.ON, answer_subject=answer, latest_subject=latest)


@pytest.mark.parametrize("answer", [True, False])
@pytest.mark.parametrize("latest", [True, False])
def test_T51_a_page_that_is_off_is_never_stored(*, answer: bool, latest: bool) -> None:
    assert not is_stored(Mode.OFF, answer_subject=answer, latest_subject=latest)


@pytest.mark.parametrize(
    ("answer", "latest", "stored"),
    [(True, True, True), (True, False, True), (False, True, True), (False, False, False)],
)
def test_T51_a_page_on_auto_is_stored_while_it_asks_and_once_after(*, answer: bool, latest: bool, stored: bool) -> None:
    assert is_stored(Mode.AUTO, answer_subject=answer, latest_subject=latest) is stored


@pytest.mark.parametrize(
    ("outcome", "of_any", "of_major"),
    [
        (Outcome.FIRST, False, False),
        (Outcome.UNCHANGED, False, False),
        (Outcome.TOO_SOON, False, False),
        (Outcome.MINOR, True, False),
        (Outcome.MAJOR, True, True),
    ],
)
def test_T54_awareness_is_of_any_change_or_of_major_ones(*, outcome: Outcome, of_any: bool, of_major: bool) -> None:
    assert is_awareness_due(outcome, Tell.ANY) is of_any
    assert is_awareness_due(outcome, Tell.MAJOR) is of_major


def test_modes_and_policies_are_named_as_in_the_configuration() -> None:
    assert [mode.value for mode in Mode] == ["on", "auto", "off"]
    assert [tell.value for tell in Tell] == ["any", "major"]
