"""The event vocabulary: what is wrong with a vevent item, for whoever wrote it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global, parse_datetime
from tocsin.spec.infrastructure.microsyntaxes import is_valid_nonneg
from tocsin.spec.microdata.formats.recurrence import read_rule
from tocsin.spec.microdata.hcard import CLASSES, NO_MOMENT, NO_POSITION, is_valid_geo
from tocsin.spec.microdata.vocabulary import Fault, find_repeated, find_unknown, is_text, is_url, must_be, must_be_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.microdata.values import Item, Property
    from tocsin.spec.microdata.vocabulary import Check

_AN_EVENT = "an event"
_SUCH_AS: Final = "write such as 2026-11-21 or 2026-11-21T08:20:00Z"
_NO_RECURRENCE: Final = (
    "is no date on which an event may recur; write such as 2026-11-21, 2026-11-21T08:20:00Z or "
    "2026-11-21T08:20:00Z/PT1H"
)
_MANY: Final = ("attach", "categories", "comment", "resources", "contact", "exdate", "exrule", "rdate", "rrule")
_WORDS: Final = {
    "class": CLASSES,
    "status": ("tentative", "confirmed", "cancelled"),
    "transp": ("opaque", "transparent"),
}
_WEEK, _DAY, _HOUR, _MINUTE = 604_800, 86_400, 3_600, 60
_DURATION = re.compile(
    r"P(?:(?P<weeks>[0-9]++)W"
    r"|(?=[0-9T])(?:(?P<days>[0-9]++)D)?"
    r"(?:T(?:(?P<hours>[0-9]++)H(?:(?P<minutes>[0-9]++)M(?:(?P<seconds>[0-9]++)S)?)?"
    r"|(?P<only_minutes>[0-9]++)M(?:(?P<their_seconds>[0-9]++)S)?"
    r"|(?P<only_seconds>[0-9]++)S))?)"
)
_UNITS: Final = {
    "weeks": _WEEK,
    "days": _DAY,
    "hours": _HOUR,
    "minutes": _MINUTE,
    "seconds": 1,
    "only_minutes": _MINUTE,
    "their_seconds": 1,
    "only_seconds": 1,
}
_LONGEST = 4000
"""So many digits Python reads as a number; a longer duration is none."""


def parse_duration(text: str) -> int | None:
    """Read a duration as the vocabulary writes them: the sum of its parts, in seconds; None if it is none.

    Source  text 003, valid vevent duration string: P, then weeks, or days and contiguous parts of a time (IC-03)
    """
    match = _DURATION.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    return sum(int(match[part]) * unit for part, unit in _UNITS.items() if match[part] is not None)


def is_valid_rdate(text: str) -> bool:
    """Say whether an event may recur then: a date, a moment, or a moment with a later one or a duration (IC-04)."""
    start, mark, end = text.partition("/")
    if not mark:
        return is_valid_date(text) or is_valid_global(text)
    if not is_valid_global(start):
        return False
    return parse_duration(end) is not None or (is_valid_global(end) and _is_later(end, start))


def find_event_faults(event: Item) -> Iterator[Fault]:
    """Find what an author must mend of an event (IC-01 to IC-05), and what no calendar can say (VC-22)."""
    if not event.named("dtstart"):
        problem = (
            "dtstart missing: no calendar can show this event, and an exported one leaves it out; "
            'write a time element with itemprop="dtstart"'
        )
        yield Fault(event, "IC-01", None, problem)
    yield from find_repeated(event, _PROPERTIES.keys() - set(_MANY), "IC-01", _AN_EVENT)
    yield from find_unknown(event, _PROPERTIES, "IC-01", _AN_EVENT)
    for each in event.properties:
        for name in each.names:
            if name in _PROPERTIES:
                yield from _PROPERTIES[name](each, name)
            elif ":" in name:
                yield Fault(each, "VC-22", name, "is a name that no calendar can hold; an exported one is without it")
    yield from _find_wrong_end(event)


def _find_wrong_end(event: Item) -> Iterator[Fault]:
    start = next((each.text for each in event.named("dtstart") if each.text is not None), None)
    for each in event.named("dtend"):
        if event.named("duration"):
            yield Fault(each, "IC-02", None, "an event ends then, or takes so long; leave dtend or duration out")
        end = each.text
        if start is None or end is None or not _is_when(start) or not _is_when(end):
            continue
        if is_valid_date(start) is not is_valid_date(end):
            problem = f"is not as fine as its dtstart; write {'a date' if is_valid_date(start) else 'date and time'}"
            yield Fault(each, "IC-02", end, problem)
        elif not _is_later(end, start):
            problem = "is not later than its dtstart; of days, write the one behind the last"
            yield Fault(each, "IC-02", end, problem)


def _is_when(text: str) -> bool:
    return is_valid_date(text) or is_valid_global(text)


def _is_duration(text: str) -> bool:
    return parse_duration(text) is not None


def _is_rule(text: str) -> bool:
    return read_rule(text) is not None


def _is_later(text: str, than: str) -> bool:
    """Compare two dates, or two moments."""
    return _to_order(text) > _to_order(than)


def _to_order(text: str) -> tuple[int, str]:
    """Give what two dates, or two moments in UTC, are ordered by: years have any number of digits."""
    moment = parse_datetime(text)
    year, _, rest = (text if moment is None else moment.utc).partition("-")
    return int(year[-_LONGEST:] or 0), rest.rstrip("Z")


def _check_text(each: Property, name: str) -> Iterator[Fault]:
    return must_be_text(each, "IC-01", name)


def _check_url(each: Property, _: str) -> Iterator[Fault]:
    if not is_url(each):
        yield Fault(each, "IC-01", each.text or "", "is no absolute URL; write it into an href or src")


def _check_word(each: Property, name: str) -> Iterator[Fault]:
    if not is_text(each) or each.text not in _WORDS[name]:
        yield Fault(each, "IC-05", each.text or "", f"is no {name}; write one of: {', '.join(_WORDS[name])}")


_PROPERTIES: Final[dict[str, Check]] = {
    "attach": _check_url,
    "categories": _check_text,
    "class": _check_word,
    "comment": _check_text,
    "description": _check_text,
    "geo": must_be("IC-01", is_valid_geo, NO_POSITION),
    "location": _check_text,
    "resources": _check_text,
    "status": _check_word,
    "summary": _check_text,
    "dtend": must_be("IC-02", _is_when, f"is neither a date nor a date and time with a zone; {_SUCH_AS}"),
    "dtstart": must_be("IC-02", _is_when, f"is neither a date nor a date and time with a zone; {_SUCH_AS}"),
    "duration": must_be("IC-03", _is_duration, "is no duration; write such as P2W, P1D, PT1H30M or P1DT2H"),
    "transp": _check_word,
    "contact": _check_text,
    "url": _check_url,
    "exdate": must_be("IC-04", _is_when, f"is no date on which an event may be left out; {_SUCH_AS}"),
    "exrule": must_be("IC-04", _is_rule, "is no rule of iCalendar; write such as FREQ=WEEKLY;COUNT=10"),
    "rdate": must_be("IC-04", is_valid_rdate, _NO_RECURRENCE),
    "rrule": must_be("IC-04", _is_rule, "is no rule of iCalendar; write such as FREQ=WEEKLY;COUNT=10"),
    "created": must_be("IC-01", is_valid_global, NO_MOMENT),
    "last-modified": must_be("IC-01", is_valid_global, NO_MOMENT),
    "sequence": must_be("IC-01", is_valid_nonneg, "is no number of a revision; write digits alone"),
}
"""The properties of an event, in the text's order."""
