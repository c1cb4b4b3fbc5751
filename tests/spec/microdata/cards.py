"""Pages with contacts and events for the tests, and microdata of any shape for their laws."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

import icalendar
import vobject  # type: ignore[import-untyped]  # it has no types, and no stubs are pinned here
from hypothesis import strategies as st

from tocsin.spec.microdata.formats.icalendar import write_calendar
from tocsin.spec.microdata.formats.vcard import write_cards
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.values import HCARD, VEVENT, Item, Microdata, Property, ValueKind

ADDRESS: Final = "https://site.example/dir/page.html"
NOW: Final = datetime(2026, 11, 21, 8, 20, 4, tzinfo=UTC)
PRODUCT: Final = "-//Example//Tests//EN"


def read(html: str, address: str | None = ADDRESS) -> Microdata:
    """The items of a page of this markup."""
    return read_items(f"<!DOCTYPE html>{html}".encode(), "text/html; charset=utf-8", address=address)


def to_vcard(data: Microdata, *, profile: str = "export", which: int | None = 1) -> str | None:
    """The text of a card, or of all cards."""
    return write_cards(data, profile=profile, which=which).text


def to_icalendar(data: Microdata, *, profile: str = "export", which: int | None = None) -> str | None:
    """The text of a calendar."""
    return write_calendar(data, profile=profile, now=NOW, product=PRODUCT, which=which).text


def card(html: str, profile: str = "export") -> list[str]:
    """The lines of a card of these properties, but for those that each card has; those of one line only."""
    written = to_vcard(read(f"<div itemscope itemtype={HCARD}>{html}</div>"), profile=profile)
    assert written is not None
    head = f"BEGIN:VCARD\r\nPROFILE:VCARD\r\nVERSION:3.0\r\nSOURCE:{ADDRESS}\r\n"
    assert written.startswith(head)
    assert written.endswith("\r\nEND:VCARD\r\n")
    return written.removeprefix(head).removesuffix("END:VCARD\r\n").split("\r\n")[:-1]


def calendar(data: Microdata, profile: str = "export") -> str:
    """The calendar of these events."""
    written = to_icalendar(data, profile=profile)
    assert written is not None
    return written


def parts_of(written: str) -> list[Any]:
    """A calendar and its events, as icalendar reads them."""
    return list(icalendar.Calendar.from_ical(written.encode()).walk())


def components_of(written: str) -> list[Any]:
    """The cards of a file, or its calendar, as vobject reads them."""
    return list(vobject.readComponents(written.encode().decode()))


def event(html: str, profile: str = "export") -> list[str]:
    """The lines of an event of these properties, but for those that each event has.

    An exported one without a start has one, which is not given.
    """
    is_started = profile == "text" or "dtstart" in html.lower()
    start = "" if is_started else "<p itemprop=dtstart>2009-05-01T08:00Z</p>"
    written = calendar(read(f"<div itemscope itemtype={VEVENT}>{html}{start}</div>"), profile)
    head = (
        f"BEGIN:VCALENDAR\r\nPRODID:{PRODUCT}\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\n"
        "DTSTAMP;VALUE=DATE-TIME:20261121T082004Z\r\n"
    )
    assert written.startswith(head)
    assert written.endswith("END:VEVENT\r\nEND:VCALENDAR\r\n")
    lines = written.removeprefix(head).removesuffix("END:VEVENT\r\nEND:VCALENDAR\r\n").split("\r\n")[:-1]
    if profile == "text":
        return lines
    return lines[1:] if is_started else lines[1:-1]  # without the UID


_VALUES = (
    *("2009-05-05", "2009-05-05T19:00Z", "2009-05-05T19:00:00+01:00", "0001-01-01T00:00+23:59", "12009-01-01"),
    *("9999-12-31T23:59-23:59", "2009-05-05T19:00Z/PT1H", "2009-05-05T19:00Z/2009-05-05T20:00Z", "P1D", "PT1H"),
    *("P999999999999W", "FREQ=DAILY", "FREQ=WEEKLY;BYDAY=MO,-1SU;COUNT=3", "FREQ=DAILY;UNTIL=20200230"),
    *("FREQ=YEARLY;UNTIL=20200228T000000Z", "1.5;-2", "200;300", "7", "99999999999999999999", "confirmed"),
    *("https://a.example/,b;c", "mailto:a@b.example", "data:,x\\y", "tel:+1", "VCARD", "VEVENT", "", "  ", "A B"),
    *("x\r\nEND:VEVENT", "x\nEND:VCARD\nBEGIN:VCARD", "Lee, Ann", "a" * 200, "\U0001f600" * 80, " " * 160),
)
_CHARACTERS = st.characters() | st.sampled_from("\r\n\t\0\x0b\x0c\x1c\x85\u2028\u2029\ud800\\;,:\"' =")
texts = st.text(_CHARACTERS, max_size=60) | st.sampled_from(_VALUES)
KNOWN: Final = [
    *sorted({name.lower() for name in icalendar.TypesFactory().types_map}),
    *("begin", "end", "profile", "name", "uid", "fn", "n", "adr", "org", "agent", "tel", "email", "photo", "bday"),
    *("rev", "tz", "note", "logo", "sound", "key", "valarm", "vevent", "vcard", "x-foo", "a.b", "a:b", "a;b", "\u017f"),
]
"""Names that mean something to who reads cards or calendars, and some that cannot."""
names = st.sampled_from(KNOWN) | st.text(_CHARACTERS, min_size=1, max_size=8)


@st.composite
def pages(draw: st.DrawFn, called: st.SearchStrategy[str] = names) -> Microdata:
    """Microdata of any shape: contacts and events that are one another's values, also their own.

    called  the names of the properties whose values are no items
    """
    types = st.sampled_from([HCARD, VEVENT, None, f"{HCARD} {VEVENT}"])
    items = tuple(Item(draw(types), draw(st.none() | texts)) for _ in range(draw(st.integers(1, 4))))
    plain = st.tuples(
        st.lists(called, min_size=1, max_size=3, unique=True).map(tuple),
        st.sampled_from([ValueKind.URL, ValueKind.TIME, ValueKind.TEXT]),
        texts,
    ).map(lambda parts: Property(*parts))
    holding = st.tuples(
        st.sampled_from([("n",), ("adr",), ("org",), ("tel",), ("agent",), ("agent", "x")]), st.sampled_from(items)
    ).map(lambda parts: Property(parts[0], ValueKind.ITEM, parts[1]))
    for item in items:
        item.properties = tuple(draw(st.lists(plain | holding, max_size=6)))
    return Microdata(draw(st.none() | texts), draw(st.none() | texts), items, items)
