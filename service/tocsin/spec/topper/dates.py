"""Date-time tokens of the W3C note, as exact intervals of time.

Nothing here uses `datetime`: its years begin at 1, end with 9999 and hold microseconds only, while a token
may name the year 0000, end beyond 9999 and carry any number of fraction digits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<year>[0-9]{4})"
    r"(?:-(?P<month>0[1-9]|1[0-2])"
    r"(?:-(?P<day>0[1-9]|[12][0-9]|3[01])"
    r"(?:T(?P<hour>[01][0-9]|2[0-3]):(?P<minute>[0-5][0-9])"
    r"(?::(?P<second>[0-5][0-9])(?:\.(?P<fraction>[0-9]++))?)?"
    r"(?:Z|(?P<sign>[+-])(?P<off_hour>[01][0-9]|2[0-3]):(?P<off_minute>[0-5][0-9]))"
    r")?)?)?"
)
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_LONGEST_REMEMBERED = 40
_MOST_REMEMBERED = 16_384
_DAY_S = 86_400
_MINUTE_S = 60


class Instant(NamedTuple):
    """A moment in UTC, exact; instants compare as the moments do.

    seconds   since 0000-01-01T00:00:00Z, negative before it
    fraction  decimal digits of the second begun, without trailing zeros: they sort as text
    """

    seconds: int
    fraction: str = ""


class Interval(NamedTuple):
    """The span of time that a token names: as long as its granularity, `start` within, `end` beyond."""

    start: Instant
    end: Instant


def parse_token(token: str) -> Interval | None:
    """Read a date-time token of any of the six granularities; None if it is not one.

    Date-only tokens are read as UTC.
    Source  awareness spec 2.1 and W3C NOTE-datetime (T05).
    """
    # A page's tokens are mostly those of its last check. Long ones are not kept: their length is the author's choice.
    return _remembered(token) if len(token) <= _LONGEST_REMEMBERED else _read(token)


def _read(token: str) -> Interval | None:
    match = _TOKEN.fullmatch(token)
    if match is None:
        return None
    year, month, day = int(match["year"]), int(match["month"] or 1), int(match["day"] or 1)
    if day > _days_in(year, month):
        return None
    midnight = _days_before(year, month) + day - 1
    if match["hour"] is None:
        if match["day"]:
            days = 1
        elif match["month"]:
            days = _days_in(year, month)
        else:
            days = 365 + _is_leap(year)
        return Interval(Instant(midnight * _DAY_S), Instant((midnight + days) * _DAY_S))
    seconds = midnight * _DAY_S + int(match["hour"]) * 3600 + int(match["minute"]) * _MINUTE_S - _offset_s(match)
    if match["second"] is None:
        return Interval(Instant(seconds), Instant(seconds + _MINUTE_S))
    seconds += int(match["second"])
    fraction = match["fraction"] or ""
    return Interval(Instant(seconds, fraction.rstrip("0")), _after(seconds, fraction))


_remembered = lru_cache(maxsize=_MOST_REMEMBERED)(_read)


def is_token(text: str) -> bool:
    """Return whether the text is one valid date-time token (T05)."""
    return parse_token(text) is not None


def granularity(token: str) -> int:
    """Rank how finely a valid token speaks: 0 year, 1 month, 2 day, 3 minute, 4 second, 5 any fraction of one (T05).

    Raises ValueError for a text that is no token.
    """
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise ValueError(f"{token!r} is no date-time token; ask is_token first")
    return sum(match[part] is not None for part in ("month", "day", "hour", "second", "fraction"))


def _offset_s(match: re.Match[str]) -> int:
    if match["sign"] is None:
        return 0
    offset = int(match["off_hour"]) * 3600 + int(match["off_minute"]) * _MINUTE_S
    return -offset if match["sign"] == "-" else offset


def _after(seconds: int, fraction: str) -> Instant:
    """The instant one unit of the last digit later, by carrying in the text: no number is ever too long."""
    kept = fraction.rstrip("9")
    if not kept:
        return Instant(seconds + 1)
    return Instant(seconds, kept[:-1] + chr(ord(kept[-1]) + 1))


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return _DAYS[month - 1] + (month == 2 and _is_leap(year))  # noqa: PLR2004 - February


def _days_before(year: int, month: int) -> int:
    """Days from 0000-01-01 to the first of this month."""
    past = year - 1
    leap_days = past // 4 - past // 100 + past // 400 + 1  # the year 0 is one, and none is before it
    return year * 365 + leap_days + sum(_days_in(year, earlier) for earlier in range(1, month))
