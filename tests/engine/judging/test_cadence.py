"""When a page is checked next (T21, T43, T63)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START
from tocsin.engine.judging.cadence import next_check
from tocsin.errors import SettingsError
from tocsin.settings import PageSettings

S = 1_000_000
HOUR = 3600 * S
DAY = 24 * HOUR


def micros(at: datetime) -> int:
    return int(at.timestamp()) * S


@given(st.integers(1, 10**9), st.integers(0, 10**10), st.integers(1, 10**8))
def test_T63_only_the_first_interval_is_shortened_and_none_is_longer(page_id: int, now_s: int, every_s: int) -> None:
    every = timedelta(seconds=every_s)
    pages = PageSettings(every=every, min_gap=timedelta(0))

    at, _ = next_check(page_id, now_s * S, pages)
    after, _ = next_check(page_id, at, pages)

    assert 0 < at - now_s * S <= every_s * S
    assert after == at + every_s * S


@given(st.integers(1, 10**9), st.integers(1, 10**6), st.floats(0, 0.999))
def test_T63_a_check_that_waited_for_its_host_does_not_delay_the_next_one(
    page_id: int, every_s: int, late: float
) -> None:
    pages = PageSettings(every=timedelta(seconds=every_s), min_gap=timedelta(0))
    due, _ = next_check(page_id, START, pages)

    after, _ = next_check(page_id, due + int(late * every_s * S), pages)

    assert after == due + every_s * S


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

    assert at == START + 10 * S + 1
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

    assert 0 <= at - micros(datetime(2026, 7, 2, 6, 0, tzinfo=ZoneInfo("Europe/Vienna"))) <= 60 * S
    assert why == "cron 0 6 * * *"


@pytest.mark.parametrize("day", [datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)])
def test_a_cron_expression_keeps_its_local_hour_when_clocks_change(day: datetime) -> None:
    at, _ = next_check(3, micros(day), PageSettings(cron="0 6 * * *"), time_zone="Europe/Vienna")

    local = datetime.fromtimestamp(at / S, ZoneInfo("Europe/Vienna"))
    assert (local.day, local.hour, local.minute) == (day.day + 1, 6, 0)


def test_an_hour_that_a_clock_change_leaves_out_is_not_lost() -> None:
    now = micros(datetime(2026, 3, 28, 12, tzinfo=UTC))

    at, _ = next_check(3, now, PageSettings(cron="30 2 * * *"), time_zone="Europe/Vienna")

    assert datetime.fromtimestamp(at / S, UTC).date() == datetime(2026, 3, 29, tzinfo=UTC).date()


@given(st.integers(1, 10**6), st.integers(0, 86_400 * 400))
def test_each_occurrence_of_a_cron_expression_is_met_once(page_id: int, offset_s: int) -> None:
    pages = PageSettings(cron="*/10 * * * *", min_gap=timedelta(0))
    first, _ = next_check(page_id, START + offset_s * S, pages)

    second, _ = next_check(page_id, first + S // 3, pages)

    assert second - first == 600 * S


def test_a_time_zone_that_does_not_exist_is_refused_with_the_mend() -> None:
    with pytest.raises(SettingsError, match="Europe/Vienna"):
        next_check(1, START, PageSettings(cron="0 6 * * *"), time_zone="Mars/Olympus")
