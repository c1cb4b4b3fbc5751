"""Content lines of vCard and iCalendar: escaping, folding, and limits."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple, TypeAlias

from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.infrastructure.datetimes import is_valid_date, parse_datetime
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.values import Item, Property

Fold: TypeAlias = Callable[[str], str]

# The longest file, about; what is beyond is left out, and reported.
MOST_LETTERS: Final = 8 * 2**20

# Properties that a message names.
_MOST_NAMED = 8
# The cost of looking at a property, in letters.
_LOOK = 16
_FIRST_LINE, _NEXT_LINE = 75, 74
_ESCAPED = re.compile(r"\r\n|[\\,;\r\n]")
_ESCAPED_BUT_SEMICOLONS = re.compile(r"\r\n|[\\,\r\n]")
_UPPER = str.maketrans({chr(at): chr(at - 32) for at in range(ord("a"), ord("z") + 1)})
_BREAKS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85\u2028\u2029"
_KEPT = "\t\n\r"
_CONTROLS = [chr(at) for at in (*range(0x20), *range(0x7F, 0xA0)) if chr(at) not in _KEPT + _BREAKS]
_CLEANED = str.maketrans({**dict.fromkeys(_CONTROLS, ""), **dict.fromkeys(_BREAKS, "\n")})
_KEPT_BACK = re.compile("(?:blob|data|file|jar|javascript|smb|vbscript|view-source):", re.IGNORECASE)
_SURROGATE = re.compile("[\ud800-\udfff]")
# No name is longer in practice; a longer one would be folded, which few readers expect.
_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")


class Written(NamedTuple):
    """A file of content lines.

    text      None if the page has nothing of the kind
    problems  sentences for its reader: what was left out, and why
    """

    text: str | None
    problems: tuple[str, ...] = ()


class Budget:
    """The letters that may still be written; looking at a property costs some, too."""

    # A page whose items share their properties has many times more to write than it has bytes.

    def __init__(self, letters: int = MOST_LETTERS) -> None:
        self._left = letters

    def spend(self, letters: int) -> bool:
        """Spend letters; returns whether there were enough. Once there were not, the budget stays spent."""
        self._left = self._left - letters if letters <= self._left else -1
        return not self.is_spent

    def look(self, properties: int = 1) -> bool:
        """Spend the cost of looking at properties; returns whether there was enough."""
        return self.spend(properties * _LOOK)

    @property
    def is_spent(self) -> bool:
        """Whether something did not fit in."""
        return self._left < 0


class Sheet:
    """Lines of a file; the sheets of one file share its budget.

    fold  breaks long lines: `fold_octets` or `fold_letters`
    """

    def __init__(self, budget: Budget, fold: Fold) -> None:
        self.budget = budget
        self._fold = fold
        self._lines: list[str] = []

    def frame(self, name: str, value: str) -> None:
        """Add a line that the file needs, without charge; the value as it is written."""
        self._lines.append(write_line(name, value, fold=self._fold))

    def add(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line, unless the budget is spent; the value as it is written."""
        if self.budget.spend(len(name) + len(value) + 3):
            self._lines.append(write_line(name, value, parameters, fold=self._fold))

    def demand(self, name: str, value: str, parameters: Iterable[tuple[str, str]] = ()) -> None:
        """Add a line and charge the budget, even if it is spent."""
        self.budget.spend(len(name) + len(value) + 3)
        self._lines.append(write_line(name, value, parameters, fold=self._fold))

    @property
    def text(self) -> str:
        """All lines, joined."""
        return "".join(self._lines)


def each_line(item: Item, budget: Budget) -> Iterator[tuple[str, Property]]:
    """Yield each name of each property of an item, for a line each (VC-11), until the budget is spent."""
    for each in item.properties:
        for name in each.names:
            if not budget.look():
                return
            yield name, each


def tell_cut(budget: Budget, what: str, untold: int) -> tuple[str, ...]:
    """Report what was left out of a file, if its budget is spent.

    what    what the file holds: contact, event
    untold  how many of them were not begun
    """
    if not budget.is_spent:
        return ()
    more = f", and {untold} {what if untold == 1 else f'{what}s'}" if untold else ""
    return (f"too much for one file: properties of one {what}{more} are left out",)


def tell_unfit(unfit: Counter[str], of: str) -> tuple[str, ...]:
    """Report the properties of invalid values: `values that calendars do not take are left out: organizer (2)`.

    unfit  how many values were left out, by the property's name
    of     what does not accept them, such as calendars
    """
    names = sorted(name for name, count in unfit.items() if count)
    if not names:
        return ()
    said = [f"{name.lower()} ({unfit[name]:,})" if unfit[name] > 1 else name.lower() for name in names[:_MOST_NAMED]]
    if len(names) > _MOST_NAMED:
        said.append(f"and {len(names) - _MOST_NAMED:,} more")
    return (f"values that {of} do not take are left out: {', '.join(said)}",)


def write_line(name: str, value: str, parameters: Iterable[tuple[str, str]] = (), *, fold: Fold) -> str:
    """Write one line, folded, with its end.

    value   as it is written, escaped
    Source  text 003, adding a vCard or iCalendar line (VC-19, IC-12)
    """
    line = f"{name.translate(_UPPER)}{''.join(f';{each}={chosen}' for each, chosen in parameters)}:{value}"
    # Deviation: a lone surrogate, which no encoding can write, becomes a replacement character.
    return fold(line if line.isascii() else _SURROGATE.sub("\ufffd", line))


def fold_octets(line: str) -> str:
    """Fold a line to at most 75 octets of UTF-8 without splitting a letter; with its end.

    Source  RFC 5545, 3.1; RFC 2426, 2.6
    """
    if line.isascii():
        return fold_letters(line)
    octets = line.encode()
    parts: list[bytes] = []
    start, longest = 0, _FIRST_LINE
    while len(octets) - start > longest:
        end = start + longest
        while octets[end] & 0xC0 == 0x80:  # noqa: PLR2004 - a continuation byte of UTF-8
            end -= 1
        parts.append(octets[start:end])
        start, longest = end, _NEXT_LINE
    return b"\r\n ".join((*parts, octets[start:])).decode() + "\r\n"


def fold_letters(line: str) -> str:
    """Fold a line after 75 code points, and then after 74 each, as text 003 says (C-15); with its end."""
    if len(line) <= _FIRST_LINE:
        return line + "\r\n"
    rest = [line[at : at + _NEXT_LINE] for at in range(_FIRST_LINE, len(line), _NEXT_LINE)]
    return "\r\n ".join((line[:_FIRST_LINE], *rest)) + "\r\n"


def escape(text: str, *, with_semicolons: bool = True) -> str:
    r"""Escape a text: \, commas and semicolons with a \ before them, line ends as \n (VC-18, IC-12)."""
    pattern = _ESCAPED if with_semicolons else _ESCAPED_BUT_SEMICOLONS
    return pattern.sub(_escape_one, text)


def clean(text: str) -> str:
    """Strip white space and control characters except tabs; other line ends of Unicode become newlines."""
    return text.translate(_CLEANED).strip(SPACE)


def is_passed_on(text: str) -> bool:
    """Say whether a text is an absolute URL that is safe to export: it runs no script, and leads to no local file."""
    return is_absolute_url(text) and _KEPT_BACK.match(text) is None


def is_name(text: str) -> bool:
    """Say whether a text can be the name of a line: ASCII letters, digits and hyphens, at most 60."""
    return _NAME.fullmatch(text) is not None


def _escape_one(match: re.Match[str]) -> str:
    found = match[0]
    return rf"\{found}" if found in "\\,;" else r"\n"


# Dates and times: as today's pages write them, and as calendars have them, in UTC or by the clock of an offset.


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


# Recurrence rules of iCalendar: whether a text is one, and whether it fits an event.


_WEEKDAY = "(?:SU|MO|TU|WE|TH|FR|SA)"
# Rules of recurrence have up to some hundred letters.
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
