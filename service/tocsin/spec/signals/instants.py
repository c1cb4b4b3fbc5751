"""Values as signals are compared by: the instant where the text names one, else the text itself."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.datetimes import read_http_date

if TYPE_CHECKING:
    from collections.abc import Mapping

# Letters of a value; no date is as long.
LONGEST: Final = 200
_READ: Final = 2000

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH: Final = f"(?P<name>{'|'.join(_MONTHS)})"
_CLOCK: Final = "(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2})(?::(?P<second>[0-9]{1,2})(?:[.,:](?P<fraction>[0-9]+))?)?"
# The name of a zone counts nothing beside an offset; alone only those of UTC do, for others name several.
_ZONE: Final = (
    "(?:(?P<utc>Z{1,2}|UTC|GMT|UT)|(?:GMT|UTC)?(?P<sign>[+-])(?P<east>[0-9]{2}):?(?P<south>[0-9]{2})?(?: ?[A-Z]{2,5})?)"
)
_NOTE: Final = r"(?: \([^()]*\))?"
_ISO: Final = (
    "(?P<year>[0-9]{4})(?P<dash>[-/])(?P<month>[0-9]{1,2})(?P=dash)(?P<day>[0-9]{1,2})"
    f"(?:[T @]{{1,2}}{_CLOCK} ?{_ZONE}?)?"
)
_BASIC: Final = (
    "(?P<year>[0-9]{4})(?P<month>[0-9]{2})(?P<day>[0-9]{2})"
    "(?:[T ]?(?P<hour>[0-9]{2}):?(?P<minute>[0-9]{2}):?(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]+))?"
    f" ?{_ZONE}?)?"
)
_RFC_2822: Final = (
    f"(?:[a-z]{{3,9}},? )?(?P<day>[0-9]{{1,2}})[ -]{_MONTH}[a-z]{{0,6}}[ -](?P<year>[0-9]{{4}}),? {_CLOCK}"
    f" ?{_ZONE}?{_NOTE}"
)
# Fri Nov 01 2019 10:00:00 GMT+0100 (and the zone in words)
_SCRIPT: Final = f"[a-z]{{3}},? {_MONTH} (?P<day>[0-9]{{1,2}}),? (?P<year>[0-9]{{4}}) {_CLOCK} ?{_ZONE}?{_NOTE}"
# Fri Nov 1 10:00:00 UTC 2019
_SHELL: Final = f"[a-z]{{3}} {_MONTH} (?P<day>[0-9]{{1,2}}) {_CLOCK} ?{_ZONE}? (?P<year>[0-9]{{4}})"
_FROM_FIGURE, _FROM_LETTER = (
    tuple(re.compile(form, re.IGNORECASE | re.ASCII) for form in forms)
    for forms in ((_ISO, _BASIC, _RFC_2822), (_RFC_2822, _SCRIPT, _SHELL))
)
_EPOCH: Final = re.compile(r"(?P<seconds>-?[0-9]{9,10})(?:\.[0-9]+)?|(?P<thousandths>[0-9]{12,13})", re.ASCII)
# What programs write for a date that they do not have.
_NEVER: Final = frozenset({"0001-01-01T00:00:00", "1970-01-01T00:00:00", "0001-01-01", "1970-01-01"})
_NOTHING: Final = frozenset(
    {"", "-", "--", "0", "0;0", "n/a", "na", "none", "null", "nil", "nan", "undefined", "unknown", "false", "true"}
)
_START: Final = datetime(1970, 1, 1)  # noqa: DTZ001 - in UTC, as all that is written
_LEAP_SECOND: Final = 60
# Servers of one site write the same time each by its own clock, or with each answer anew.
_JITTER: Final = timedelta(seconds=2)
_MOST_DIGITS: Final = 9
_HOURS: Final = 24
_MINUTES: Final = 60


def to_value(written: str | None) -> str | None:
    """Read the time of a change as RFC 3339 in UTC, without a zone if none is written; else the text as written.

    None for an empty text, and for a placeholder. Dates are read as standards write them: 06/05/2019 may be in May or
    in June, so it stays as it is, and is compared as text.
    """
    text = to_text(written)
    if text is None or not any(map(str.isnumeric, text)):
        return None
    if text.startswith(("0000", "-0001")):
        return None
    read = _read_form(text) or _read_epoch(text)
    if read is None and (instant := read_http_date(text)) is not None:
        read = f"{instant.replace(tzinfo=None).isoformat()}Z"
    if read is None:
        return text[:LONGEST]
    return None if read.rstrip("Z") in _NEVER else read


def keep_same(before: Mapping[str, str], latest: Mapping[str, str]) -> dict[str, str]:
    """Return the latest values, but earlier ones for those that name the same instant, give or take two seconds."""
    return {name: _keep(before.get(name, value), value) for name, value in latest.items()}


def _keep(before: str, latest: str) -> str:
    if before == latest or before[10:11] != "T" or latest[10:11] != "T":
        return latest
    try:
        apart = abs(datetime.fromisoformat(before) - datetime.fromisoformat(latest))
    except (ValueError, TypeError):  # a text that is no date, or only one of them has a zone
        return latest
    return before if apart <= _JITTER else latest


def to_text(written: str | None) -> str | None:
    """Fold a text, references that were written twice undone; None for an empty one and for placeholders."""
    if written is None:
        return None
    text = written[:_READ]
    if "&" in text:
        text = unescape(text)
    text = " ".join(text.split())
    if text.lower() in _NOTHING or text.startswith(("{{", "<%", "${")):
        return None
    return text[:LONGEST]


def _read_form(text: str) -> str | None:
    for form in _FROM_FIGURE if text[0].isdigit() else _FROM_LETTER:
        match = form.fullmatch(text)
        if match is not None:
            return _to_utc(match)
    return None


def _to_utc(match: re.Match[str]) -> str | None:
    """Write the matched date in UTC; None where the calendar has no such day, or the day no such time."""
    month = _MONTHS.index(match["name"].lower()) + 1 if "name" in match.re.groupindex else int(match["month"])
    second = int(match["second"] or 0)
    try:
        at = datetime(  # noqa: DTZ001 - its zone is subtracted by hand
            int(match["year"]),
            month,
            int(match["day"]),
            int(match["hour"] or 0),
            int(match["minute"] or 0),
            second - 1 if second == _LEAP_SECOND else second,  # which has no name in Python
        )
        if match["hour"] is None:
            return at.date().isoformat()
        if match["sign"] is not None:
            at -= _offset_of(match)
    except (ValueError, OverflowError):
        return None
    fraction = (match["fraction"] or "")[:_MOST_DIGITS].rstrip("0")
    is_zoned = match["sign"] is not None or match["utc"] is not None
    return f"{at.isoformat()}{'.' if fraction else ''}{fraction}{'Z' if is_zoned else ''}"


def _offset_of(match: re.Match[str]) -> timedelta:
    """Return the offset that was written, east positive.

    Raises ValueError for one that no place has.
    """
    hours, minutes = int(match["east"]), int(match["south"] or 0)
    if hours >= _HOURS or minutes >= _MINUTES:
        raise ValueError(hours, minutes)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if match["sign"] == "-" else offset


def _read_epoch(text: str) -> str | None:
    """Read seconds or thousandths since 1970; eight digits are a day, fourteen a day and its time."""
    match = _EPOCH.fullmatch(text)
    if match is None:
        return None
    seconds = int(match["seconds"]) if match["seconds"] else int(match["thousandths"]) // 1000
    return f"{(_START + timedelta(seconds=seconds)).isoformat()}Z"
