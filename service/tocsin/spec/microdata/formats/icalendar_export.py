"""What today's calendars need of an event beyond what text 003 says: RFC 5545 kept, and an identifier in every one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.uri import percent
from tocsin.spec.microdata.formats.content_lines import (
    Budget,
    clean,
    each_line,
    escape,
    fold_octets,
    is_name,
    is_passed_on,
)
from tocsin.spec.microdata.formats.icalendar_identity import Identifiers, Known
from tocsin.spec.microdata.formats.icalendar_text import Events
from tocsin.spec.microdata.formats.recurrence import fit_rule, is_by_clock, read_rule
from tocsin.spec.microdata.formats.times import (
    When,
    export_datetime,
    fit_to,
    is_day,
    name_zone,
    read_when,
    to_clock,
    write_zone,
)
from tocsin.spec.microdata.hcard import is_on_earth
from tocsin.spec.microdata.vevent import parse_duration

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from typing import TypeAlias

    from tocsin.spec.microdata.formats.content_lines import Sheet
    from tocsin.spec.microdata.values import Item, Microdata

_OURS: Final = frozenset({"BEGIN", "END", "PROFILE", "VERSION", "PRODID", "CALSCALE", "METHOD", "DTSTAMP"})
"""What the calendar says of itself; a page that could say it too could end the event, or begin another."""
_ELSEWHERE: Final = frozenset(
    {
        *("DUE", "COMPLETED", "PERCENT-COMPLETE", "FREEBUSY", "BUSYTYPE", "REQUEST-STATUS"),
        *("TZID", "TZNAME", "TZOFFSETFROM", "TZOFFSETTO", "TZURL", "ACTION", "REPEAT", "TRIGGER", "ACKNOWLEDGED"),
        *("REFRESH-INTERVAL", "IMAGE", "LINK", "CONCEPT", "CONFERENCE", "SOURCE", "STRUCTURED-DATA"),
        *("STYLED-DESCRIPTION", "GAP", "ADR", "N", "ORG", "RECURRENCE-ID"),
        *("ALTREP", "DIR", "DELEGATED-FROM", "DELEGATED-TO", "MEMBER", "SENT-BY", "RSVP"),
    }
)
"""Names that RFC 5545 and its heirs know, but not of an event, not as a text, or as those of parameters."""
_ONCE: Final = frozenset(
    {
        *("CLASS", "CREATED", "DESCRIPTION", "DTEND", "DTSTART", "DURATION", "GEO", "LAST-MODIFIED", "LOCATION"),
        *("ORGANIZER", "PRIORITY", "SEQUENCE", "STATUS", "SUMMARY", "TRANSP", "UID", "URL"),
    }
)
_STATES: Final = {
    "STATUS": frozenset({"TENTATIVE", "CONFIRMED", "CANCELLED"}),
    "TRANSP": frozenset({"OPAQUE", "TRANSPARENT"}),
    "CLASS": frozenset({"PUBLIC", "PRIVATE", "CONFIDENTIAL"}),
}
_NUMBER = re.compile("0*+([0-9]{1,9})")
_NO_URI = re.compile(r"[^!#-\[\]-~]")
_RULES: Final = frozenset({"RRULE", "EXRULE"})
_BY_CLOCK: Final = frozenset({"DTSTART", "DTEND", "EXDATE", "RDATE"})
"""What is told by the clock of a rule, where UTC would mean other days; periods are moments however they are told."""
_ENDS: Final = {"DTEND": "DURATION", "DURATION": "DTEND"}
"""Of these an event has one."""
_LONGEST = 1000
"""So much of a text is read as a date, or to tell an event by it; so long an identifier may be."""
_MOMENT: Final = [("VALUE", "DATE-TIME")]
_NO_TIME: Final = When("")
_LONGEST_S: Final = 100 * 366 * 86_400
"""A century: longer than any event, and shorter than what readers can count."""


class ExportedEvents(Events):
    """Writes the events of one page as today's readers take them."""

    def __init__(self, data: Microdata, budget: Budget, now: datetime) -> None:
        super().__init__(data, budget, now)
        self._known: dict[Item, Known | None] = {}
        self._identifiers = Identifiers(data.address)
        self._uid = ""
        self._start = _NO_TIME
        self._clock = 0
        self._zones: dict[int, None] = {}

    @staticmethod
    def fold(line: str) -> str:
        """Break a long line."""
        return fold_octets(line)

    def name_calendar(self, sheet: Sheet) -> None:
        """Call the calendar by the page's title, where it has one: programs show that beside a subscription.

        Source  RFC 7986, 5.1: NAME; X-WR-CALNAME is what programs read that are older, and most that are not
        """
        title = " ".join(clean((self._data.title or "")[:_LONGEST]).split())
        if title:
            for name in ("NAME", "X-WR-CALNAME"):
                sheet.demand(name, escape(title))

    def meet(self, events: Iterable[Item]) -> None:
        """Notice all events of the page before one of them is taken: identifiers depend on who else is called so."""
        looks = Budget()  # as much as there is for those that are taken: who is beyond that is not taken either
        for event in events:
            if not looks.look(len(event.properties)):
                return
            self._known[event] = known = self._know(event)
            if known is not None:
                self._identifiers.meet(known)

    def take(self, event: Item) -> bool:
        """Find when an event is, and its identifier: its own, or one that is the same on every run (IC-13).

        Returns whether its start is known: without one no calendar may have it, and some refuse all the others, too.
        Source  RFC 5545, 3.6.1: DTSTART
        """
        self._budget.look(len(event.properties))
        known = self._known[event] if event in self._known else self._know(event)
        if known is None:
            return False
        self._start, self._uid = known.start, self._identifiers.give(known)
        self._clock = self._find_clock(event)
        return True

    def _find_clock(self, event: Item) -> int:
        """Find the offset of the clock by which an event's rules are meant; 0 where UTC means the same."""
        start = self._start
        if start.offset_minutes == 0:
            return 0
        for each in event.properties:
            if each.text is None or _RULES.isdisjoint(map(str.upper, each.names)):
                continue
            if not self._budget.spend(len(each.text)):
                return 0
            rule = _read_rule(clean(each.text), start)
            if rule is not None and is_by_clock(rule, start):
                return start.offset_minutes
        return 0

    def write_zones(self, sheet: Sheet) -> None:
        """Write the zones that the events are told in that were written."""
        for offset in self._zones:
            write_zone(offset, sheet)

    def _know(self, event: Item) -> Known | None:
        """Give what an event is known by: its URL, else its summary, where it has no identifier; None without a start.

        Not its dates: an event that is put off stays the same one.
        """
        start = _find_start(event)
        if start is None:
            return None
        own, url = clean(event.id or "") or self._text_of(event, "uid"), self._text_of(event, "url")
        return Known(start, own, url if url and url != self._data.address else self._text_of(event, "summary"))

    def _text_of(self, event: Item, name: str) -> str:
        return next((clean((each.text or "")[:_LONGEST]) for each in event.properties if name in each.names), "")

    def _write_body(self, event: Item, sheet: Sheet) -> None:
        sheet.demand("UID", escape(self._uid))
        told, start = {"UID"}, self._start
        for name, each in each_line(event, self._budget):
            upper = name.upper()
            if not is_name(name) or upper in _OURS or upper in _ELSEWHERE or upper in told:
                continue
            if each.text is None:
                self.unfit[upper] += 1  # IC-09
                continue
            text = clean(each.text)
            written = _WRITERS[upper](text, start) if upper in _WRITERS else _write_text(text, upper)
            if written is None or _ENDS.get(upper) in told:
                self._budget.spend(len(each.text))
                self.unfit[upper] += bool(text)
                continue
            if upper in _ONCE:
                told.add(upper)
            (sheet.demand if upper == "DTSTART" else sheet.add)(upper, *self._tell(upper, written))
        if "DTSTART" not in told:
            sheet.demand("DTSTART", *self._tell("DTSTART", _annotate(start)))

    def _tell(self, name: str, line: Line) -> Line:
        """Tell a moment by the clock of the event's rules, if they need one."""
        value, parameters = line
        if self._clock == 0 or name not in _BY_CLOCK or parameters != _MOMENT or not value.endswith("Z"):
            return line
        told = to_clock(value, self._clock)
        if told == value:
            return line
        self._zones[self._clock] = None
        return told, [*_MOMENT, ("TZID", name_zone(self._clock))]


def _find_start(event: Item) -> When | None:
    texts = ((each.text or "")[:_LONGEST] for each in event.properties if "DTSTART" in map(str.upper, each.names))
    return next(filter(None, (read_when(clean(text)) for text in texts)), None)


def _read_rule(text: str, start: When) -> str | None:
    rule = read_rule(text)
    return None if rule is None else fit_rule(rule, start)


def _write_text(text: str, name: str) -> Line | None:
    if name in _STATES:
        return (text.upper(), []) if text.upper() in _STATES[name] else None
    return (escape(text), []) if text else None


def _annotate(when: When) -> Line:
    return when.basic, [("VALUE", "DATE" if when.is_day else "DATE-TIME")]


def _write_exception(text: str, start: When) -> Line | None:
    when = read_when(text)
    return None if when is None else _annotate(fit_to(start, when))


def _write_start(_: str, start: When) -> Line:
    return _annotate(start)  # the first that is a date; it was read before


def _write_end(text: str, start: When) -> Line | None:
    """Write the end, if it is of the start's kind and behind it: with any other, calendars refuse the event."""
    end = read_when(text)
    if end is None or len(end.basic) != len(start.basic) or end.basic <= start.basic:
        return None
    return _annotate(end)


def _write_moment(text: str, _: When) -> Line | None:
    basic = export_datetime(text)
    return None if basic is None or is_day(basic) else (basic, _MOMENT)


def _write_more_dates(text: str, start: When) -> Line | None:
    begin, mark, end = text.partition("/")
    if not mark:
        when = read_when(text)
        return None if when is None else _annotate(when if start.is_day else fit_to(start, when))
    since, until = _write_moment(begin, start), _write_moment(end, start)
    if since is None:
        return None
    if until is not None:
        return (f"{since[0]}/{until[0]}", [("VALUE", "PERIOD")]) if since[0] < until[0] else None
    return (f"{since[0]}/{end}", [("VALUE", "PERIOD")]) if _lasts(end) else None


def _lasts(text: str) -> bool:
    seconds = parse_duration(text)
    return seconds is not None and 0 < seconds <= _LONGEST_S


def _write_duration(text: str, start: When) -> Line | None:
    # An event of whole days lasts whole days.
    return (text, []) if _lasts(text) and not (start.is_day and "T" in text) else None


def _write_rule(text: str, start: When) -> Line | None:
    rule = _read_rule(text, start)
    return None if rule is None else (rule, [])


def _write_position(text: str, _: When) -> Line | None:
    return (text, []) if is_on_earth(text) else None


def _write_uri(text: str, _: When) -> Line | None:
    return (_NO_URI.sub(percent, text), []) if is_passed_on(text) else None


def _write_number(text: str, _: When) -> Line | None:
    match = _NUMBER.fullmatch(text)
    return None if match is None else (match[1], [])


_WRITERS: Final[dict[str, Callable[[str, When], Line | None]]] = {
    "DTSTART": _write_start,
    "DTEND": _write_end,
    "EXDATE": _write_exception,
    "RDATE": _write_more_dates,
    "CREATED": _write_moment,
    "LAST-MODIFIED": _write_moment,
    "DURATION": _write_duration,
    "RRULE": _write_rule,
    "EXRULE": _write_rule,
    "GEO": _write_position,
    "URL": _write_uri,
    "ATTACH": _write_uri,
    "ATTENDEE": _write_uri,
    "ORGANIZER": _write_uri,
    "SEQUENCE": _write_number,
    "PRIORITY": _write_number,
}
"""How values that are no texts are written, each given its text and the event's start; None leaves the line out."""

if TYPE_CHECKING:
    Line: TypeAlias = tuple[str, list[tuple[str, str]]]
