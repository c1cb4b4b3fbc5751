"""Recurrence rules, as far as one must know them to tell a rule from what is none."""

from __future__ import annotations

import re
from typing import Final

from tocsin.spec.infrastructure.datetimes import is_valid_date

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
_TOO_OFTEN: Final = frozenset({"SECONDLY", "MINUTELY"})
_DATE_LETTERS: Final = len("20090505")


def read_rule(text: str) -> str | None:
    """Give a recurrence rule in capitals; None if the text is none.

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


def is_day(basic: str) -> bool:
    """Say whether a date or time as iCalendar writes them is a day: 20090505, and not 20090505T190000Z."""
    return len(basic) == _DATE_LETTERS


def fit_rule(rule: str, start: str) -> str | None:
    """Give a rule as it may stand beside the start of its event; None for one that no calendar is to be given.

    rule    as `read_rule` gives it
    start   20090505, in UTC 20090505T190000Z, or without an offset 20090505T190000
    Source  RFC 5545, 3.3.10: the last date is of the start's kind, days have no hours, and which part goes with which.
    Deviation: events of every minute or second are none that people go to, and programs hang on reckoning them.
    """
    parts = dict(part.split("=") for part in rule.split(";"))
    of_days, frequency = is_day(start), parts["FREQ"]
    if frequency in _TOO_OFTEN or (of_days and frequency == "HOURLY"):
        return None
    if any(name in parts and frequency not in among for name, among in _ONLY_IN.items()):
        return None
    is_numbered = any(letter.isdigit() for letter in parts.get("BYDAY", ""))
    if is_numbered and (frequency not in _NUMBERED_DAYS_IN or "BYWEEKNO" in parts):
        return None
    if of_days:
        parts = {name: value for name, value in parts.items() if name not in _NOT_ON_DAYS}
    if "UNTIL" in parts:
        parts["UNTIL"] = _fit_until(parts["UNTIL"], start)
    if "BYSETPOS" in parts and sum(name.startswith("BY") for name in parts) == 1:
        return None
    return ";".join(f"{name}={value}" for name, value in parts.items())


def _fit_until(until: str, start: str) -> str:
    if is_day(start):
        return until[:_DATE_LETTERS]
    date, _, time = until.partition("T")
    return f"{date}T{time.removesuffix('Z') or '235959'}{'Z' if start.endswith('Z') else ''}"
