from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.infrastructure.datetimes import Form, is_living_datetime, is_living_moment, is_valid_date, read_form


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("2019", Form.YEAR),
        ("12019", Form.YEAR),
        ("2019-05", Form.MONTH),
        ("2019-05-06", Form.DATE),
        ("02-29", Form.YEARLESS_DATE),
        ("--12-31", Form.YEARLESS_DATE),
        ("2020-W53", Form.WEEK),
        ("2019-W01", Form.WEEK),
        ("07:08", Form.TIME),
        ("07:08:09.123", Form.TIME),
        ("2019-05-06T07:08", Form.LOCAL),
        ("2019-05-06 07:08:09", Form.LOCAL),
        ("2019-05-06T07:08Z", Form.GLOBAL),
        ("2019-05-06 07:08:09.1+0100", Form.GLOBAL),
        ("2019-05-06T07:08-11:30", Form.GLOBAL),
        ("Z", Form.OFFSET),
        ("+00:00", Form.OFFSET),
        ("-0330", Form.OFFSET),
        ("P1D", Form.DURATION),
        ("PT1H2M3.5S", Form.DURATION),
        ("P1DT3S", Form.DURATION),
        ("1w 2d 3h 4m 5.123s", Form.DURATION),
        (" 90 M\n", Form.DURATION),
        ("3s1H", Form.DURATION),
    ],
)
def test_DT09_the_forms_of_today_are_told_apart(text: str, form: Form) -> None:
    assert read_form(text) is form
    assert is_living_datetime(text)
    assert is_living_moment(text) is (form in (Form.DATE, Form.GLOBAL))


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

    assert read_form(f"{year:04}-W{week:02}") is Form.WEEK


@given(st.text(st.sampled_from("0123456789-:.TWZPDHMSdhms+ ") | st.characters()))
def test_a_valid_date_of_the_text_is_one_of_today(text: str) -> None:
    assert is_valid_date(text) == (read_form(text) is Form.DATE)
