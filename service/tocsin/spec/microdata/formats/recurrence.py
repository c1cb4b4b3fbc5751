"""Recurrence rules of iCalendar: whether a text is one, and whether it fits an event."""

from __future__ import annotations

import re
from typing import Final

from tocsin.spec.infrastructure.datetimes import is_valid_date
from tocsin.spec.microdata.formats.times import When, to_utc

_WEEKDAY = "(?:SU|MO|TU|WE|TH|FR|SA)"
_LONGEST = 1000


def _list_of(number: str) -> re.Pattern[str]:
    return re.compile(f"{number}(?:,{number})*+")


_PARTS: Final = {
    "FREQ": re.compile("SECONDLY|MINUTELY|HOURLY|DAILY|WEEKLY|MONTHLY|YEARLY"),
    "UNTIL": re.compile("([0-9]{4})([0-9]{2})([0-9]{2})(?:T(?:[01][0-9]|2[0-3])[0-5][0-9][0-5][0-9]Z?)?"),
    "COUNT": re.compile("[1-9][0-9]{0,5}"),
    "INTERVAL": re.compile("[1-9][0-9]{0,5}"),
    "BYSECOND": _list_of("[0-5]?[0-9]"),
    "BYMINUTE": _list_of("[0-5]?[0-9]"),
    "BYHOUR": _list_of("(?:2[0-3]|[01]?[0-9])"),
    "BYDAY": _list_of(f"(?:[+-]?(?:[1-4][0-9]|5[0-3]|0?[1-9]))?{_WEEKDAY}"),
    "BYMONTHDAY": _list_of("[+-]?(?:[12][0-9]|3[01]|0?[1-9])"),
    "BYYEARDAY": _list_of("[+-]?(?:36[0-6]|3[0-5][0-9]|[12][0-9]{2}|0?[1-9][0-9]|0?0?[1-9])"),
    "BYWEEKNO": _list_of("[+-]?(?:[1-4][0-9]|5[0-3]|0?[1-9])"),
    "BYMONTH": _list_of("(?:1[0-2]|0?[1-9])"),
    "BYSETPOS": _list_of("[+-]?(?:36[0-6]|3[0-5][0-9]|[12][0-9]{2}|0?[1-9][0-9]|0?0?[1-9])"),
    "WKST": re.compile(_WEEKDAY),
}


_NOT_ON_DAYS: Final = frozenset({"BYHOUR", "BYMINUTE", "BYSECOND"})
_ONLY_IN: Final = {
    "BYMONTHDAY": frozenset({"HOURLY", "DAILY", "MONTHLY", "YEARLY"}),
    "BYYEARDAY": frozenset({"HOURLY", "YEARLY"}),
    "BYWEEKNO": frozenset({"YEARLY"}),
}
_NUMBERED_DAYS_IN: Final = frozenset({"MONTHLY", "YEARLY"})
# Rules of these frequencies are on the start's day of the month if they name no other.
_ON_DAYS_OF_THE_START: Final = frozenset({"MONTHLY", "YEARLY"})
_BY_HOUR: Final = frozenset({"BYHOUR", "BYMINUTE"})
_TOO_OFTEN: Final = frozenset({"SECONDLY", "MINUTELY"})
_DATE_LETTERS: Final = len("20090505")


def read_rule(text: str) -> str | None:
    """Return a recurrence rule in capitals; None if the text is invalid.

    Source  RFC 5545, 3.3.10: every part once, FREQ among them, never both UNTIL and COUNT
    """
    rule = text.upper()
    if len(rule) > _LONGEST or not rule.isascii():
        return None
    pairs = [part.partition("=")[::2] for part in rule.split(";")]
    parts = dict(pairs)
    if len(parts) < len(pairs) or "FREQ" not in parts or {"UNTIL", "COUNT"} <= parts.keys():
        return None
    if not all(name in _PARTS and _PARTS[name].fullmatch(value) for name, value in pairs):
        return None
    until = parts.get("UNTIL")
    if until is not None and not is_valid_date(f"{until[:4]}-{until[4:6]}-{until[6:8]}"):
        return None
    return rule


def fit_rule(rule: str, start: When) -> str | None:
    """Adapt a rule to the start of its event; returns None if calendars must not get it.

    rule    as `read_rule` returns it
    Source  RFC 5545, 3.3.10: the last date is of the start's kind, days have no hours, and not all parts go together
    """
    parts = dict(part.split("=") for part in rule.split(";"))
    frequency = parts["FREQ"]
    # Deviation: programs hang on computing events of every minute or second.
    if frequency in _TOO_OFTEN or (start.is_day and frequency == "HOURLY"):
        return None
    if any(name in parts and frequency not in among for name, among in _ONLY_IN.items()):
        return None
    is_numbered = any(letter.isdigit() for letter in parts.get("BYDAY", ""))
    if is_numbered and (frequency not in _NUMBERED_DAYS_IN or "BYWEEKNO" in parts):
        return None
    if start.is_day:
        parts = {name: value for name, value in parts.items() if name not in _NOT_ON_DAYS}
    if "UNTIL" in parts:
        parts["UNTIL"] = _fit_until(parts["UNTIL"], start)
    if "BYSETPOS" in parts and sum(name.startswith("BY") for name in parts) == 1:
        return None
    return ";".join(f"{name}={value}" for name, value in parts.items())


def is_by_clock(rule: str, start: When) -> bool:
    """Say whether a rule has other occurrences in UTC than in the local time of the start.

    rule  as `fit_rule` returns it
    """
    if not start.is_moment or start.offset_minutes == 0:
        return False
    parts = dict(part.split("=") for part in rule.split(";"))
    by = {name for name in parts if name.startswith("BY") and name != "BYSECOND"}
    if by & _BY_HOUR:
        return True
    if parts["FREQ"] == "HOURLY":
        return bool(by)  # Some hours of each day are on another day in UTC.
    return (bool(by) or parts["FREQ"] in _ON_DAYS_OF_THE_START) and start.is_of_another_day


def _fit_until(until: str, start: When) -> str:
    if start.is_day:
        return until[:_DATE_LETTERS]
    date, _, time = until.partition("T")
    last = f"{date}T{time or '235959'}"
    if not start.is_moment:
        return last.removesuffix("Z")
    return last if last.endswith("Z") else to_utc(last, start.offset_minutes)
