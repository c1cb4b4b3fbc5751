"""Dates and times as HTML writes them today, which is more than the draft of 2008 allowed."""

from __future__ import annotations

import re
from datetime import date
from enum import StrEnum

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import days_in_month

_MONTH = "(?:0[1-9]|1[0-2])"
_DAY = "(?:0[1-9]|[12][0-9]|3[01])"
_YEAR = "(?:[0-9]{4,}+)"
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]{1,3})?)?"
_NOT_ZERO = "(?!-00:?00)"  # an offset of zero has no minus
_OFFSET = f"(?:Z|{_NOT_ZERO}[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])"
_DATE = f"(?P<year>{_YEAR})-(?P<month>{_MONTH})-(?P<day>{_DAY})"
_SECONDS = r"[0-9]++(?:\.[0-9]{1,3})?"
_ISO_DURATION = re.compile(
    rf"P(?=[0-9T])(?:[0-9]++D)?(?:T(?=[0-9])(?:[0-9]++H)?(?:[0-9]++M)?(?:{_SECONDS}S)?)?",
)
_COMPONENT = re.compile(
    rf"[{SPACE}]*+(?:(?P<whole>[0-9]++)[{SPACE}]*+(?P<unit>[WwDdHhMm])|{_SECONDS}[{SPACE}]*+[Ss])[{SPACE}]*+"
)


_SOME_LEAP_YEAR = "2000"


class Form(StrEnum):
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
        (Form.DATE, _DATE),
        (Form.GLOBAL, f"{_DATE}[T ]{_CLOCK}{_OFFSET}"),
        (Form.TIME, _CLOCK),
        (Form.LOCAL, f"{_DATE}[T ]{_CLOCK}"),
        (Form.MONTH, f"(?P<year>{_YEAR})-{_MONTH}"),
        (Form.YEARLESS_DATE, f"(?:--)?(?P<month>{_MONTH})-(?P<day>{_DAY})"),
        (Form.OFFSET, _OFFSET),
        (Form.WEEK, f"(?P<year>{_YEAR})-W(?P<week>[0-9]{{2}})"),
        (Form.YEAR, f"(?P<year>{_YEAR})"),
    )
}


def read_form(text: str) -> Form | None:
    """Say what kind of date or time the text is today, None if it is none; nothing may stand around it.

    Source  HTML, dates and times; section 2.4.4 of text 004 knows only some of these forms
    """
    for form, pattern in _FORMS.items():
        match = pattern.fullmatch(text)
        if match is not None and _exists(match):
            return form
    return Form.DURATION if _is_duration(text) else None


def is_living_datetime(text: str) -> bool:
    """Say whether the text may stand in `datetime` of a time element today."""
    return read_form(text) is not None


def is_living_moment(text: str) -> bool:
    """Say whether the text may stand in `datetime` of an ins or del element today."""
    return read_form(text) in (Form.DATE, Form.GLOBAL)


def _exists(match: re.Match[str]) -> bool:
    """Say whether the calendar has what the pattern allows."""
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
