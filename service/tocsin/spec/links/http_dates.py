"""Dates as HTTP headers write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = f"(?P<month>{'|'.join(_MONTHS)})"
_TIME: Final = "(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_FORMS: Final = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"[a-z]{{3}}, (?P<day>[0-9]{{2}}) {_MONTH} (?P<year>[0-9]{{4}}) {_TIME} GMT",
        rf"[a-z]{{6,9}}, (?P<day>[0-9]{{2}})-{_MONTH}-(?P<year>[0-9]{{2}}) {_TIME} GMT",
        rf"[a-z]{{3}} {_MONTH} (?P<day>[0-9 ][0-9]) {_TIME} (?P<year>[0-9]{{4}})",
    )
)
# Years of two digits are of the past century from here on; HTTP's own rule needs a clock.
_CENTURY_TURNS: Final = 70

_LEAP_SECOND: Final = 60


def read_http_date(text: str) -> datetime | None:
    """Read a date of any of HTTP's three forms, in UTC; None for any other text.

    Source  RFC 9110, 5.6.7. The name of the weekday is not compared with the date.
    """
    trimmed = text.strip(" \t")
    match = next(filter(None, (form.fullmatch(trimmed) for form in _FORMS)), None)
    if match is None:
        return None
    year = int(match["year"])
    if len(match["year"]) == 2:  # noqa: PLR2004 - the digits of RFC 850's year
        year += 1900 if year >= _CENTURY_TURNS else 2000
    month = _MONTHS.index(match["month"].lower()) + 1
    second = int(match["second"])
    if second == _LEAP_SECOND:  # which has no name in Python
        second -= 1
    try:
        return datetime(year, month, int(match["day"]), int(match["hour"]), int(match["minute"]), second, tzinfo=UTC)
    except ValueError:
        return None


def to_text(instant: datetime) -> str:
    """Write an instant in UTC as HTML's global date and time, to the second."""
    return f"{instant:%Y-%m-%dT%H:%M:%SZ}".rjust(len("0000-00-00T00:00:00Z"), "0")
