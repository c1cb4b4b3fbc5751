"""Events of a page as iCalendar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.microdata.lines import Budget, Sheet, Written, escape
from tocsin.spec.microdata.values import VEVENT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from tocsin.spec.microdata.values import Item, Microdata, Property

_STRIPPED = str.maketrans("", "", "-:")


def write_calendar(
    data: Microdata, *, profile: str = "export", now: datetime, product: str, which: int | None = None
) -> Written:
    """Write the events of a page, or one of them, as a calendar, and tell what was left out of it.

    profile  export: as today's calendars read it; text: as text 003 has it, to the letter
    now      when the events are known to be so, aware, in UTC
    product  what wrote the calendar, such as -//Acme//Watcher//EN
    which    a number among the page's events, from 1; None: all of them in one calendar
    Source   text 003, vEvent: conversion (IC-07 to IC-13)
    """
    from tocsin.spec.microdata.icalendar_export import ExportedEvents  # noqa: PLC0415 - made of what stands here

    events = find_events(data)
    if not events or (which is not None and not 0 < which <= len(events)):
        return Written(None)
    budget = Budget()
    writer = (Events if profile == "text" else ExportedEvents)(data, budget, now)
    sheet = Sheet(budget)
    sheet.frame("BEGIN", "VCALENDAR")
    sheet.frame("PRODID", escape(product))
    sheet.frame("VERSION", "2.0")
    writer.name_calendar(sheet)
    untold = written = undated = 0
    for number, event in enumerate(events, 1):
        if budget.is_spent:
            untold = (len(events) if which is None else which) - number + 1
            break
        writer.take(event)
        if which in (None, number):
            if writer.is_dated:
                writer.write(event, sheet)
                written += 1
            else:
                undated += 1
        if which == number:
            break
    sheet.frame("END", "VCALENDAR")
    problems = (*_tell_undated(undated), *_problems(budget, untold))
    return Written(sheet.text if written or not undated else None, problems)


def find_events(data: Microdata) -> tuple[Item, ...]:
    """Give the events of a page as they are numbered: in tree order."""
    return tuple(item for item in data.all if VEVENT in item.types)


class Events:
    """Writes the events of one page to the letter of the text."""

    def __init__(self, data: Microdata, budget: Budget, now: datetime) -> None:
        self._data = data
        self._budget = budget
        self._stamp = f"{now:%Y%m%dT%H%M%SZ}"

    def name_calendar(self, sheet: Sheet) -> None:
        """Say what the calendar is called; to the letter it has no name."""

    def take(self, event: Item) -> None:
        """Notice an event, also one that is not written; each in its turn."""

    @property
    def is_dated(self) -> bool:
        """Whether the event that was taken last may stand in a calendar; to the letter each may."""
        return True

    def write(self, event: Item, sheet: Sheet) -> None:
        """Write the event that was taken last; what the budget no longer holds is left out, but its frame is whole."""
        sheet.frame("BEGIN", "VEVENT")
        sheet.frame("DTSTAMP;VALUE=DATE-TIME", self._stamp)
        self._write_body(event, sheet)
        sheet.frame("END", "VEVENT")

    def _write_body(self, event: Item, sheet: Sheet) -> None:
        if event.id is not None:
            sheet.add("UID", escape(event.id))
        for name, each in self._each_line(event):
            text = each.text
            if text is None:
                continue  # IC-09
            if each.kind is not Kind.TIME:
                sheet.add(name, escape(text))
            elif is_valid_date(text):
                sheet.add(name, text.translate(_STRIPPED), [("VALUE", "DATE")])
            elif is_valid_global(text):
                sheet.add(name, text.translate(_STRIPPED), [("VALUE", "DATE-TIME")])

    def _each_line(self, event: Item) -> Iterator[tuple[str, Property]]:
        """Give each name of each property, while there is a budget."""
        for each in event.properties:
            for name in each.names:
                if not self._budget.look():
                    return
                yield name, each


def _tell_undated(undated: int) -> Iterator[str]:
    if undated:
        events = "event without a date is" if undated == 1 else "events without a date are"
        yield f"{undated} {events} left out"


def _problems(budget: Budget, untold: int) -> tuple[str, ...]:
    if not budget.is_spent:
        return ()
    more = f", and {untold} {'event' if untold == 1 else 'events'}" if untold else ""
    return (f"too much for one file: properties of one event{more} are left out",)
