"""The vocabularies of contacts and events, and what breaks them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import calendar, pages, read, to_icalendar, to_vcard
from tocsin.spec.lint.vocabulary import find_card_faults, find_event_faults
from tocsin.spec.microdata.formats.icalendar import find_events
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.values import HCARD, VEVENT
from tocsin.spec.microdata.vocabulary import is_valid_geo, is_valid_rdate, is_valid_tz, parse_duration

if TYPE_CHECKING:
    from datetime import datetime

    from tocsin.spec.microdata.values import Microdata


NAMED = "<b itemprop=fn>A</b><b itemprop=n itemscope><i itemprop=given-name>A</i></b>"


def faults(html: str) -> list[str]:
    """The rules that a contact with a name and these properties breaks."""
    return [
        fault.rule for fault in find_card_faults(read(f"<div itemscope itemtype={HCARD}>{NAMED}{html}</div>").all[0])
    ]


@pytest.mark.parametrize(
    ("names", "rule"),
    [
        ("nickname mailer title role categories note sort-string", "VC-01"),
        ("tel email label", "VC-05"),
        ("org", "VC-14"),
    ],
)
def test_what_the_vocabulary_has_as_text_is_no_url(names: str, rule: str) -> None:
    for name in names.split():
        assert faults(f"<b itemprop={name}>x</b>") == []
        assert faults(f"<a itemprop={name} href=x>x</a>") == [rule]


@pytest.mark.parametrize(("names", "rule"), [("photo logo sound url", "VC-08"), ("impp", "VC-05")])
def test_what_the_vocabulary_has_as_a_url_is_no_text(names: str, rule: str) -> None:
    for name in names.split():
        assert faults(f"<a itemprop={name} href=x>x</a>") == []
        assert faults(f"<b itemprop={name}>x</b>") == [rule]


@pytest.mark.parametrize(
    ("names", "types"),
    [
        ("adr label", "dom intl postal parcel home work pref"),
        ("tel", "home msg work voice fax cell video pager bbs modem car isdn pcs pref"),
        ("email", "internet x400 pref"),
        ("impp", "personal business home work mobile pref"),
    ],
)
def test_VC04_every_type_of_the_text_is_one(names: str, types: str) -> None:
    written = "".join(f"<i itemprop=type>{one}</i>" for one in types.split())
    for name in names.split():
        value = (
            "" if name == "adr" else "<a itemprop=value href=x>x</a>" if name == "impp" else "<i itemprop=value>1</i>"
        )
        assert faults(f"<b itemprop={name} itemscope>{written}{value}</b>") == []
        assert faults(f"<b itemprop={name} itemscope><i itemprop=type>X400</i>{value}</b>") == ["VC-04"]


@pytest.mark.parametrize("text", ["+00:00", "-23:59", "+01:30"])
def test_VC06_a_time_zone_has_sign_hours_and_minutes(text: str) -> None:
    assert is_valid_tz(text)


@pytest.mark.parametrize(
    "text", ["01:00", "+1:00", "+24:00", "+00:60", "+0100", "Z", "", "+01:00\n", "+\u0660\u0661:00"]
)
def test_VC06_what_is_no_time_zone(text: str) -> None:
    assert not is_valid_tz(text)


@pytest.mark.parametrize("text", ["34.052339;-118.410623", "1;2", "+1.0;-2.0", "-0;+0"])
def test_VC07_a_position_is_latitude_and_longitude(text: str) -> None:
    assert is_valid_geo(text)


@pytest.mark.parametrize(
    "text", ["34.05,-118.4", "1.;2", ".5;2", "1;2;3", "1; 2", "1", "", "1;2\n", "\u0661;2", "1e3;2"]
)
def test_VC07_what_is_no_position(text: str) -> None:
    assert not is_valid_geo(text)


def test_VC22_a_contact_without_a_name_is_told_and_exported_all_the_same() -> None:
    page = read(f"<p itemscope itemtype={HCARD}><b itemprop=note>x</b>")

    faults = list(find_card_faults(page.all[0]))

    assert [(fault.rule, fault.problem.partition(":")[0]) for fault in faults] == [
        ("VC-01", "fn missing"),
        ("VC-01", "n missing"),
    ]
    assert "NOTE:x\r\n" in (to_vcard(page) or "")


def test_VC02_given_names_may_stand_more_than_once() -> None:
    html = "<b itemprop=fn>A B</b><p itemprop=n itemscope><b itemprop=given-name>A</b><b itemprop=given-name>B</b></p>"

    assert list(find_card_faults(read(f"<div itemscope itemtype={HCARD}>{html}</div>").all[0])) == []


def test_a_fault_stands_where_it_is_to_be_mended() -> None:
    html = "<p itemprop=tel itemscope><b itemprop=type>Work</b><b itemprop=value>1</b></p>"
    page = read(f"<div itemscope itemtype={HCARD}>{html}</div>")

    (fault,) = [one for one in find_card_faults(page.all[0]) if one.rule == "VC-04"]

    assert fault.at is page.all[1].properties[0]
    assert fault.value == "Work"


@given(pages())
def test_no_contact_raises(page: Microdata) -> None:
    for card in find_cards(page):
        assert all(fault.problem for fault in find_card_faults(card))


amounts = st.integers(0, 10**6)


def event_faults(html: str) -> list[str]:
    """The rules that an event breaks that has a start and these properties."""
    start = "<time itemprop=dtstart>2009-05-05</time>"
    page = read(f"<div itemscope itemtype={VEVENT}>{start}{html}</div>")
    return [fault.rule for fault in find_event_faults(page.all[0])]


@pytest.mark.parametrize(
    "name", ["categories", "comment", "description", "location", "resources", "summary", "contact"]
)
def test_IC01_what_the_vocabulary_has_as_text_is_no_url(name: str) -> None:
    assert event_faults(f"<b itemprop={name}>x</b>") == []
    assert event_faults(f"<a itemprop={name} href=x>x</a>") == ["IC-01"]


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
        assert event_faults(html) == []
        assert event_faults(2 * html) == (["IC-01"] if is_once else [])


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
