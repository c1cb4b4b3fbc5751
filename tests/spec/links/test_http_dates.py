from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.links.http_dates import read_http_date, to_text

MOMENT = datetime(1996, 8, 20, 14, 25, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "Tue, 20 Aug 1996 14:25:27 GMT",
        " tue, 20 AUG 1996 14:25:27 gmt\t",
        "Tuesday, 20-Aug-96 14:25:27 GMT",
        "Tue Aug 20 14:25:27 1996",
    ],
)
def test_LM17_each_of_the_three_forms_is_read(text: str) -> None:
    assert read_http_date(text) == MOMENT


def test_a_day_of_one_digit_is_padded_in_the_oldest_form() -> None:
    assert read_http_date("Thu Aug  1 00:00:00 1996") == datetime(1996, 8, 1, tzinfo=UTC)


@pytest.mark.parametrize(("year", "means"), [("70", 1970), ("99", 1999), ("00", 2000), ("69", 2069)])
def test_a_year_of_two_digits_has_its_century(year: str, means: int) -> None:
    moment = read_http_date(f"Sunday, 06-Nov-{year} 08:49:37 GMT")

    assert moment is not None
    assert moment.year == means


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "-1",
        "1996-08-20",
        "Tue, 20 Aug 1996 14:25:27",
        "Tue, 31 Feb 1996 14:25:27 GMT",
        "Tue, 20 Aug 1996 25:25:27 GMT",
        "Tue, 20 Aug 1996 14:25:61 GMT",
        "Tue, 20 Aug 0000 14:25:27 GMT",
        "Tue, 20 Aug 1996 14:25:27 CET",
    ],
)
def test_nothing_else_is_a_date(text: str) -> None:
    assert read_http_date(text) is None


def test_a_leap_second_is_the_one_before() -> None:
    assert read_http_date("Sat, 31 Dec 2016 23:59:60 GMT") == datetime(2016, 12, 31, 23, 59, 59, tzinfo=UTC)


@given(st.datetimes())
def test_what_is_written_can_be_read(moment: datetime) -> None:
    whole = moment.replace(microsecond=0, tzinfo=UTC)

    assert datetime.fromisoformat(to_text(whole)) == whole


@given(st.text())
def test_no_text_raises(text: str) -> None:
    read_http_date(text)
