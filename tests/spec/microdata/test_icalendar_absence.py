"""What stands in no calendar is named, so that its author finds it."""

from __future__ import annotations

import pytest

from tests.spec.microdata.cards import NOW, PRODUCT, read
from tocsin.spec.microdata.formats.icalendar import write_calendar
from tocsin.spec.microdata.formats.vcard import write_cards
from tocsin.spec.microdata.values import HCARD, VEVENT


def problems(*events: str) -> tuple[str, ...]:
    """What is said to be left out of the calendar of events with these properties."""
    page = read("".join(f"<div itemscope itemtype={VEVENT}>{html}</div>" for html in events))
    return write_calendar(page, now=NOW, product=PRODUCT).problems


DATED = "<p itemprop=dtstart>2009-05-05</p>"


@pytest.mark.parametrize(
    ("html", "told"),
    [
        ("", "event 2"),
        ("<p itemprop=summary> Jazz\n night </p>", 'event 2 "Jazz night"'),
        (
            "<p itemprop=summary>Jazz</p><p itemprop=dtstart>2026-02-30</p>",
            'event 2 "Jazz" (dtstart "2026-02-30" is no date)',
        ),
        ("<p itemprop=DTSTART>1. Juni</p>", 'event 2 (dtstart "1. Juni" is no date)'),
        (f"<p itemprop=summary>{'x' * 61}</p>", f'event 2 "{"x" * 60}…"'),
        ("<p itemprop=summary>a\x1b[31m&#x202E;b</p>", 'event 2 "a\ufffd[31m\ufffdb"'),
    ],
)
def test_an_event_without_a_date_is_named(html: str, told: str) -> None:
    assert problems(DATED, html) == (f"1 event without a date is left out: {told}",)


def test_of_many_events_without_a_date_the_first_are_named() -> None:
    assert problems(*["<p itemprop=summary>Jazz</p>"] * 1005) == (
        '1,005 events without a date are left out: event 1 "Jazz", event 2 "Jazz", event 3 "Jazz", and 1,002 more',
    )


@pytest.mark.parametrize(
    ("html", "named"),
    [
        ("<p itemprop=organizer>Ann</p><p itemprop=organizer itemscope></p>", "organizer (2)"),
        ("<p itemprop=Location itemscope></p><p itemprop=geo>north</p>", "geo, location"),
        ("<p itemprop=dtend>2009-05-04</p><p itemprop=status>maybe</p>", "dtend, status"),
        (
            "".join(f"<p itemprop=x{at} itemscope></p>" for at in range(10)),
            "x0, x1, x2, x3, x4, x5, x6, x7, and 2 more",
        ),
    ],
)
def test_values_that_no_calendar_takes_are_named_by_their_properties(html: str, named: str) -> None:
    assert problems(DATED + html) == (f"values that calendars do not take are left out: {named}",)


@pytest.mark.parametrize(
    "html",
    [
        *("<p itemprop=organizer> </p>", "<a itemprop=organizer href=mailto:a@b.example>x</a>", "<p itemprop=x>y</p>"),
        *("<p itemprop=summary>a</p><p itemprop=summary>b</p>", "<p itemprop='a.b begin'>x</p>"),
    ],
)
def test_where_every_value_is_taken_nothing_is_said(html: str) -> None:
    assert problems(DATED + html) == ()


def test_to_the_letter_nothing_is_left_out() -> None:
    page = read(f"<div itemscope itemtype={VEVENT}><p itemprop=geo>north</p><p itemprop=location itemscope></p></div>")

    assert write_calendar(page, profile="text", now=NOW, product=PRODUCT).problems == ()


def test_values_that_no_address_book_takes_are_named_by_their_properties() -> None:
    page = read(
        f"<div itemscope itemtype={HCARD}><p itemprop=fn>Ann</p><p itemprop=bday>May</p><a itemprop=url>x</a>"
        "<p itemprop=photo>me.png</p><a itemprop=x-a href=javascript:x>x</a></div>"
    )

    assert write_cards(page).problems == ("values that address books do not take are left out: bday, photo, x-a",)
    assert write_cards(page, profile="text").problems == ()
