"""Dates and times as pages write them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import card, event
from tocsin.spec.infrastructure.datetimes import TimeForm, read_form
from tocsin.spec.microdata.formats.content_lines import normalise


@pytest.mark.parametrize(
    ("text", "is_meant"),
    [
        ("2026-05-05T19:30:00+02:00", "2026-05-05T19:30:00+02:00"),
        ("2026-05-05T19:30:00+0200", "2026-05-05T19:30:00+02:00"),
        ("2026-05-05T19:30-0930", "2026-05-05T19:30:00-09:30"),
        ("2026-05-05 19:30Z", "2026-05-05T19:30:00Z"),
        ("2026-05-05T19:30:00.250Z", "2026-05-05T19:30:00.250Z"),
        ("2026-05-05t19:30:00z", "2026-05-05T19:30:00Z"),
        ("20260505T193000Z", "2026-05-05T19:30:00Z"),
        ("20260505T1930-0500", "2026-05-05T19:30:00-05:00"),
        ("2026-05-05  19:30 +02:00", "2026-05-05T19:30:00+02:00"),
        ("2026-05-05 T 19:30", "2026-05-05T19:30:00"),
        ("2026-05-05", "2026-05-05"),
        ("20260505", "2026-05-05"),
    ],
)
def test_a_date_is_read_as_pages_of_today_write_it(text: str, is_meant: str) -> None:
    assert normalise(text) == is_meant


@pytest.mark.parametrize(
    "text",
    [
        *("", "soon", "2026", "2026-05", "2026-02-30", "0000-01-01", "2026-0505", "202605-05", "12026-05-05", "19:30"),
        *("2026-05-05T24:00Z", "2026-05-05T19:60Z", "2026-05-05T19:30:60Z", "2026-05-05T19:30+24:00", "2026-05-05T"),
        *("2026-05-05T19:30+2", "2026-05-05T19:30+02:60", "2026-05-05T19Z", "2026-05-05Z", "2026050519:30Z"),
        *("2026-05-05T19:30Z\n", "\uff12026-05-05", "2026-05-05T19:30:00,5Z", "2026-05-05T19:30:.5Z"),
    ],
)
def test_what_is_no_date_is_none(text: str) -> None:
    assert normalise(text) is None


@given(
    st.from_regex(
        r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]([T ][0-2][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,3})?)?"
        r"(Z|[+-][0-2][0-9]:?[0-5][0-9])?)?",
        fullmatch=True,
    )
)
def test_whatever_date_html_has_today_is_read_and_no_other_day(text: str) -> None:
    # An offset of zero with a minus is none of HTML, and meant for one.
    is_one = read_form(re.sub("-(00:?00)$", r"+\1", text)) in {TimeForm.DATE, TimeForm.LOCAL, TimeForm.GLOBAL}

    assert (normalise(text) is not None) is is_one


@given(st.text(max_size=40))
def test_no_text_is_too_odd_to_be_read(text: str) -> None:
    found = normalise(text)

    assert found is None or normalise(found) == found


def test_an_event_whose_offset_has_no_colon_stands_in_the_calendar() -> None:
    assert event(
        "<time itemprop=dtstart datetime=2026-05-05T19:30:00+0200>x</time>"
        "<time itemprop=dtend datetime='2026-05-05 22:00+0200'>x</time>"
        "<p itemprop=created>20260101T000000Z</p><p itemprop=rdate>20260506T173000Z/PT1H</p>"
    ) == [
        "DTSTART;VALUE=DATE-TIME:20260505T173000Z",
        "DTEND;VALUE=DATE-TIME:20260505T200000Z",
        "CREATED;VALUE=DATE-TIME:20260101T000000Z",
        "RDATE;VALUE=PERIOD:20260506T173000Z/PT1H",
    ]


def test_to_the_letter_of_the_text_such_an_offset_is_none() -> None:
    time = "<time itemprop=dtstart datetime=2026-05-05T19:30:00+0200>x</time>"

    assert event(time, "text") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("2008-07-20T21:00:00+0100", "REV;VALUE=DATE-TIME:2008-07-20T21:00:00+01:00"),
        ("2008-07-20 21:00Z", "REV;VALUE=DATE-TIME:2008-07-20T21:00:00Z"),
        ("20080720", "REV;VALUE=DATE:2008-07-20"),
    ],
)
def test_the_dates_of_a_contact_are_read_so_too(text: str, line: str) -> None:
    assert line in card(f"<p itemprop=rev>{text}</p>")
