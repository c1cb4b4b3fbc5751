"""Calendars to the letter of the text; one example for each of its rules."""

from __future__ import annotations

import pytest

from tests.spec.microdata.cards import PRODUCT, calendar, event, read, to_icalendar
from tocsin.spec.microdata.values import VEVENT


def lines(html: str) -> list[str]:
    return event(html, "text")


def test_IC07_every_event_of_the_page_is_in_one_calendar() -> None:
    page = read(
        f"<title>Events</title><p itemscope itemtype={VEVENT}></p><p itemscope></p><p itemscope itemtype={VEVENT}></p>"
    )
    one = "BEGIN:VEVENT\r\nDTSTAMP;VALUE=DATE-TIME:20261121T082004Z\r\nEND:VEVENT\r\n"

    assert calendar(page, "text") == (
        f"BEGIN:VCALENDAR\r\nPRODID:{PRODUCT}\r\nVERSION:2.0\r\n{one}{one}END:VCALENDAR\r\n"
    )


def test_IC07_without_an_event_there_is_no_calendar() -> None:
    page = read("<p itemscope itemtype=https://a.example/event>")

    assert to_icalendar(page, profile="text") is None


def test_IC07_an_event_is_had_by_its_number() -> None:
    page = read("".join(f"<p itemscope itemtype={VEVENT} itemid=urn:x:{number}></p>" for number in (1, 2)))

    second = to_icalendar(page, profile="text", which=2) or ""

    assert "UID:urn:x:2" in second
    assert "UID:urn:x:1" not in second
    assert to_icalendar(page, which=3) is None


def test_IC08_a_global_identifier_is_resolved_and_follows_the_stamp() -> None:
    page = read(f"<p itemscope itemtype={VEVENT} itemid=ev/9,1><b itemprop=summary>S</b>")

    assert "082004Z\r\nUID:https://site.example/dir/ev/9\\,1\r\nSUMMARY:S\r\n" in calendar(page, "text")


def test_IC09_items_are_passed_over() -> None:
    assert lines("<p itemprop=location itemscope><b itemprop=x>y</b></p><p itemprop=summary>S</p>") == ["SUMMARY:S"]


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<time itemprop=dtstart datetime=2009-05-05>x</time>", ["DTSTART;VALUE=DATE:20090505"]),
        ("<time itemprop=dtstart datetime=2009-05-05T19:00Z>x</time>", ["DTSTART;VALUE=DATE-TIME:20090505T1900Z"]),
        ("<time itemprop=dtend>2009-05-05T19:00:00-04:00</time>", ["DTEND;VALUE=DATE-TIME:20090505T1900000400"]),
        ("<time itemprop=dtstart datetime=2009-05-05T19:00>x</time>", []),
        ("<time itemprop='dtstart x'>2009-05-05</time>", ["DTSTART;VALUE=DATE:20090505", "X;VALUE=DATE:20090505"]),
        ("<p itemprop=dtstart>2009-05-05</p>", ["DTSTART:2009-05-05"]),
    ],
)
def test_IC10_time_elements_lose_their_hyphens_and_colons(html: str, written: list[str]) -> None:
    assert lines(html) == written


def test_IC11_all_else_is_text_by_whatever_name() -> None:
    html = "<p itemprop='geo a:b'>50.1;-1.2</p><a itemprop=url href='/a,b'>x</a>"

    assert lines(html) == ["GEO:50.1\\;-1.2", "A:B:50.1\\;-1.2", "URL:https://site.example/a\\,b"]


def test_IC12_lines_are_escaped_and_folded_as_those_of_cards() -> None:
    assert lines(f"<p itemprop=summary>a,\\\n{'x' * 80}</p>") == ["SUMMARY:a\\,\\\\\\n" + "x" * 60, " " + "x" * 20]


def test_IC06_a_line_end_in_a_summary_is_kept_in_a_calendar() -> None:
    assert event("<p itemprop=summary>a\nb</p>") == lines("<p itemprop=summary>a\nb</p>") == ["SUMMARY:a\\nb"]
