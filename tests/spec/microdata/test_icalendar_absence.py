"""What stands in no calendar is named, so that its author finds it."""

from __future__ import annotations

import pytest

from tests.spec.microdata.cards import NOW, PRODUCT, read
from tocsin.spec.microdata.to_icalendar import write_calendar
from tocsin.spec.microdata.values import VEVENT


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
