from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.pages import tokens
from tocsin.spec.topper.dates import Instant, Interval, granularity, is_token, parse_token

YEAR_1 = datetime(1, 1, 1, tzinfo=UTC)
DAYS_OF_YEAR_0 = 366


def seconds_of(moment: datetime) -> int:
    since = moment - YEAR_1
    return (since.days + DAYS_OF_YEAR_0) * 86_400 + since.seconds


def interval_of(token: str) -> Interval:
    interval = parse_token(token)
    assert interval is not None, token
    return interval


@pytest.mark.parametrize(
    ("token", "start", "length_s"),
    [
        ("2014", datetime(2014, 1, 1, tzinfo=UTC), 365 * 86_400),
        ("2016", datetime(2016, 1, 1, tzinfo=UTC), 366 * 86_400),
        ("1900", datetime(1900, 1, 1, tzinfo=UTC), 365 * 86_400),
        ("2000", datetime(2000, 1, 1, tzinfo=UTC), 366 * 86_400),
        ("2014-02", datetime(2014, 2, 1, tzinfo=UTC), 28 * 86_400),
        ("2016-02", datetime(2016, 2, 1, tzinfo=UTC), 29 * 86_400),
        ("2014-12", datetime(2014, 12, 1, tzinfo=UTC), 31 * 86_400),
        ("2014-04", datetime(2014, 4, 1, tzinfo=UTC), 30 * 86_400),
        ("2014-03-05", datetime(2014, 3, 5, tzinfo=UTC), 86_400),
        ("2016-12-31", datetime(2016, 12, 31, tzinfo=UTC), 86_400),
        ("2014-03-05T10:20Z", datetime(2014, 3, 5, 10, 20, tzinfo=UTC), 60),
        ("2014-03-05T10:20:30Z", datetime(2014, 3, 5, 10, 20, 30, tzinfo=UTC), 1),
        ("2014-03-05T10:20+01:30", datetime(2014, 3, 5, 8, 50, tzinfo=UTC), 60),
        ("2014-03-05T10:20-01:30", datetime(2014, 3, 5, 11, 50, tzinfo=UTC), 60),
        ("2014-03-05T10:20-00:00", datetime(2014, 3, 5, 10, 20, tzinfo=UTC), 60),
        ("2014-03-05T00:00+23:59", datetime(2014, 3, 4, 0, 1, tzinfo=UTC), 60),
    ],
)
def test_T05_a_token_names_an_interval_as_long_as_its_granularity(token: str, start: datetime, length_s: int) -> None:
    begin = seconds_of(start)

    assert parse_token(token) == Interval(Instant(begin), Instant(begin + length_s))


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "14", "201", "12014", "+2014", "-2014", "2014-", "2014-1", "2014-00", "2014-13", "2014-13-01"),
        *("2014-01-00", "2014-01-32", "2014-02-29", "2014-02-30", "2014-04-31", "2014-06-31", "2014-09-31"),
        *("2014-11-31", "1900-02-29", "2014-1-01", "2014-01-1", "20140101", "2014-W01", "2014-001", "2014/01/01"),
        *("2014-01-01T10", "2014-01-01T10Z", "2014-01-01T10:00", "2014-01-01T24:00Z", "2014-01-01T25:00Z"),
        *("2014-01-01T10:60Z", "2014-01-01T10:00:60Z", "2014-01-01T10:30.5Z", "2014-01-01T10:00:00.Z"),
        *("2014-01-01T10:00:00,5Z", "2014-01-01t10:00Z", "2014-01-01T10:00z", "2014-01-01 10:00Z"),
        *("2014-01-01T10:00+0100", "2014-01-01T10:00+01", "2014-01-01T10:00+24:00", "2014-01-01T10:00+01:60"),
        *("2014-01-01T1:00Z", "2014-01-01T10:0Z", "2014-01-01T10:00:0Z", "2014-01-01T10:00Z+01:00", "2014-01-01Z"),
        *("2014 ", " 2014", "2014\n", "\u0662\u0660\u0661\u0664", "2014-01-01T10:00\u2212", "true", "2014-01T10:00Z"),
    ],
)
def test_T05_what_the_note_does_not_allow_is_no_token(text: str) -> None:
    assert parse_token(text) is None
    assert not is_token(text)


@pytest.mark.parametrize("month", [1, 3, 5, 7, 8, 10, 12])
def test_T05_long_months_have_a_31st(month: int) -> None:
    assert is_token(f"2014-{month:02}-31")


def test_T05_the_year_0_is_a_leap_year_and_the_first() -> None:
    assert interval_of("0000") == Interval(Instant(0), Instant(366 * 86_400))
    assert interval_of("0000-02-29").start == Instant((31 + 28) * 86_400)
    assert interval_of("0001").start == Instant(366 * 86_400)


def test_T05_an_offset_may_lead_before_the_year_0() -> None:
    assert interval_of("0000-01-01T00:00+01:00").start == Instant(-3600)


def test_T05_the_last_second_of_the_year_9999_ends() -> None:
    last = interval_of("9999-12-31T23:59:59Z")

    assert last.end == interval_of("9999").end == interval_of("9999-12-31").end
    assert last.end == Instant(seconds_of(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)) + 1)


@pytest.mark.parametrize(
    ("token", "start", "end"),
    [
        ("2014-03-05T10:20:30.5Z", "5", "6"),
        ("2014-03-05T10:20:30.50Z", "5", "51"),
        ("2014-03-05T10:20:30.0Z", "", "1"),
        ("2014-03-05T10:20:30.19Z", "19", "2"),
        ("2014-03-05T10:20:30.0999Z", "0999", "1"),
    ],
)
def test_T05_a_fraction_is_exact(token: str, start: str, end: str) -> None:
    second = interval_of("2014-03-05T10:20:30Z").start.seconds

    assert interval_of(token) == Interval(Instant(second, start), Instant(second, end))


def test_T05_a_fraction_of_nines_ends_with_its_second() -> None:
    assert interval_of("2014-03-05T10:20:30.99Z").end == interval_of("2014-03-05T10:20:30Z").end


def test_T05_a_fraction_of_any_length_never_overflows() -> None:
    digits = "9" * 20_000 + "8"

    found = interval_of(f"2014-03-05T10:20:30.{digits}Z")

    assert found.start < found.end
    assert found.end.fraction == "9" * 20_001


@given(tokens)
def test_T05_every_token_starts_before_it_ends(token: str) -> None:
    found = interval_of(token)

    assert found.start < found.end


@given(st.dates(), st.dates())
def test_T05_days_are_ordered_as_the_calendar_orders_them(one: date, other: date) -> None:
    assert (interval_of(str(one)) < interval_of(str(other))) == (one < other)


@given(st.dates())
def test_T05_a_day_ends_where_the_next_begins(day: date) -> None:
    start = interval_of(str(day)).start

    assert start.seconds == (day.toordinal() - 1 + DAYS_OF_YEAR_0) * 86_400
    assert interval_of(str(day)).end.seconds - start.seconds == 86_400


@given(st.text(max_size=30))
def test_T05_no_text_raises(text: str) -> None:
    parse_token(text)


@pytest.mark.parametrize(
    ("token", "rank"),
    [
        ("2014", 0),
        ("2014-01", 1),
        ("2014-01-02", 2),
        ("2014-01-02T03:04Z", 3),
        ("2014-01-02T03:04:05Z", 4),
        ("2014-01-02T03:04:05.6Z", 5),
        ("2014-01-02T03:04:05.67+01:00", 5),
    ],
)
def test_T05_there_are_six_granularities(token: str, rank: int) -> None:
    assert granularity(token) == rank


def test_granularity_refuses_what_is_no_token() -> None:
    with pytest.raises(ValueError, match=r"^'soon' is no date-time token; ask is_token first$"):
        granularity("soon")
