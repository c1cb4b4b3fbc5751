"""Dates and times: as today's pages write them, and as calendars have them, in UTC or by the clock of an offset."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, parse_datetime

if TYPE_CHECKING:
    from tocsin.spec.microdata.formats.content_lines import Sheet

_DAY = r"(?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})"
_CLOCK = r"(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?P<fraction>\.[0-9]++)?)?"
_ZONE = r"(?P<utc>[Zz])|(?P<sign>[+-])(?P<off_hour>[0-9]{2}):?(?P<off_minute>[0-9]{2})"
_BETWEEN = f"(?:[{SPACE}]*+[Tt][{SPACE}]*+|[{SPACE}]++)"
_WRITTEN = re.compile(f"{_DAY}(?:{_BETWEEN}{_CLOCK}[{SPACE}]*+(?P<zone>{_ZONE})?)?")
_DATE_LETTERS: Final = len("20090505")
_BEFORE_ALL: Final = "16010101T000000"
"""When a zone begins that was always so: some programs know no offset before that date, and this one is before all."""


def normalise(text: str) -> str | None:
    """Give a date, or a date and time: 2009-05-05, 2009-05-05T19:00:00+02:00, without an offset 2009-05-05T19:00:00.

    None for what is neither, and for years of more digits than four, which no file of ours can hold. UTC is Z.
    Sources  HTML, local and global dates and times: a space for the T, offsets without a colon, which strftime writes;
             RFC 3339, 5.6: t and z; RFC 5545, 3.3.4 and 3.3.5: neither hyphens nor colons
    """
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    day = f"{match['year']}-{match['month']}-{match['day']}"
    if match["hour"] is None:
        return day if is_valid_date(day) else None
    moment = f"{day}T{match['hour']}:{match['minute']}:{match['second'] or '00'}{match['fraction'] or ''}"
    zone = f"{match['sign']}{match['off_hour']}:{match['off_minute']}" if match["sign"] else "Z"
    if parse_datetime(f"{moment}{zone}") is None:
        return None
    return f"{moment}{zone}" if match["zone"] else moment


class When(NamedTuple):
    """A day, a moment, or a time by whatever clock stands where it is read.

    basic           20090505, in UTC 20090505T190000Z, or floating 20090505T190000; of four-digit years
    offset_minutes  that a moment was written with, east positive
    """

    basic: str
    offset_minutes: int = 0

    @property
    def is_day(self) -> bool:
        """Whether it has no hour."""
        return is_day(self.basic)

    @property
    def is_moment(self) -> bool:
        """Whether it is the same everywhere on Earth."""
        return self.basic.endswith("Z")

    @property
    def clock(self) -> str:
        """What a clock shows then, where it was written: 20090505T190000, or the day."""
        return to_clock(self.basic, self.offset_minutes) if self.is_moment else self.basic

    @property
    def is_of_another_day(self) -> bool:
        """Whether it is a moment of another day in UTC than by the clock that it was written by."""
        return self.is_moment and self.clock[:_DATE_LETTERS] != self.basic[:_DATE_LETTERS]


def read_when(text: str) -> When | None:
    """Read a date, a moment, or a time without an offset; None for what is none of them.

    Moments are told to the second, years have four digits: iCalendar knows no others.
    Deviation: the text knows no time of an event without an offset, but most pages do not say where theirs is counted
               from.
    Source  RFC 5545, 3.3.4 and 3.3.5; IC-10, C-17
    """
    written = normalise(text)
    if written is None:
        return None
    if "T" not in written:
        return When(written.replace("-", ""))
    moment = parse_datetime(written)
    told = moment or parse_datetime(f"{written}Z")
    date, _, time = ("" if told is None else told.utc).partition("T")
    if not is_valid_date(date) or len(date) != len("2009-05-05"):
        return None
    basic = f"{date.replace('-', '')}T{time[:8].replace(':', '')}"
    return When(basic) if moment is None else When(f"{basic}Z", moment.offset_minutes)


def fit_to(start: When, when: When) -> When:
    """Give a date of an event's recurrence as it is meant beside the start: without an hour, at the start's hour.

    Programs match dates of the start's kind only; a day, or a time without an offset, would leave out no event.
    Source  RFC 5545, 3.8.5.1
    """
    if start.is_day:
        return When(when.clock[:_DATE_LETTERS])
    clock = when.basic + start.clock[_DATE_LETTERS:].removesuffix("Z") if when.is_day else when.basic
    if when.is_moment or not start.is_moment:
        return When(clock, when.offset_minutes)
    return When(to_utc(clock, start.offset_minutes), start.offset_minutes)


def export_datetime(text: str) -> str | None:
    """Write a date, or a moment, in the basic form: 20090505, or in UTC 20090505T190000Z; None for what is neither."""
    when = read_when(text)
    return when.basic if when is not None and (when.is_day or when.is_moment) else None


def is_day(basic: str) -> bool:
    """Say whether a date or time as iCalendar writes them is a day: 20090505, and not 20090505T190000Z."""
    return len(basic) == _DATE_LETTERS


def to_clock(basic: str, offset_minutes: int) -> str:
    """Tell a moment in UTC by a clock: 20090505T190000; as it is where no calendar reaches to."""
    try:
        there = datetime.fromisoformat(basic) + timedelta(minutes=offset_minutes)
    except OverflowError:
        return basic
    return f"{there.year:04}{there:%m%dT%H%M%S}"


def to_utc(clock: str, offset_minutes: int) -> str:
    """Give the moment in UTC at which a clock shows a time; as it is where no calendar reaches to."""
    return to_clock(f"{clock}Z", -offset_minutes).removesuffix("Z") + "Z"


def name_zone(offset_minutes: int) -> str:
    """Name the zone of an offset: UTC-0500. Not as +05:00: in a parameter that had to stand in quotes."""
    return f"UTC{_write_offset(offset_minutes)}"


def write_zone(offset_minutes: int, sheet: Sheet) -> None:
    """Write what a calendar must say of a zone that its events are told in: always so far from UTC.

    Source  RFC 5545, 3.6.5
    """
    offset = _write_offset(offset_minutes)
    sheet.frame("BEGIN", "VTIMEZONE")
    sheet.frame("TZID", name_zone(offset_minutes))
    sheet.frame("BEGIN", "STANDARD")
    sheet.frame("DTSTART", _BEFORE_ALL)
    sheet.frame("TZOFFSETFROM", offset)
    sheet.frame("TZOFFSETTO", offset)
    sheet.frame("END", "STANDARD")
    sheet.frame("END", "VTIMEZONE")


def _write_offset(minutes: int) -> str:
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
