"""When a page is due next: at a fixed interval, by cron, or by its changes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DAY, HOUR, SECOND
from tests.fakes import START
from tocsin.engine.judging.cadence import interval_of, next_check
from tocsin.errors import SettingsError
from tocsin.model.knowledge import ChangePace
from tocsin.settings import PageSettings


def micros(at: datetime) -> int:
    return int(at.timestamp()) * SECOND


@given(st.integers(1, 10**9), st.integers(0, 10**10), st.integers(1, 10**8))
def test_T63_only_the_first_interval_is_shortened_and_none_is_longer(page_id: int, now_s: int, every_s: int) -> None:
    every = timedelta(seconds=every_s)
    pages = PageSettings(every=every, min_gap=timedelta(0))

    at, _ = next_check(page_id, now_s * SECOND, pages)
    after, _ = next_check(page_id, at, pages)

    assert 0 < at - now_s * SECOND <= every_s * SECOND
    assert after == at + every_s * SECOND


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.floats(0, 0.999))
def test_T63_a_check_that_waited_for_its_host_does_not_delay_the_next_one(
    page_id: int, every_s: int, late: float
) -> None:
    pages = PageSettings(every=timedelta(seconds=every_s), min_gap=timedelta(0))
    due, _ = next_check(page_id, START, pages)

    after, _ = next_check(page_id, due + int(late * every_s * SECOND), pages)

    assert after == due + every_s * SECOND


def test_T63_pages_are_spread_over_the_interval() -> None:
    pages = PageSettings()
    hours = {(next_check(page_id, START, pages)[0] // HOUR) % 24 for page_id in range(1, 1000)}

    assert len(hours) == 24


def test_a_check_by_hand_moves_no_later_check() -> None:
    pages = PageSettings(every=timedelta(hours=24))
    planned, _ = next_check(7, START, pages)

    after_one_by_hand, _ = next_check(7, planned - 13 * HOUR, pages)

    assert after_one_by_hand == planned


def test_T21_no_check_comes_sooner_than_the_gap_allows() -> None:
    pages = PageSettings(every=timedelta(seconds=1), min_gap=timedelta(seconds=10))

    at, why = next_check(1, START, pages)

    assert at == START + 10 * SECOND + 1
    assert "10s" in why


def test_T43_no_check_comes_before_the_page_s_refresh_is_over() -> None:
    pages = PageSettings(every=timedelta(hours=1))

    at, why = next_check(1, START, pages, stored_at=START, refresh_s=5 * 3600)

    assert at == START + 5 * HOUR
    assert "refresh" in why


def test_T43_a_refresh_counts_for_at_most_its_cap() -> None:
    pages = PageSettings(every=timedelta(hours=1), refresh_cap=timedelta(days=7))

    at, _ = next_check(1, START, pages, stored_at=START, refresh_s=int("9" * 4000))

    assert at == START + 7 * DAY


def test_T43_a_check_that_came_too_soon_is_made_when_the_refresh_is_over() -> None:
    stored_at = START - 2 * HOUR

    at, why = next_check(1, START, PageSettings(), stored_at=stored_at, refresh_s=3 * 3600, too_soon=True)

    assert at == stored_at + 3 * HOUR
    assert "not over" in why


def test_T43_a_refresh_that_is_over_changes_nothing() -> None:
    with_refresh = next_check(1, START, PageSettings(), stored_at=START - DAY, refresh_s=60)

    assert with_refresh == next_check(1, START, PageSettings())


def test_a_cron_expression_is_read_in_the_instance_s_time_zone() -> None:
    now = micros(datetime(2026, 7, 1, 12, 0, tzinfo=UTC))

    at, why = next_check(1, now, PageSettings(cron="0 6 * * *"), time_zone="Europe/Vienna")

    assert 0 <= at - micros(datetime(2026, 7, 2, 6, 0, tzinfo=ZoneInfo("Europe/Vienna"))) <= 60 * SECOND
    assert why == "cron 0 6 * * *"


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)])
def test_a_cron_expression_keeps_its_local_hour_when_clocks_change(day: datetime) -> None:
    at, _ = next_check(3, micros(day), PageSettings(cron="0 6 * * *"), time_zone="Europe/Vienna")

    local = datetime.fromtimestamp(at / SECOND, ZoneInfo("Europe/Vienna"))
    assert (local.day, local.hour, local.minute) == (day.day + 1, 6, 0)


def test_an_hour_that_a_clock_change_leaves_out_is_not_lost() -> None:
    now = micros(datetime(2026, 3, 28, 12, tzinfo=UTC))

    at, _ = next_check(3, now, PageSettings(cron="30 2 * * *"), time_zone="Europe/Vienna")

    assert datetime.fromtimestamp(at / SECOND, UTC).date() == datetime(2026, 3, 29, tzinfo=UTC).date()


@pytest.mark.parametrize("minute", [0, 14, 45, 59])
def test_in_an_hour_that_a_clock_change_repeats_no_occasion_of_its_first_run_is_given(minute: int) -> None:
    # The second 02:00 to 02:59 of that night; 02:50 was due in the first one.
    now = micros(datetime(2026, 10, 25, 1, minute, tzinfo=UTC))

    at, _ = next_check(3, now, PageSettings(cron="50 2 * * *", min_gap=timedelta(0)), time_zone="Europe/Vienna")

    assert datetime.fromtimestamp(at / SECOND, UTC).date() == datetime(2026, 10, 26, tzinfo=UTC).date()


@given(st.integers(1, 10**6), st.integers(0, 86_400 * 400))
def test_each_occurrence_of_a_cron_expression_is_met_once(page_id: int, offset_s: int) -> None:
    pages = PageSettings(cron="*/10 * * * *", min_gap=timedelta(0))
    first, _ = next_check(page_id, START + offset_s * SECOND, pages)

    second, _ = next_check(page_id, first + SECOND // 3, pages)

    assert second - first == 600 * SECOND


def test_a_time_zone_that_does_not_exist_is_refused_with_the_mend() -> None:
    with pytest.raises(SettingsError, match="Europe/Vienna"):
        next_check(1, START, PageSettings(cron="0 6 * * *"), time_zone="Mars/Olympus")


DAY_S = 86_400.0
ADAPTIVE = PageSettings(adaptive=True)
SPANS = st.integers(60, 40 * 86_400).map(lambda seconds: timedelta(seconds=seconds))
PACES = st.one_of(
    st.none(),
    st.builds(
        lambda found, mean_s, dated, quiet_s: ChangePace(found + dated + 5, found, found * mean_s, dated, quiet_s),
        st.floats(0, 30), st.floats(60, 1e7), st.floats(0, 30), st.floats(0, 1e8),
    ),
)  # fmt: skip


def quiet(days: float) -> ChangePace:
    return ChangePace(checks=days, quiet_s=days * DAY_S)


def busy(a_day: float, checks: float = 40) -> ChangePace:
    return ChangePace(checks=checks, dated=checks * a_day, quiet_s=checks * DAY_S)


def adaptive_micros(span: timedelta) -> int:
    return span // timedelta(microseconds=1)


def test_without_adaptive_checking_nothing_that_is_known_matters() -> None:
    assert next_check(7, START, PageSettings(), pace=busy(9), fresh_s=5) == next_check(7, START, PageSettings())


def test_a_page_nobody_knows_is_checked_as_every_says() -> None:
    at, why = next_check(7, START, ADAPTIVE)

    assert DAY - DAY // 4 < at - START <= DAY
    assert why == "adaptive: nothing known yet; every 24h"


def test_the_reason_tells_what_was_found_and_what_follows() -> None:
    pace = ChangePace(checks=40.2, found=4.8, found_s=4.8 * DAY_S, quiet_s=20 * DAY_S)

    _, why = next_check(7, START, ADAPTIVE, pace=pace)

    assert why == "adaptive: changed in 5 of 40 checks, about every 4d; every 2d"


def test_a_page_that_never_changed_is_told_so() -> None:
    assert next_check(7, START, ADAPTIVE, pace=quiet(12))[1] == "adaptive: changed in 0 of 12 checks; every 5d"


@given(st.integers(1, 10**9), st.integers(0, 10**10), SPANS, SPANS, SPANS, PACES, st.one_of(st.none(), st.integers(1)))
def test_the_bounds_of_a_page_always_hold(
    page_id: int,
    now_s: int,
    every: timedelta,
    one: timedelta,
    other: timedelta,
    pace: ChangePace | None,
    fresh_s: int | None,
) -> None:
    least, most = min(one, other), max(one, other)
    pages = PageSettings(adaptive=True, every=every, every_min=least, every_max=most, min_gap=timedelta(0))
    now = now_s * SECOND

    at, _ = next_check(page_id, now, pages, pace=pace, fresh_s=fresh_s)

    assert adaptive_micros(least) <= at - now <= adaptive_micros(most)


@given(st.integers(1, 10**9), st.integers(0, 10**10), PACES)
def test_a_page_comes_at_exact_intervals_while_nothing_new_is_known(
    page_id: int, now_s: int, pace: ChangePace | None
) -> None:
    first, _ = next_check(page_id, now_s * SECOND, ADAPTIVE, pace=pace)
    second, _ = next_check(page_id, first, ADAPTIVE, pace=pace)
    third, _ = next_check(page_id, second + 2 * SECOND, ADAPTIVE, pace=pace)

    assert abs((third - second) - (second - first)) <= 8


@given(st.integers(1, 10**9), st.integers(1, 10**7))
def test_a_page_at_its_least_interval_comes_at_exactly_that(page_id: int, late_us: int) -> None:
    first, why = next_check(page_id, START, ADAPTIVE, pace=busy(5000))
    second, _ = next_check(page_id, first + late_us, ADAPTIVE, pace=busy(5000))

    assert why.endswith("every 60m, not more often")
    assert (first - START, second - first - late_us) == (HOUR, HOUR)


@given(st.floats(0.01, 20), st.floats(1.0, 10))
def test_more_changes_never_make_a_longer_interval(a_day: float, factor: float) -> None:
    seldom, often = (next_check(7, START, ADAPTIVE, pace=busy(rate))[0] for rate in (a_day, a_day * factor))

    assert often - START <= (seldom - START) * 1.3


def test_bounds_that_exclude_each_other_leave_the_longer_interval() -> None:
    pages = PageSettings(adaptive=True, every_min=timedelta(days=2), every_max=timedelta(hours=6))

    at, _ = next_check(7, START, pages, pace=busy(5))

    assert at - START == 2 * DAY


@pytest.mark.parametrize(("pace", "words"), [(busy(5000), "every 60m, not more often"), (quiet(9e3), "not less often")])
def test_a_bound_that_holds_is_told(pace: ChangePace, words: str) -> None:
    assert next_check(7, START, ADAPTIVE, pace=pace)[1].endswith(words)


def test_pages_that_came_together_once_drift_apart() -> None:
    times = {next_check(page, START, ADAPTIVE, pace=quiet(12))[0] // HOUR for page in range(1, 2000)}

    assert len(times) > 20


def test_neighbours_of_one_interval_come_one_after_the_other() -> None:
    times = [next_check(page, START, ADAPTIVE, pace=quiet(12))[0] for page in range(16, 32)]

    assert times == sorted(times)
    assert times[-1] - times[0] < HOUR


def test_a_server_that_says_how_long_its_answer_stays_true_is_believed() -> None:
    at, why = next_check(7, START, ADAPTIVE, pace=busy(100), fresh_s=12 * 3600)

    assert at - START == 12 * HOUR
    assert why.endswith("every 12h, as its server says")


def test_a_server_keeps_a_page_no_longer_than_every_says() -> None:
    at, _ = next_check(7, START, ADAPTIVE, pace=busy(100), fresh_s=10**9)

    assert at - START <= DAY


def test_a_server_makes_no_check_come_sooner() -> None:
    assert next_check(7, START, ADAPTIVE, pace=quiet(12), fresh_s=60) == next_check(7, START, ADAPTIVE, pace=quiet(12))


def test_a_cron_expression_takes_the_place_of_adaptive_checking() -> None:
    pages = PageSettings(adaptive=True, cron="0 6 * * *")

    assert next_check(7, START, pages, pace=busy(9)) == next_check(7, START, PageSettings(cron="0 6 * * *"))


def test_T21_no_adaptive_check_comes_sooner_than_the_gap_allows() -> None:
    pages = PageSettings(adaptive=True, every_min=timedelta(seconds=1), min_gap=timedelta(hours=40))

    assert next_check(7, START, pages, pace=busy(100))[0] == START + 40 * HOUR + 1


def test_T43_no_adaptive_check_comes_before_the_page_s_refresh_is_over() -> None:
    at, why = next_check(7, START, ADAPTIVE, pace=busy(100), stored_at=START, refresh_s=2 * 86_400)

    assert at == START + 2 * DAY
    assert "refresh" in why


def test_T43_an_adaptive_page_that_came_too_soon_is_due_when_its_refresh_is_over() -> None:
    at, _ = next_check(7, START, ADAPTIVE, pace=quiet(40), stored_at=START, refresh_s=600, too_soon=True)

    assert at == START + 600 * SECOND


def test_where_hosts_are_crowded_adaptive_pages_count_with_their_interval() -> None:
    assert interval_of(ADAPTIVE, START) == ADAPTIVE.every
