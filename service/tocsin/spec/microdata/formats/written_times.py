"""Dates and times as pages of today write them, brought into the form that the text knows."""

from __future__ import annotations

import re

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, parse_datetime

_DAY = r"(?P<year>[0-9]{4})(?P<dash>-?)(?P<month>[0-9]{2})(?P=dash)(?P<day>[0-9]{2})"
_CLOCK = r"(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2})(?::?(?P<second>[0-9]{2})(?P<fraction>\.[0-9]++)?)?"
_ZONE = r"(?P<utc>[Zz])|(?P<sign>[+-])(?P<off_hour>[0-9]{2}):?(?P<off_minute>[0-9]{2})"
_BETWEEN = f"(?:[{SPACE}]*+[Tt][{SPACE}]*+|[{SPACE}]++)"
_WRITTEN = re.compile(f"{_DAY}(?:{_BETWEEN}{_CLOCK}[{SPACE}]*+(?P<zone>{_ZONE})?)?")


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
