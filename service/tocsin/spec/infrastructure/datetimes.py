"""Dates and times as the draft of 2008 read them, as HTML writes them since, and as headers of HTTP write them.

Years and fractions may have any number of digits: values stay text, or exact decimals, and nothing overflows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Final, Literal

from tocsin.spec.html.microsyntax import DIGITS, SPACE, ZS


def to_text(instant: datetime) -> str:
    """Write an instant in UTC as HTML's global date and time, to the second."""
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}".rjust(len("0000-00-00T00:00:00Z"), "0")


# February of a leap year is handled apart.
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# The calendar repeats after this number of years.
_CYCLE_YEARS = 400
_FEBRUARY, _MONTHS, _HOURS, _MINUTES = 2, 12, 24, 60

_ZONE = r"(?:Z|(?P<sign>[+-])(?P<off_hour>[01][0-9]|2[0-3]):(?P<off_minute>[0-5][0-9]))"
_CLOCK = r"(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]++))?)?"
_DAY = r"-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12][0-9]|3[01])"

# Between date and time there may be one T, with or without spaces; seconds have two digits, as in the grammar.
_DATETIME = re.compile(
    rf"(?P<year>[0-9]{{4}}){_DAY}(?:[{SPACE}]++T?|T)[{SPACE}]*+{_CLOCK}[{SPACE}]*+{_ZONE}",
)
_DATE = re.compile(rf"(?P<year>[0-9]{{4,}}+){_DAY}")
_GLOBAL = re.compile(rf"(?P<year>[0-9]{{4,}}+){_DAY}T{_CLOCK}{_ZONE}")


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment in UTC, and the offset that it was written with.

    utc             ISO text with seconds, the fraction without trailing zeros; the year has at least four digits,
                    five after 9999, and a minus before the year 0000
    offset_minutes  of the time zone, east positive
    """

    utc: str
    offset_minutes: int


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A time of day; the second is exact, from 0 to below 60."""

    hour: int
    minute: int
    second: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class VagueMoment:
    """The result of reading a date or time string; it can have parts and still be invalid.

    date            YYYY-MM-DD with a year of at least four digits
    offset_minutes  of the time zone, east positive; only beside a date and a time
    """

    valid: bool
    date: str | None = None
    time: ClockTime | None = None
    offset_minutes: int | None = None


def parse_datetime(text: str) -> Moment | None:
    """Read a specific moment in time; None if the text is no valid datetime.

    Source  text 004, 2.4.4.1, with exactly two digits before the point of the seconds (DT-02 to DT-05, C-26).
    """
    match = _DATETIME.fullmatch(text)
    if match is None or not _is_day(match):
        return None
    offset = _offset_minutes(match)
    year, fraction = int(match["year"]), (match["fraction"] or "").rstrip("0")
    # Any year of the same place in the cycle has the same days, and lies within what datetime can hold.
    stand_in = year % _CYCLE_YEARS + _CYCLE_YEARS
    there = datetime(  # noqa: DTZ001 - the zone is subtracted by hand
        stand_in,
        int(match["month"]),
        int(match["day"]),
        int(match["hour"]),
        int(match["minute"]),
        int(match["second"] or 0),
    )
    utc = there - timedelta(minutes=offset)
    written = f"{_four_digits(year + utc.year - stand_in)}{utc:-%m-%dT%H:%M:%S}"
    return Moment(f"{written}.{fraction}Z" if fraction else f"{written}Z", offset)


def is_valid_date(text: str) -> bool:
    """Return whether the text is a valid date string: YYYY-MM-DD, a year above 0 with four digits or more (DT-09)."""
    match = _DATE.fullmatch(text)
    return match is not None and _is_day(match) and not _is_zero(match["year"])


def is_valid_global(text: str) -> bool:
    """Return whether the text is a valid global date and time string: date, T, time and zone (DT-09)."""
    match = _GLOBAL.fullmatch(text)
    return match is not None and _is_day(match) and not _is_zero(match["year"])


def days_in_month(year: str, month: int) -> int:
    """Count the days of a month of a year of any number of digits (DT-01)."""
    # The last four digits tell: 10,000 is a whole number of cycles.
    place = int(year[-4:]) % _CYCLE_YEARS
    leap = place % 4 == 0 and (place % 100 != 0 or place == 0)
    return _DAYS[month - 1] + (month == _FEBRUARY and leap)


def parse_vague(text: str, variant: Literal["content", "attribute"]) -> VagueMoment:
    """Read a date, a time, both, or both with a time zone; never raises, gives what was read before an error.

    variant  in content Unicode's space separators are skipped, in attributes HTML's white space
    Source   text 004, 2.4.4.2, as its later drafts mended it (DT-06 to DT-08, C-27 to C-29)
    """
    return _VagueReader(text, ZS if variant == "content" else SPACE).read()


class _Invalid(Exception):
    """The text said `abort these steps`."""


class _VagueReader:
    """The position in the input and the results so far, which the steps of 2.4.4.2 share."""

    def __init__(self, text: str, space: str) -> None:
        self._text = text
        self._space = space
        self._at = 0
        self._valid = True
        self._date: str | None = None
        self._time: ClockTime | None = None
        self._offset_minutes: int | None = None

    def read(self) -> VagueMoment:
        try:
            self._read()
        except _Invalid:
            self._valid = False
        return VagueMoment(self._valid, self._date, self._time, self._offset_minutes)

    def _read(self) -> None:
        self._skip()
        digits = self._digits()
        if self._next() != ":":
            self._read_date(digits)
            self._skip()
            if self._next() == "":  # a bare date is valid (C-29)
                return
            if self._next() == "T":
                self._at += 1
            self._skip()
            digits = self._digits()
        self._read_time(digits)
        if self._date is not None:
            self._read_zone()
        self._skip()
        if self._next():
            raise _Invalid

    def _read_date(self, year: str) -> None:
        self._expect("-")
        self._need(len(year) == 4)  # noqa: PLR2004 - as the text has it
        year = year.lstrip("0").zfill(4)
        month = self._number(self._digits(), 1, _MONTHS)
        self._expect("-")
        day = self._number(self._digits(), 1, days_in_month(year, month))
        self._date = f"{year}-{month:02}-{day:02}"

    def _read_time(self, digits: str) -> None:
        hour = self._number(digits, 0, _HOURS - 1)
        self._expect(":")
        minute = self._number(self._digits(), 0, _MINUTES - 1)
        second = Decimal(0)
        if self._next() == ":":
            self._at += 1  # C-27
            second = self._second()
        self._time = ClockTime(hour, minute, second)

    def _second(self) -> Decimal:
        written = self._collect(DIGITS + ".")
        if not written.strip(".") or written.count(".") > 1:
            raise _Invalid
        self._need(written[0] != ".")
        second = Decimal(written)
        if second >= _MINUTES:
            raise _Invalid
        return second

    def _read_zone(self) -> None:
        self._skip()
        sign = self._next()
        if not sign:
            return
        self._at += 1
        if sign == "Z":
            self._offset_minutes = 0
            return
        if sign not in "+-":
            raise _Invalid
        hours = self._number(self._digits(), 0, _HOURS - 1)
        self._expect(":")
        minutes = self._number(self._digits(), 0, _MINUTES - 1)
        offset = hours * 60 + minutes
        self._offset_minutes = -offset if sign == "-" else offset  # C-28

    def _number(self, digits: str, least: int, most: int) -> int:
        """Read a number that should have two digits, and must be in its range."""
        self._need(len(digits) == 2)  # noqa: PLR2004 - as the text has it
        kept = digits.lstrip("0") or "0"
        if len(kept) > 2 or not least <= int(kept) <= most:  # noqa: PLR2004 - no range has more digits
            raise _Invalid
        return int(kept)

    def _digits(self) -> str:
        digits = self._collect(DIGITS)
        if not digits:
            raise _Invalid
        return digits

    def _collect(self, characters: str) -> str:
        start = self._at
        while self._at < len(self._text) and self._text[self._at] in characters:
            self._at += 1
        return self._text[start : self._at]

    def _skip(self) -> None:
        self._collect(self._space)

    def _next(self) -> str:
        return self._text[self._at : self._at + 1]

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise _Invalid
        self._at += 1

    def _need(self, kept: bool) -> None:  # noqa: FBT001 - a requirement of the text that does not stop the reading
        self._valid = self._valid and kept


def _is_day(match: re.Match[str]) -> bool:
    return int(match["day"]) <= days_in_month(match["year"], int(match["month"]))


def _is_zero(year: str) -> bool:
    return not year.strip("0")


def _offset_minutes(match: re.Match[str]) -> int:
    if match["sign"] is None:
        return 0
    offset = int(match["off_hour"]) * 60 + int(match["off_minute"])
    return -offset if match["sign"] == "-" else offset


def _four_digits(year: int) -> str:
    return f"-{-year:04}" if year < 0 else f"{year:04}"


_MONTH = "(?:0[1-9]|1[0-2])"
_LIVING_DAY = "(?:0[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:[0-9]{4,}+)"
_LIVING_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,3})?)?"
_NOT_ZERO = "(?!-00:?00)"  # an offset of zero has no minus
_OFFSET = f"(?:Z|{_NOT_ZERO}[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
_LIVING_DATE = f"(?P<year>{_YEAR})-(?P<month>{_MONTH})-(?P<day>{_LIVING_DAY})"
_SECONDS = r"[0-9]++(?:\.[0-9]{1,3})?"
_ISO_DURATION = re.compile(
    rf"P(?=[0-9T])(?:[0-9]++D)?(?:T(?=[0-9])(?:[0-9]++H)?(?:[0-9]++M)?(?:{_SECONDS}S)?)?",
)
_COMPONENT = re.compile(
    rf"[{SPACE}]*+(?:(?P<whole>[0-9]++)[{SPACE}]*+(?P<unit>[WwDdHhMm])|{_SECONDS}[{SPACE}]*+[Ss])[{SPACE}]*+"
)


_SOME_LEAP_YEAR = "2000"


class TimeForm(StrEnum):
    """What kind of date or time a text is."""

    YEAR = "year"
    MONTH = "month"
    DATE = "date"
    YEARLESS_DATE = "yearless date"
    WEEK = "week"
    TIME = "time"
    LOCAL = "local date and time"
    GLOBAL = "global date and time"
    OFFSET = "time-zone offset"
    DURATION = "duration"


_FORMS = {
    form: re.compile(pattern)
    for form, pattern in (
        (TimeForm.DATE, _LIVING_DATE),
        (TimeForm.GLOBAL, f"{_LIVING_DATE}[T ]{_LIVING_CLOCK}{_OFFSET}"),
        (TimeForm.TIME, _LIVING_CLOCK),
        (TimeForm.LOCAL, f"{_LIVING_DATE}[T ]{_LIVING_CLOCK}"),
        (TimeForm.MONTH, f"(?P<year>{_YEAR})-{_MONTH}"),
        (TimeForm.YEARLESS_DATE, f"(?:--)?(?P<month>{_MONTH})-(?P<day>{_LIVING_DAY})"),
        (TimeForm.OFFSET, _OFFSET),
        (TimeForm.WEEK, f"(?P<year>{_YEAR})-W(?P<week>[0-9]{{2}})"),
        (TimeForm.YEAR, f"(?P<year>{_YEAR})"),
    )
}


def read_form(text: str) -> TimeForm | None:
    """Return the kind of date or time that the text is today; None for any other text, or with anything around it.

    Source  HTML, dates and times; section 2.4.4 of text 004 knows only some of these forms
    """
    for form, pattern in _FORMS.items():
        match = pattern.fullmatch(text)
        if match is not None and _exists(match):
            return form
    return TimeForm.DURATION if _is_duration(text) else None


def is_living_datetime(text: str) -> bool:
    """Return whether the text is valid in `datetime` of a time element today."""
    return read_form(text) is not None


def is_living_moment(text: str) -> bool:
    """Return whether the text is valid in `datetime` of an ins or del element today."""
    return read_form(text) in (TimeForm.DATE, TimeForm.GLOBAL)


def _exists(match: re.Match[str]) -> bool:
    """Return whether the calendar has the date that the pattern matched."""
    parts = match.groupdict()
    year, day, week = parts.get("year"), parts.get("day"), parts.get("week")
    if year is not None and not year.strip("0"):
        return False
    if day is not None:
        return int(day) <= days_in_month(year or _SOME_LEAP_YEAR, int(parts["month"]))
    return week is None or 1 <= int(week) <= _weeks_in(year or "")


def _weeks_in(year: str) -> int:
    # 28 December lies in the last week of its year; the calendar repeats after 400 years, and so do its weeks.
    return date(int(year[-4:]) % 400 + 400, 12, 28).isocalendar().week


def _is_duration(text: str) -> bool:
    if _ISO_DURATION.fullmatch(text):
        return True
    units: list[str] = []
    place = 0
    while match := _COMPONENT.match(text, place):
        units.append((match["unit"] or "s").lower())
        place = match.end()
        if len(units) > len(set(units)):
            return False
    return bool(units) and place == len(text)


# Dates as HTTP headers write them.


_MONTH_NAMES: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME: Final = f"(?P<month>{'|'.join(_MONTH_NAMES)})"
_HTTP_CLOCK: Final = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_HTTP_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{2}}) {_MONTH_NAME} (?P<year>[0-9]{{4}}) {_HTTP_CLOCK} GMT",
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-{_MONTH_NAME}-(?P<year>[0-9]{{2}}) {_HTTP_CLOCK} GMT",
        rf"[a-z]{{3}} {_MONTH_NAME} (?P<day>[0-9 ][0-9]) {_HTTP_CLOCK} (?P<year>[0-9]{{4}})",
    )
)
# Years of two digits are of the past century from here on; HTTP's own rule needs a clock.
_CENTURY_TURNS: Final = 70

# 23:59:60 is valid in HTTP.
_LEAP_SECOND: Final = 60


def read_http_date(text: str) -> datetime | None:
    """Read a date of any of HTTP's three forms, in UTC; None for any other text.

    Source  RFC 9110, 5.6.7. The name of the weekday is not compared with the date.
    """
    trimmed = text.strip(" \t")
    match = next(filter(None, (form.fullmatch(trimmed) for form in _HTTP_FORMS)), None)
    if match is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:  # noqa: PLR2004 - the digits of RFC 850's year
        year += 1900 if year >= _CENTURY_TURNS else 2000
    month = _MONTH_NAMES.index(match["month"].lower()) + 1
    second = int(match["second"])
    if second == _LEAP_SECOND:  # which has no name in Python
        second -= 1
    try:
        return datetime(year, month, int(match["day"]), int(match["hour"]), int(match["minute"]), second, tzinfo=UTC)
    except ValueError:
        return None
