"""Events of a page as iCalendar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.spec.microdata.formats.content_lines import Budget, Sheet, Written, escape, tell_cut, tell_unfit
from tocsin.spec.microdata.formats.icalendar_absence import tell_undated
from tocsin.spec.microdata.formats.icalendar_export import ExportedEvents
from tocsin.spec.microdata.formats.icalendar_text import Events
from tocsin.spec.microdata.values import VEVENT

if TYPE_CHECKING:
    from datetime import datetime

    from tocsin.spec.microdata.values import Item, Microdata


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
    events = find_events(data)
    if not events or (which is not None and not 0 < which <= len(events)):
        return Written(None)
    budget = Budget()
    writer = (Events if profile == "text" else ExportedEvents)(data, budget, now)
    head, body = _begin(writer, budget, product), Sheet(budget, writer.fold)
    writer.meet(events)
    untold = written = 0
    undated: list[tuple[int, Item]] = []
    taken = events[:which]  # those before it, too: they decide what it is called
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
    problems = (*tell_undated(undated), *tell_unfit(writer.unfit, "calendars"), *tell_cut(budget, "event", untold))
    return Written(head.text + body.text if written or not undated else None, problems)


def write_empty_calendar(data: Microdata, *, now: datetime, product: str) -> str:
    """Write a calendar without events as `export` has it, named as its page is: subscribers know it by that.

    The arguments are those of `write_calendar`.
    """
    budget = Budget()
    sheet = _begin(ExportedEvents(data, budget, now), budget, product)
    sheet.frame("END", "VCALENDAR")
    return sheet.text


def find_events(data: Microdata) -> tuple[Item, ...]:
    """Give the events of a page as they are numbered: in tree order."""
    return tuple(item for item in data.all if VEVENT in item.types)


def _begin(writer: Events, budget: Budget, product: str) -> Sheet:
    sheet = Sheet(budget, writer.fold)
    sheet.frame("BEGIN", "VCALENDAR")
    sheet.frame("PRODID", escape(product))
    sheet.frame("VERSION", "2.0")
    writer.name_calendar(sheet)
    return sheet
