"""The checker on microdata, and the vocabularies of contacts and events."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.lint.broken import judge, levels, places
from tests.spec.microdata.cards import calendar, pages, read, to_icalendar, to_vcard
from tocsin.spec.html import marked
from tocsin.spec.lint import microdata
from tocsin.spec.lint.check import lint
from tocsin.spec.lint.microdata import place_items
from tocsin.spec.lint.page import open_page
from tocsin.spec.lint.vocabulary import find_card_faults, find_event_faults
from tocsin.spec.microdata.formats.icalendar import find_events
from tocsin.spec.microdata.formats.vcard import find_cards
from tocsin.spec.microdata.values import HCARD, VEVENT, WORK, Item, Microdata
from tocsin.spec.microdata.vocabulary import is_valid_geo, is_valid_rdate, is_valid_tz, parse_duration

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


_XHTML = "<html xmlns='http://www.w3.org/1999/xhtml' xmlns:s='http://www.w3.org/2000/svg'>"


def test_each_item_and_property_knows_its_place() -> None:
    text = "<!DOCTYPE html><p itemscope><b itemprop=a>x</b><i itemprop=b itemscope></i></p>"
    page = open_page(text.encode(), "text/html; charset=utf-8")
    assert page is not None

    placed = place_items(page)

    assert placed is not None
    shown = {
        "item" if isinstance(each, Item) else each.names[0]: text[slice(*element.span)]
        for each, element in placed.elements.items()
        if each is not placed.data.all[1]
    }
    assert shown == {"item": "<p itemscope>", "a": "<b itemprop=a>", "b": "<i itemprop=b itemscope>"}


def test_a_page_without_microdata_has_no_items_to_place() -> None:
    page = open_page(b"<!DOCTYPE html><p id=a lang=en>x", "text/html")
    assert page is not None

    assert place_items(page) is None


@pytest.mark.parametrize(
    ("page", "rule", "place"),
    [
        ("<!DOCTYPE html><p itemscope itemtype='b'>", "MD-03", 38),
        ("<!DOCTYPE html><p itemscope><b itemprop='x a:b'>", "MD-08", 43),
        ("<!DOCTYPE html><div itemscope itemref='a'><p id=a>", "MD-13", 39),
        ("<!DOCTYPE html>\r<p itemprop='x'>", "MD-15", 13),
        (f"<!DOCTYPE html><p itemscope itemtype='{WORK}'>", "WK-01", 38),
    ],
)
def test_a_finding_stands_where_the_author_looks(page: str, rule: str, place: int) -> None:
    assert places(rule, page) == [place]


@pytest.mark.parametrize(
    ("element", "rule"), [("<p itemscope itemtype=b>", "MD-03"), ("<p itemscope><b itemprop=a:b></b>", "MD-08")]
)
def test_a_fault_that_many_elements_have_is_told_of_each(element: str, rule: str) -> None:
    page = f"<!DOCTYPE html><p itemscope itemtype=urn:x:a><b itemprop=a></b>{element}{element}{element}"

    assert len(places(rule, page)) == 3


def test_a_type_of_no_item_is_judged_where_it_is_one() -> None:
    page = "<!DOCTYPE html><p itemtype=b><p itemscope itemtype=b>"

    assert (len(places("MD-02", page)), len(places("MD-03", page))) == (1, 1)


def test_in_xhtml_findings_stand_at_their_elements_too() -> None:
    body = (
        "<p itemprop='x'/><s:g itemprop='y' itemscope=''/><template><p itemprop='z'/></template>"
        "<p itemscope='' itemref='a'><b id='a'/></p>"
    )

    found = lint(f"{_XHTML}{body}</html>".encode(), "application/xhtml+xml")

    assert [(each.rule, each.column - 1 - len(_XHTML)) for each in found] == [
        ("MD-15", body.index("x'")),
        ("MD-13", body.index("a'><b")),
    ]


def test_what_xml_does_not_read_is_not_judged() -> None:
    found = lint(f"{_XHTML}<p itemscope=''/><p itemprop=></html>".encode(), "application/xhtml+xml")

    assert [each.rule for each in found] == ["CI-09"]


def test_elements_that_html_opens_again_are_told_where_they_are_written() -> None:
    assert places("MD-15", "<!DOCTYPE html><p><b itemprop=x>one<p>two") == [30]


def test_MD11_urls_and_dates_of_many_elements_are_told_once() -> None:
    metas = "<meta itemprop=image content=https://a.example/i.png><meta itemprop=day content=2026-11-21>" * 3
    found = [each.message for each in judge(f"<p itemscope>{metas}") if each.rule == "MD-11"]

    assert [message.count("(as are 2 more)") for message in found] == [1, 1]


def test_MD12_a_ring_of_items_names_two_of_them_and_stands_at_the_itemref_that_closes_it() -> None:
    page = (
        "<!DOCTYPE html><p itemscope itemref=b></p><p id=b itemscope itemprop=x itemref=in></p>"
        "<div id=in><div itemscope itemprop=y itemref=b></div></div>"
    )

    (found,) = (each for each in judge(page, "") if each.rule == "MD-12")

    assert found.message.startswith('"b" and "y" hold each other')
    assert places("MD-12", page) == [page.rindex("b>")]


def test_MD12_a_ring_that_an_item_within_another_closes_stands_at_its_itemref() -> None:
    page = (
        "<!DOCTYPE html><p itemscope itemref=c></p><b id=b itemscope itemprop=x><i id=c itemscope itemprop=y itemref=b>"
    )

    assert places("MD-12", page) == [page.rindex("b>")]


def test_MD12_items_that_all_hold_each_other_are_told_of_once_each() -> None:
    everyone = " ".join(f"i{number}" for number in range(9))
    items = "".join(
        f"<b id=i{number} itemscope itemprop=x itemref='{everyone.replace(f'i{number}', '')}'></b>"
        for number in range(9)
    )

    assert len(levels("MD-12", items)) == 8


def test_MD15_items_that_only_unused_ones_hold_are_unused() -> None:
    ring = "<p id=a itemscope itemprop=x itemref=b></p><p id=b itemscope itemprop=y itemref=a></p>"

    assert levels("MD-15", ring) == ["error", "error"]
    assert levels("MD-15", ring, "<p itemscope itemref=a></p>") == []


def test_MD15_of_a_page_that_was_read_in_part_nothing_is_called_unused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marked, "MOST_MARKS", 2)

    assert levels("MD-15", "<p itemprop=y></p><p itemscope></p><p itemscope><b itemprop=x></b></p>") == []


def test_elements_of_svg_carry_no_microdata_to_judge() -> None:
    assert judge("<svg itemprop='' itemtype=x itemscope=no></svg>") == ()


def test_names_of_a_work_may_be_urls_of_others() -> None:
    page = f"<p itemscope itemtype={WORK}><a itemprop='work http://a.example/x' href=y>x</a></p>"

    assert levels("WK-01", page) == []


@pytest.mark.parametrize(
    ("shared", "rule", "type_"),
    [
        ("<p id=a itemprop=adr itemscope><b itemprop=region>x</b><b itemprop=locality>x</b></p>", "VC-01", HCARD),
        ("<p id=a><b itemprop=title>x</b><b itemprop=license>x</b><b itemprop=author>x</b></p>", "WK-01", WORK),
    ],
)
def test_what_thousands_of_items_share_is_not_judged_for_each(
    shared: str, rule: str, type_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = f"{shared}<i itemscope itemtype={type_} itemref=a></i><i itemscope itemtype={type_} itemref=a></i>"
    both = set(places(rule, page))
    monkeypatch.setattr(microdata, "_MOST_PROPERTIES", 5)

    found = set(places(rule, page))

    assert found < both
    assert min(both) in found
