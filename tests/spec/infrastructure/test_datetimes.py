from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.microsyntax import ZS
from tocsin.spec.infrastructure.datetimes import (
    ClockTime,
    Moment,
    TimeForm,
    VagueMoment,
    days_in_month,
    is_living_datetime,
    is_living_moment,
    is_valid_date,
    is_valid_global,
    parse_datetime,
    parse_vague,
    read_form,
)

MANY = 100_000


@pytest.mark.parametrize(
    ("year", "days"),
    [("2023", 28), ("2024", 29), ("1800", 28), ("1600", 29), ("0000", 29), ("12400", 29), ("12500", 28)],
)
def test_DT01_february_follows_the_gregorian_rule_in_years_of_any_length(year: str, days: int) -> None:
    assert days_in_month(year, 2) == days


def test_DT01_each_month_has_its_days() -> None:
    days = [days_in_month("2023", month) for month in range(1, 13)]

    assert days == [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]


@pytest.mark.parametrize(
    ("text", "utc", "offset"),
    [
        ("2019-05-06T07:08Z", "2019-05-06T07:08:00Z", 0),
        ("2019-05-06 07:08:09.120 Z", "2019-05-06T07:08:09.12Z", 0),
        ("2019-05-06\t\n T \r\f07:08:09\t-10:30", "2019-05-06T17:38:09Z", -630),
        ("2019-05-06T07:08:09.000+00:00", "2019-05-06T07:08:09Z", 0),
        ("2020-03-01T00:30+01:00", "2020-02-29T23:30:00Z", 60),
        ("0000-01-01T00:00+00:01", "-0001-12-31T23:59:00Z", 1),
        ("9999-12-31T23:59:59.9-00:01", "10000-01-01T00:00:59.9Z", -1),
    ],
)
def test_DT03_a_moment_is_told_in_utc_with_its_offset(text: str, utc: str, offset: int) -> None:
    assert parse_datetime(text) == Moment(utc, offset)


@pytest.mark.parametrize(
    "text",
    [
        "2019-05-06",
        "2019-05-06T07:08",
        "2019-02-29T07:08Z",
        "2019-05-00T07:08Z",
        "19-05-06T07:08Z",
        "02019-05-06T07:08Z",
        "2019-05-06T7:08Z",
        "2019-05-06T24:00Z",
        "2019-05-06T07:08:60Z",
        "2019-05-06T07:08:009Z",
        "2019-05-06T07:08:09.Z",
        "2019-05-06T07:08:0.9Z",
        "2019-05-06T07:08:09.1.2Z",
        "2019-05-06T T07:08Z",
        "2019-05-0607:08Z",
        "2019-05-06\u00a007:08Z",
        "2019-05-06T07:08+0100",
        "2019-05-06T07:08+24:00",
        "2019-05-06T07:08Z\n",
        "\u0662019-05-06T07:08Z",
        "",
    ],
)
def test_DT02_to_DT05_what_leaves_the_grammar_is_no_moment(text: str) -> None:
    assert parse_datetime(text) is None


moments = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001 - hypothesis asks for bounds without a zone
    max_value=datetime(9998, 1, 1),  # noqa: DTZ001 - the same
    timezones=st.integers(-1439, 1439).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@given(moments)
def test_DT03_what_python_writes_is_read_as_the_same_moment(moment: datetime) -> None:
    found = parse_datetime(moment.isoformat())

    assert found is not None
    assert datetime.fromisoformat(found.utc) == moment
    assert datetime.fromisoformat(found.utc).tzinfo == UTC
    assert timedelta(minutes=found.offset_minutes) == moment.utcoffset()


def test_NUM02_space_separators_are_those_of_unicode() -> None:
    assert set(ZS) == {chr(code) for code in range(0x11_0000) if unicodedata.category(chr(code)) == "Zs"}


def time(hour: int, minute: int, second: str = "0") -> ClockTime:
    return ClockTime(hour, minute, Decimal(second))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2019-05-06", VagueMoment(valid=True, date="2019-05-06")),
        ("0000-01-01", VagueMoment(valid=True, date="0000-01-01")),
        ("2019-12-31", VagueMoment(valid=True, date="2019-12-31")),
        (" 2019-05-06 ", VagueMoment(valid=True, date="2019-05-06")),
        ("07:08", VagueMoment(valid=True, time=time(7, 8))),
        ("07:08:09.50 ", VagueMoment(valid=True, time=time(7, 8, "9.5"))),
        ("07:08:9", VagueMoment(valid=True, time=time(7, 8, "9"))),
        ("2019-05-06 07:08", VagueMoment(valid=True, date="2019-05-06", time=time(7, 8))),
        ("2019-05-06 T 07:08 Z ", VagueMoment(valid=True, date="2019-05-06", time=time(7, 8), offset_minutes=0)),
        (
            "2019-05-06T07:08:01-01:30",
            VagueMoment(valid=True, date="2019-05-06", time=time(7, 8, "1"), offset_minutes=-90),
        ),
        ("2019-5-6", VagueMoment(valid=False, date="2019-05-06")),
        ("19-005-06", VagueMoment(valid=False, date="0019-05-06")),
        ("002019-05-06", VagueMoment(valid=False, date="2019-05-06")),
        ("12019-05-06", VagueMoment(valid=False, date="12019-05-06")),
        ("7:8", VagueMoment(valid=False, time=time(7, 8))),
        ("07:08:.5", VagueMoment(valid=False, time=time(7, 8, "0.5"))),
        ("2019-05-06T", VagueMoment(valid=False, date="2019-05-06")),
        ("2019-05-06T07", VagueMoment(valid=False, date="2019-05-06")),
        ("2019-05-06T07:08:1.2.3", VagueMoment(valid=False, date="2019-05-06")),
        ("2019-05-06T07:08:.", VagueMoment(valid=False, date="2019-05-06")),
        ("2019-05-06T07:08:", VagueMoment(valid=False, date="2019-05-06")),
        ("2019-05-06T07:08+1:00", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8), offset_minutes=60)),
        ("2019-05-06T07:08+01", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8))),
        ("2019-05-06T07:08+01:60", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8))),
        ("2019-05-06T07:08 x", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8))),
        ("07:08 x", VagueMoment(valid=False, time=time(7, 8))),
        ("2019-05-06T07:08ZZ", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8), offset_minutes=0)),
        ("2019-00-06", VagueMoment(valid=False)),
        ("2019-02-29", VagueMoment(valid=False)),
        ("2019-05:06", VagueMoment(valid=False)),
        ("2019-13-06", VagueMoment(valid=False)),
        ("2019-06-00", VagueMoment(valid=False)),
        ("00:00:00", VagueMoment(valid=True, time=time(0, 0))),
        ("23:59:59.999", VagueMoment(valid=True, time=time(23, 59, "59.999"))),
        ("24:00", VagueMoment(valid=False)),
        ("07:60", VagueMoment(valid=False)),
        ("07:08:60", VagueMoment(valid=False)),
        ("2019-05-06T07:08+00:00", VagueMoment(valid=True, date="2019-05-06", time=time(7, 8), offset_minutes=0)),
        ("2019-05-06T07:08-23:59", VagueMoment(valid=True, date="2019-05-06", time=time(7, 8), offset_minutes=-1439)),
        ("2019-05-06T07:08+24:00", VagueMoment(valid=False, date="2019-05-06", time=time(7, 8))),
        ("2019", VagueMoment(valid=False)),
        ("soon", VagueMoment(valid=False)),
        ("", VagueMoment(valid=False)),
    ],
)
def test_DT06_to_DT08_what_was_read_is_given_though_the_text_is_invalid(text: str, expected: VagueMoment) -> None:
    assert parse_vague(text, "content") == parse_vague(text, "attribute") == expected


@pytest.mark.parametrize(("space", "in_content", "in_attribute"), [("\u3000", True, False), ("\n", False, True)])
def test_DT06_content_and_attributes_skip_other_spaces(space: str, *, in_content: bool, in_attribute: bool) -> None:
    text = f"{space}2019-05-06{space}07:08{space}Z{space}"

    assert parse_vague(text, "content").valid is in_content
    assert parse_vague(text, "attribute").valid is in_attribute


@pytest.mark.parametrize("text", ["0001-01-01", "2020-02-29", "99999-12-31", f"{'1' * MANY}-01-01"])
def test_DT09_a_valid_date_has_a_year_of_four_digits_or_more(text: str) -> None:
    assert is_valid_date(text)


@pytest.mark.parametrize(
    "text", ["0000-01-01", "00000-01-01", "999-01-01", "2019-02-29", "2019-1-1", "2019-01-01 ", "2019-01"]
)
def test_DT09_other_dates_are_not_valid(text: str) -> None:
    assert not is_valid_date(text)
    assert not is_valid_global(f"{text}T10:00Z")


@pytest.mark.parametrize("time_", ["10:00Z", "23:59:59.1234Z", "10:00:00+23:59", "10:00-00:00"])
def test_DT09_a_valid_global_date_and_time_has_a_t_and_a_zone(time_: str) -> None:
    assert is_valid_global(f"2019-05-06T{time_}")
    assert not is_valid_global(f"2019-05-06 {time_}")


@pytest.mark.parametrize("time_", ["10:00", "10Z", "10:00z", "10:00+0100", "10:00:60Z", "10:00:00.Z", "1:00Z"])
def test_DT09_other_times_are_not_valid(time_: str) -> None:
    assert not is_valid_global(f"2019-05-06T{time_}")


texts = st.text(st.sampled_from("0123456789-:.TZ+ \t\u00a0") | st.characters())


@given(texts)
def test_DT03_every_moment_is_also_a_valid_vague_one(text: str) -> None:
    moment = parse_datetime(text)
    vague = parse_vague(text, "attribute")

    assert moment is None or (vague.valid and vague.offset_minutes == moment.offset_minutes)


@pytest.mark.parametrize("text", ["1" * MANY, f"{'1' * MANY}-{'0' * MANY}1-01", f"07:08:{'1' * MANY}", "." * MANY])
def test_digits_without_end_are_read_and_nothing_overflows(text: str) -> None:
    assert parse_datetime(text) is None
    assert not parse_vague(text, "content").valid


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2019", TimeForm.YEAR),
        ("12019", TimeForm.YEAR),
        ("2019-05", TimeForm.MONTH),
        ("2019-05-06", TimeForm.DATE),
        ("02-29", TimeForm.YEARLESS_DATE),
        ("--12-31", TimeForm.YEARLESS_DATE),
        ("2020-W53", TimeForm.WEEK),
        ("2019-W01", TimeForm.WEEK),
        ("07:08", TimeForm.TIME),
        ("07:08:09.123", TimeForm.TIME),
        ("2019-05-06T07:08", TimeForm.LOCAL),
        ("2019-05-06 07:08:09", TimeForm.LOCAL),
        ("2019-05-06T07:08Z", TimeForm.GLOBAL),
        ("2019-05-06 07:08:09.1+0100", TimeForm.GLOBAL),
        ("2019-05-06T07:08-11:30", TimeForm.GLOBAL),
        ("Z", TimeForm.OFFSET),
        ("+00:00", TimeForm.OFFSET),
        ("-0330", TimeForm.OFFSET),
        ("P1D", TimeForm.DURATION),
        ("PT1H2M3.5S", TimeForm.DURATION),
        ("P1DT3S", TimeForm.DURATION),
        ("1w 2d 3h 4m 5.123s", TimeForm.DURATION),
        (" 90 M\n", TimeForm.DURATION),
        ("3s1H", TimeForm.DURATION),
    ],
)
def test_DT09_the_forms_of_today_are_told_apart(text: str, form: TimeForm) -> None:
    assert read_form(text) is form
    assert is_living_datetime(text)
    assert is_living_moment(text) is (form in (TimeForm.DATE, TimeForm.GLOBAL))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "219",
        "0000",
        "0000-05",
        "2019-13",
        "2019-02-29",
        "02-30",
        "-05-06",
        "2019-W53",
        "2019-W00",
        "2019-W1",
        "0000-W01",
        "24:00",
        "07:08:60",
        "07:08:09.1234",
        "2019-05-06t07:08",
        "2019-05-06  07:08",
        "2019-05-06T07:08-00:00",
        "-0000",
        "+1:00",
        "+24:00",
        " 2019-05-06",
        "P",
        "PT",
        "P1DT",
        "P1W",
        "P1H",
        "PT1.5H",
        "1d 2d",
        "1x",
        "1.5m",
        "1d,2h",
        "1d soon",
        " ",
    ],
)
def test_what_html_does_not_know_is_no_date_today(text: str) -> None:
    assert read_form(text) is None


@given(st.dates(min_value=date(1, 1, 1)))
def test_every_day_of_the_calendar_lies_in_a_valid_week(day: date) -> None:
    year, week, _ = day.isocalendar()

    assert read_form(f"{year:04}-W{week:02}") is TimeForm.WEEK


@given(st.text(st.sampled_from("0123456789-:.TWZPDHMSdhms+ ") | st.characters()))
def test_a_valid_date_of_the_text_is_one_of_today(text: str) -> None:
    assert is_valid_date(text) == (read_form(text) is TimeForm.DATE)
