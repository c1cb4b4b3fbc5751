from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import calendar, pages, read, to_icalendar
from tocsin.spec.lint.vocabulary import find_event_faults
from tocsin.spec.microdata.formats.icalendar import find_events
from tocsin.spec.microdata.values import VEVENT
from tocsin.spec.microdata.vocabulary import is_valid_rdate, parse_duration

if TYPE_CHECKING:
    from datetime import datetime

    from tocsin.spec.microdata.values import Microdata

amounts = st.integers(0, 10**6)


def faults(html: str) -> list[str]:
    """The rules that an event breaks that has a start and these properties."""
    start = "<time itemprop=dtstart>2009-05-05</time>"
    page = read(f"<div itemscope itemtype={VEVENT}>{start}{html}</div>")
    return [fault.rule for fault in find_event_faults(page.all[0])]


@pytest.mark.parametrize(
    "name", ["categories", "comment", "description", "location", "resources", "summary", "contact"]
)
def test_IC01_what_the_vocabulary_has_as_text_is_no_url(name: str) -> None:
    assert faults(f"<b itemprop={name}>x</b>") == []
    assert faults(f"<a itemprop={name} href=x>x</a>") == ["IC-01"]


@pytest.mark.parametrize(
    ("names", "value", "is_once"),
    [
        ("attach", "https://a.example/", False),
        ("url", "https://a.example/", True),
        ("categories comment resources contact", "x", False),
        ("description location summary", "x", True),
        ("exrule rrule", "FREQ=DAILY", False),
        ("exdate rdate", "2009-05-06", False),
        ("dtend", "2009-05-06", True),
        ("created last-modified", "2009-05-05T19:00Z", True),
        *(("duration", "P1D", True), ("geo", "1;2", True), ("sequence", "1", True)),
        *(("class", word, True) for word in ("public", "private", "confidential")),
        *(("status", word, True) for word in ("tentative", "confirmed", "cancelled")),
        *(("transp", word, True) for word in ("opaque", "transparent")),
    ],
)
def test_IC01_some_properties_stand_once_and_others_often(names: str, value: str, is_once: bool) -> None:  # noqa: FBT001 - a table's column
    for name in names.split():
        html = f"<b itemprop={name}>{value}</b>"
        assert faults(html) == []
        assert faults(2 * html) == (["IC-01"] if is_once else [])


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("P2W", 1_209_600), ("P1D", 86_400), ("PT2H", 7_200), ("PT3M", 180), ("PT4S", 4), ("P1DT4S", 86_404)),
        *(("PT1H1M", 3_660), ("PT1M1S", 61), ("PT1H1M1S", 3_661), ("P001D", 86_400), ("P0D", 0)),
    ],
)
def test_IC03_a_duration_is_the_sum_of_its_parts(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("P", "PT", "P1DT", "P1WT1H", "P1W1D", "PT1H1S", "1D", "P1D ", " P1D", "PT1.5H", "-PT1H", "+P1D", "p1d"),
        *("P1H", "PT1D", "P1M", "P1Y", "PT1S1M", "", "P1D\n", "P\u0661D", "P" + "9" * 5000 + "D"),
    ],
)
def test_IC03_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@given(amounts, amounts, amounts, amounts)
def test_IC03_days_and_a_time_are_counted_together(days: int, hours: int, minutes: int, seconds: int) -> None:
    assert (
        parse_duration(f"P{days}DT{hours}H{minutes}M{seconds}S") == ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    )


@pytest.mark.parametrize(
    "text",
    [
        *(
            "2009-05-05",
            "2009-05-05T19:00:00Z",
            "2009-05-05T19:00:00Z/PT1H",
            "2009-05-05T19:00Z/2009-05-05T20:30+01:00",
        ),
        *("2009-05-05T19:00:00.5Z/2009-05-05T19:00:00.6Z", "2009-12-31T23:30Z/2010-01-01T00:00Z"),
    ],
)
def test_IC04_an_event_recurs_at_dates_moments_and_spans(text: str) -> None:
    assert is_valid_rdate(text)


@pytest.mark.parametrize(
    "text",
    [
        *("2009-05", "2009-05-05/P1D", "2009-05-05T19:00Z/", "2009-05-05T19:00Z/2009-05-05T20:00+01:00", "/PT1H", ""),
        *("2009-05-05T19:00Z/PT1H/PT1H", "2009-05-05T19:00/PT1H", "2009-05-05T19:00Z/2009-05-06"),
    ],
)
def test_IC04_and_at_nothing_else(text: str) -> None:
    assert not is_valid_rdate(text)


@given(st.datetimes(), st.datetimes(), st.sampled_from(["Z", "+01:00", "-12:30"]))
def test_IC04_a_span_ends_later_than_it_starts(start: datetime, end: datetime, zone: str) -> None:
    written = f"{start.isoformat()}{zone}/{end.isoformat()}{zone}"

    assert is_valid_rdate(written) is (end > start)


def test_VC22_an_event_without_a_start_is_told_and_kept_by_the_letter_alone() -> None:
    page = read(f"<p itemscope itemtype={VEVENT}><b itemprop=summary>x</b>")

    assert [(fault.rule, fault.problem[:15]) for fault in find_event_faults(page.all[0])] == [
        ("IC-01", "dtstart missing")
    ]
    assert "SUMMARY:x\r\n" in calendar(page, "text")
    assert to_icalendar(page) is None


@given(pages())
def test_no_event_raises(page: Microdata) -> None:
    for event in find_events(page):
        assert all(fault.problem for fault in find_event_faults(event))
