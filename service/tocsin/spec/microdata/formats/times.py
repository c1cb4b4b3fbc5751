"""Dates and times: as today's pages write them, and as calendars have them, in UTC or by the clock of an offset."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, parse_datetime
from tocsin.spec.microdata.formats.content_lines import Sheet

_DAY = r"(?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})"
_CLOCK = r"(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?P<fraction>\.[0-9]++)?)?"
_ZONE = r"(?P<utc>[Zz])|(?P<sign>[+-])(?P<off_hour>[0-9]{2}):?(?P<off_minute>[0-9]{2})"
_BETWEEN = f"(?:[{SPACE}]*+[Tt][{SPACE}]*+|[{SPACE}]++)"
_WRITTEN = re.compile(f"{_DAY}(?:{_BETWEEN}{_CLOCK}[{SPACE}]*+(?P<zone>{_ZONE})?)?")
_DATE_LETTERS: Final = len("20090505")
# The start of a zone with a constant offset: before all events, since some programs know no offset before it.
_BEFORE_ALL: Final = "16010101T000000"


def normalise(text: str) -> str | None:
    """Normalise a date, or a date and time: 2009-05-05, 2009-05-05T19:00:00+02:00, 2009-05-05T19:00:00; UTC is Z.

    Returns None for other texts, and for years of more than four digits, which our files cannot hold.
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
    """A day, a moment, or a floating time, which is by the local clock of its reader.

    basic           20090505, in UTC 20090505T190000Z, or floating 20090505T190000; of four-digit years
    offset_minutes  with which a moment was written, east positive
    """

    basic: str
    offset_minutes: int = 0

    @property
    def is_day(self) -> bool:
        """Whether it is a day, without a time."""
        return is_day(self.basic)

    @property
    def is_moment(self) -> bool:
        """Whether it is a moment, in UTC."""
        return self.basic.endswith("Z")

    @property
    def clock(self) -> str:
        """The local time where it was written: 20090505T190000, or the day."""
        return to_clock(self.basic, self.offset_minutes) if self.is_moment else self.basic

    @property
    def is_of_another_day(self) -> bool:
        """Whether its day in UTC differs from its local day."""
        return self.is_moment and self.clock[:_DATE_LETTERS] != self.basic[:_DATE_LETTERS]


def read_when(text: str) -> When | None:
    """Read a date, a moment, or a time without an offset, to the second; None for other texts.

    Source  RFC 5545, 3.3.4 and 3.3.5; IC-10, C-17
    """
    # Deviation: the text has no time of an event without an offset, but most pages write theirs so.
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
    """Convert a date of an event's recurrence to the kind of its start: a day is at the hour of the start.

    Source  RFC 5545, 3.8.5.1
    """
    # Programs match dates of the start's kind only; others would exclude no event.
    if start.is_day:
        return When(when.clock[:_DATE_LETTERS])
    clock = when.basic + start.clock[_DATE_LETTERS:].removesuffix("Z") if when.is_day else when.basic
    if when.is_moment or not start.is_moment:
        return When(clock, when.offset_minutes)
    return When(to_utc(clock, start.offset_minutes), start.offset_minutes)


def export_datetime(text: str) -> str | None:
    """Write a date, or a moment in UTC, in the basic form: 20090505, 20090505T190000Z; None for other texts."""
    when = read_when(text)
    return when.basic if when is not None and (when.is_day or when.is_moment) else None


def is_day(basic: str) -> bool:
    """Say whether a date or time in the basic form is a day: 20090505, not 20090505T190000Z."""
    return len(basic) == _DATE_LETTERS


def to_clock(basic: str, offset_minutes: int) -> str:
    """Convert a moment in UTC to local time: 20090505T190000; unchanged if that is out of range."""
    try:
        there = datetime.fromisoformat(basic) + timedelta(minutes=offset_minutes)
    except OverflowError:
        return basic
    return f"{there.year:04}{there:%m%dT%H%M%S}"


def to_utc(clock: str, offset_minutes: int) -> str:
    """Convert local time to a moment in UTC; unchanged if that is out of range."""
    return to_clock(f"{clock}Z", -offset_minutes).removesuffix("Z") + "Z"


def name_zone(offset_minutes: int) -> str:
    """Name the zone of an offset: UTC-0500; a name with a colon would have to be quoted in parameters."""
    return f"UTC{_write_offset(offset_minutes)}"


def write_zone(offset_minutes: int, sheet: Sheet) -> None:
    """Write the definition of a zone with a constant offset.

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
