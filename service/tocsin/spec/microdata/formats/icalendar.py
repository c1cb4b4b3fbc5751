"""Events of a page as iCalendar, to the letter of text 003 or as today's calendars read it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple, TypeAlias
from uuid import NAMESPACE_URL, uuid5

from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.unsafe import safe_line
from tocsin.spec.infrastructure.urls import percent
from tocsin.spec.microdata.formats.content_lines import (
    Budget,
    Sheet,
    When,
    Written,
    clean,
    each_line,
    escape,
    export_datetime,
    fit_rule,
    fit_to,
    fold_letters,
    fold_octets,
    is_by_clock,
    is_day,
    is_name,
    is_passed_on,
    name_zone,
    read_rule,
    read_when,
    tell_cut,
    tell_unfit,
    to_clock,
    write_zone,
)
from tocsin.spec.microdata.values import VEVENT, Item, Microdata, ValueKind
from tocsin.spec.microdata.vocabulary import EVENT, ValueForm, is_on_earth, parse_duration

# The value as it is written, and its parameters.
_Line: TypeAlias = tuple[str, list[tuple[str, str]]]

# The calendar says these itself; a page that could write them too could end the event, or begin another one.
_RESERVED: Final = frozenset({"BEGIN", "END", "PROFILE", "VERSION", "PRODID", "CALSCALE", "METHOD", "DTSTAMP"})
# Names that RFC 5545 and its successors define, but not for an event, not as a text, or for parameters.
_NOT_OF_EVENTS: Final = frozenset(
    {
        *("DUE", "COMPLETED", "PERCENT-COMPLETE", "FREEBUSY", "BUSYTYPE", "REQUEST-STATUS"),
        *("TZID", "TZNAME", "TZOFFSETFROM", "TZOFFSETTO", "TZURL", "ACTION", "REPEAT", "TRIGGER", "ACKNOWLEDGED"),
        *("REFRESH-INTERVAL", "IMAGE", "LINK", "CONCEPT", "CONFERENCE", "SOURCE", "STRUCTURED-DATA"),
        *("STYLED-DESCRIPTION", "GAP", "ADR", "N", "ORG", "RECURRENCE-ID"),
        *("ALTREP", "DIR", "DELEGATED-FROM", "DELEGATED-TO", "MEMBER", "SENT-BY", "RSVP"),
    }
)
_SINGLE: Final = frozenset(
    {*(name.upper() for name, term in EVENT.items() if term.is_single), "ORGANIZER", "PRIORITY", "UID"}
)
_NUMBER = re.compile("0*+([0-9]{1,9})")
_NO_URI = re.compile(r"[^!#-\[\]-~]")
_RULES: Final = frozenset({"RRULE", "EXRULE"})
# A rule counts days by a clock, so these are told by that clock too. Periods are moments, by any clock.
_BY_CLOCK: Final = frozenset({"DTSTART", "DTEND", "EXDATE", "RDATE"})
# An event has one of these.
_ENDS: Final = {"DTEND": "DURATION", "DURATION": "DTEND"}
# Letters of a text that are read as a date or to identify an event, and of an identifier.
_LONGEST = 1000
_MOMENT: Final = [("VALUE", "DATE-TIME")]
_PERIOD: Final = [("VALUE", "PERIOD")]
_NO_TIME: Final = When("")
# A century is longer than any event, and shorter than what readers can count.
_LONGEST_S: Final = 100 * 366 * 86_400
_STRIPPED = str.maketrans("", "", "-:")
# In one note.
_MOST_UNDATED: Final = 3
_LONGEST_QUOTE: Final = 60


def write_calendar(
    data: Microdata, *, profile: str = "export", now: datetime, product: str, which: int | None = None
) -> Written:
    """Write the events of a page, or one of them, as a calendar, with notes on what was left out.

    profile  export: as today's calendars read it; text: as text 003 says, to the letter
    now      when the events are known to be so, aware, in UTC
    product  what wrote the calendar, such as -//Acme//Watcher//EN
    which    a number among the page's events, from 1; None: all of them in one calendar
    Source   text 003, vEvent: conversion (IC-07 to IC-13)
    """
    events = find_events(data)
    if not events or (which is not None and not 0 < which <= len(events)):
        return Written(None)
    budget = Budget()
    writer = _EventWriter(data, budget, now, is_export=profile != "text")
    head, body = writer.begin(product), writer.sheet()
    writer.prepare(events)
    untold = written = 0
    undated: list[tuple[int, Item]] = []
    taken = events[:which]  # Identifiers depend on the events before.
    for place, event in enumerate(taken):
        if budget.is_spent:
            untold = len(taken) - place
            break
        is_dated = writer.take(event)
        if which is not None and place + 1 < which:
            continue
        if is_dated:
            writer.write(event, body)
            written += 1
        else:
            undated.append((place + 1, event))
    writer.write_zones(head)
    body.frame("END", "VCALENDAR")
    problems = (*_tell_undated(undated), *tell_unfit(writer.unfit, "calendars"), *tell_cut(budget, "event", untold))
    return Written(head.text + body.text if written or not undated else None, problems)


def write_empty_calendar(data: Microdata, *, now: datetime, product: str) -> str:
    """Write the calendar of `export` for a page without events; subscribers know it by the page's title.

    The arguments are those of `write_calendar`.
    """
    sheet = _EventWriter(data, Budget(), now, is_export=True).begin(product)
    sheet.frame("END", "VCALENDAR")
    return sheet.text


def find_events(data: Microdata) -> tuple[Item, ...]:
    """Return the events of a page in the order in which they are numbered: tree order."""
    return tuple(item for item in data.all if VEVENT in item.types)


def _tell_undated(undated: Sequence[tuple[int, Item]]) -> Iterator[str]:
    """Name the events without a date: `1 event without a date is left out: event 2 "Jazz" (dtstart "soon" is no date)`.

    undated  each with its number among the page's events
    """
    if undated:
        events = "event without a date is" if len(undated) == 1 else "events without a date are"
        said = [_tell_event(number, event) for number, event in undated[:_MOST_UNDATED]]
        if len(undated) > _MOST_UNDATED:
            said.append(f"and {len(undated) - _MOST_UNDATED:,} more")
        yield f"{len(undated):,} {events} left out: {', '.join(said)}"


def _tell_event(number: int, event: Item) -> str:
    summary, start = _beginning_of(event, "summary"), _beginning_of(event, "dtstart")
    called = f"event {number:,} {_quote(summary)}" if summary else f"event {number:,}"
    return f"{called} (dtstart {_quote(start)} is no date)" if start else called


def _beginning_of(event: Item, name: str) -> str:
    """Return the beginning of the first text of a name that is not empty."""
    texts = (each.text for each in event.properties if each.text and name in map(str.lower, each.names))
    return next(filter(None, (fold_space(text[: 4 * _LONGEST_QUOTE]) for text in texts)), "")


def _quote(text: str) -> str:
    # A page's text may hold control characters that terminals obey.
    return f'"{safe_line(text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]}…")}"'


class _EventWriter:
    """Writes the events of one page.

    is_export  repair what today's calendars refuse: RFC 5545 is kept, and every event has an identifier
    unfit      by property, how many values were left out since RFC 5545 does not allow them
    """

    def __init__(self, data: Microdata, budget: Budget, now: datetime, *, is_export: bool) -> None:
        self._data = data
        self._budget = budget
        self._stamp = f"{now:%Y%m%dT%H%M%SZ}"
        self._is_export = is_export
        self.unfit: Counter[str] = Counter()
        self._known: dict[Item, _EventIdentity | None] = {}
        self._identifiers = _Identifiers(data.address)
        self._uid = ""
        self._start = _NO_TIME
        self._clock = 0
        self._zones: dict[int, None] = {}

    def sheet(self) -> Sheet:
        """Return an empty sheet that shares the budget."""
        return Sheet(self._budget, fold_octets if self._is_export else fold_letters)

    def begin(self, product: str) -> Sheet:
        """Write the head of the calendar."""
        sheet = self.sheet()
        sheet.frame("BEGIN", "VCALENDAR")
        sheet.frame("PRODID", escape(product))
        sheet.frame("VERSION", "2.0")
        title = " ".join(clean((self._data.title or "")[:_LONGEST]).split()) if self._is_export else ""
        if title:
            # RFC 7986, 5.1 has NAME, but most programs read X-WR-CALNAME.
            for name in ("NAME", "X-WR-CALNAME"):
                sheet.demand(name, escape(title))
        return sheet

    def prepare(self, events: Iterable[Item]) -> None:
        """Look at all events of the page before the first is taken: identifiers depend on events of the same name."""
        if not self._is_export:
            return
        looks = Budget()  # As much as for the events that are taken; those beyond it are not taken either.
        for event in events:
            if not looks.look(len(event.properties)):
                return
            self._known[event] = known = self._identify(event)
            if known is not None:
                self._identifiers.add(known)

    def take(self, event: Item) -> bool:
        """Begin with an event, also with one that is not written: its start, and its identifier (IC-13).

        Returns whether its start is known. An event without one is in no exported calendar; some programs refuse all
        the other events with it.
        Source  RFC 5545, 3.6.1: DTSTART
        """
        if not self._is_export:
            return True
        self._budget.look(len(event.properties))
        known = self._known[event] if event in self._known else self._identify(event)
        if known is None:
            return False
        self._start, self._uid = known.start, self._identifiers.give(known)
        self._clock = self._find_clock(event)
        return True

    def write(self, event: Item, sheet: Sheet) -> None:
        """Write the event that was taken last; what exceeds the budget is left out, but BEGIN and END are there."""
        sheet.frame("BEGIN", "VEVENT")
        sheet.frame("DTSTAMP;VALUE=DATE-TIME", self._stamp)
        if self._is_export:
            self._export_body(event, sheet)
        else:
            self._write_body(event, sheet)
        sheet.frame("END", "VEVENT")

    def write_zones(self, sheet: Sheet) -> None:
        """Write the time zones that the written events use."""
        for offset in self._zones:
            write_zone(offset, sheet)

    def _write_body(self, event: Item, sheet: Sheet) -> None:
        if event.id is not None:
            sheet.add("UID", escape(event.id))
        for name, each in each_line(event, self._budget):
            text = each.text
            if text is None:
                continue  # IC-09
            if each.kind is not ValueKind.TIME:
                sheet.add(name, escape(text))
            elif is_valid_date(text):
                sheet.add(name, text.translate(_STRIPPED), [("VALUE", "DATE")])
            elif is_valid_global(text):
                sheet.add(name, text.translate(_STRIPPED), _MOMENT)
            else:
                self._budget.spend(len(text))

    def _export_body(self, event: Item, sheet: Sheet) -> None:
        sheet.demand("UID", escape(self._uid))
        written = {"UID"}
        for name, each in each_line(event, self._budget):
            upper = name.upper()
            if not is_name(name) or upper in _RESERVED or upper in _NOT_OF_EVENTS or upper in written:
                continue
            if each.text is None:
                self.unfit[upper] += 1  # IC-09
                continue
            text = clean(each.text)
            line = _EXPORTS.get(upper, _export_text)(text, self._start)
            if line is None or _ENDS.get(upper) in written:
                self._budget.spend(len(each.text))
                self.unfit[upper] += bool(text)
                continue
            if upper in _SINGLE:
                written.add(upper)
            (sheet.demand if upper == "DTSTART" else sheet.add)(upper, *self._by_clock(upper, line))
        if "DTSTART" not in written:
            sheet.demand("DTSTART", *self._by_clock("DTSTART", _annotate(self._start)))

    def _by_clock(self, name: str, line: _Line) -> _Line:
        """Give a moment by the clock of the event's rules, if they need one."""
        value, parameters = line
        if self._clock == 0 or name not in _BY_CLOCK or parameters != _MOMENT or not value.endswith("Z"):
            return line
        told = to_clock(value, self._clock)
        if told == value:
            return line
        self._zones[self._clock] = None
        return told, [*_MOMENT, ("TZID", name_zone(self._clock))]

    def _find_clock(self, event: Item) -> int:
        """Find the UTC offset in minutes that an event's rules need; 0 if they mean the same in UTC."""
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

    def _identify(self, event: Item) -> _EventIdentity | None:
        start = _find_start(event)
        if start is None:
            return None
        own, url = clean(event.id or "") or self._text_of(event, "uid"), self._text_of(event, "url")
        return _EventIdentity(start, own, url if url and url != self._data.address else self._text_of(event, "summary"))

    def _text_of(self, event: Item, name: str) -> str:
        return next((clean((each.text or "")[:_LONGEST]) for each in event.properties if name in each.names), "")


def _find_start(event: Item) -> When | None:
    texts = ((each.text or "")[:_LONGEST] for each in event.properties if "DTSTART" in map(str.upper, each.names))
    return next(filter(None, (read_when(clean(text)) for text in texts)), None)


class _EventIdentity(NamedTuple):
    """What identifies an event; its date does not, so that a postponed event stays the same.

    own  the identifier that the page gives it, or ""
    key  its URL if that is not the page's, else its summary; "" without both
    """

    start: When
    own: str
    key: str

    @property
    def name(self) -> str:
        """What an identifier is made of."""
        return self.own or self.key


class _Identifiers:
    """Gives each event of a page an identifier: its own, or one that is the same on every run (IC-13).

    A postponed event keeps its identifier if no other one has its name. Events of one name are told apart by their
    start, so that adding or removing one leaves the others as they are; by number only if they start together.
    """

    def __init__(self, address: str | None) -> None:
        self._address = address or ""
        self._starts: defaultdict[str, set[str]] = defaultdict(set)
        self._made: Counter[str] = Counter()
        self._given: set[str] = set()

    def add(self, event: _EventIdentity) -> None:
        """Take an event into account; all are added before the first is given its identifier."""
        self._starts[event.name].add(event.start.basic)

    def give(self, event: _EventIdentity) -> str:
        """Return an identifier that no other event has; ask for them in the order of the page."""
        uid = event.own
        while not uid or len(uid) > _LONGEST or uid in self._given:
            uid = self._make(event)
        self._given.add(uid)
        return uid

    def _make(self, event: _EventIdentity) -> str:
        several = f"\n{event.start.basic}" if len(self._starts[event.name]) > 1 else ""
        known = f"{self._address}\n{event.name}{several}"
        self._made[known] += 1
        known = f"{known}\n{self._made[known]}"
        return str(uuid5(NAMESPACE_URL, known.encode("utf-8", "replace").decode()))


# How `export` writes a value beside the start of its event: as RFC 5545 wants it; None where it allows no such value.


def _export_text(text: str, _: When) -> _Line | None:
    return (escape(text), []) if text else None


def _export_word(words: Iterable[str]) -> Callable[[str, When], _Line | None]:
    known = frozenset(map(str.upper, words))

    def export(text: str, _: When) -> _Line | None:
        return (text.upper(), []) if text.upper() in known else None

    return export


def _annotate(when: When) -> _Line:
    return when.basic, [("VALUE", "DATE" if when.is_day else "DATE-TIME")]


def _export_start(_: str, start: When) -> _Line:
    # Of several starts the first that is a date counts; that was read before.
    return _annotate(start)


def _export_end(text: str, start: When) -> _Line | None:
    # Calendars refuse an event whose end is not after its start, or not of the same kind.
    end = read_when(text)
    if end is None or len(end.basic) != len(start.basic) or end.basic <= start.basic:
        return None
    return _annotate(end)


def _export_exception(text: str, start: When) -> _Line | None:
    when = read_when(text)
    return None if when is None else _annotate(fit_to(start, when))


def _export_moment(text: str, _: When) -> _Line | None:
    basic = export_datetime(text)
    return None if basic is None or is_day(basic) else (basic, _MOMENT)


def _export_recurrence(text: str, start: When) -> _Line | None:
    begin, mark, end = text.partition("/")
    if not mark:
        when = read_when(text)
        return None if when is None else _annotate(when if start.is_day else fit_to(start, when))
    since, until = _export_moment(begin, start), _export_moment(end, start)
    if since is None:
        return None
    if until is not None:
        return (f"{since[0]}/{until[0]}", _PERIOD) if since[0] < until[0] else None
    return (f"{since[0]}/{end}", _PERIOD) if _lasts(end) else None


def _lasts(text: str) -> bool:
    seconds = parse_duration(text)
    return seconds is not None and 0 < seconds <= _LONGEST_S


def _export_duration(text: str, start: When) -> _Line | None:
    # An event of whole days lasts whole days.
    return (text, []) if _lasts(text) and not (start.is_day and "T" in text) else None


def _export_rule(text: str, start: When) -> _Line | None:
    rule = _read_rule(text, start)
    return None if rule is None else (rule, [])


def _read_rule(text: str, start: When) -> str | None:
    rule = read_rule(text)
    return None if rule is None else fit_rule(rule, start)


def _export_position(text: str, _: When) -> _Line | None:
    return (text, []) if is_on_earth(text) else None


def _export_uri(text: str, _: When) -> _Line | None:
    return (_NO_URI.sub(percent, text), []) if is_passed_on(text) else None


def _export_number(text: str, _: When) -> _Line | None:
    match = _NUMBER.fullmatch(text)
    return None if match is None else (match[1], [])


_BY_FORM: Final[dict[ValueForm, Callable[[str, When], _Line | None]]] = {
    ValueForm.URL: _export_uri,
    ValueForm.MOMENT: _export_moment,
    ValueForm.RECURRENCE: _export_recurrence,
    ValueForm.RULE: _export_rule,
    ValueForm.DURATION: _export_duration,
    ValueForm.POSITION: _export_position,
    ValueForm.REVISION: _export_number,
}
_EXPORTS: Final[dict[str, Callable[[str, When], _Line | None]]] = {
    **{name.upper(): _BY_FORM[term.form] for name, term in EVENT.items() if term.form in _BY_FORM},
    **{name.upper(): _export_word(term.words) for name, term in EVENT.items() if term.form is ValueForm.WORD},
    "DTSTART": _export_start,
    "DTEND": _export_end,
    "EXDATE": _export_exception,
    # RFC 5545 has more of events than the vocabulary.
    "ATTENDEE": _export_uri,
    "ORGANIZER": _export_uri,
    "PRIORITY": _export_number,
}
