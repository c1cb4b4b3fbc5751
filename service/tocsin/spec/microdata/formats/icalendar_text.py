"""Events as iCalendar to the letter of text 003 (IC-08 to IC-12)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.microdata.formats.content_lines import each_line, escape, fold_letters
from tocsin.spec.microdata.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from tocsin.spec.microdata.formats.content_lines import Budget, Sheet
    from tocsin.spec.microdata.values import Item, Microdata

_STRIPPED = str.maketrans("", "", "-:")


class Events:
    """Writes the events of one page to the letter of the text.

    unfit  of which properties how many values were left out, since calendars have none such; to the letter none is told
    """

    def __init__(self, data: Microdata, budget: Budget, now: datetime) -> None:
        self._data = data
        self._budget = budget
        self.unfit: Counter[str] = Counter()
        self._stamp = f"{now:%Y%m%dT%H%M%SZ}"

    @staticmethod
    def fold(line: str) -> str:
        """Break a long line."""
        return fold_letters(line)

    def name_calendar(self, sheet: Sheet) -> None:
        """Say what the calendar is called; to the letter it has no name."""

    def meet(self, events: Iterable[Item]) -> None:
        """Notice all events of the page before one of them is taken; to the letter each stands for itself."""

    def take(self, event: Item) -> bool:  # noqa: ARG002 - to the letter every event may
        """Notice an event, also one that is not written, each in its turn; say whether it may stand in a calendar."""
        return True

    def write_zones(self, sheet: Sheet) -> None:
        """Write what the calendar must say of the zones of what was written; to the letter there are none."""

    def write(self, event: Item, sheet: Sheet) -> None:
        """Write the event that was taken last; what the budget no longer holds is left out, but its frame is whole."""
        sheet.frame("BEGIN", "VEVENT")
        sheet.frame("DTSTAMP;VALUE=DATE-TIME", self._stamp)
        self._write_body(event, sheet)
        sheet.frame("END", "VEVENT")

    def _write_body(self, event: Item, sheet: Sheet) -> None:
        if event.id is not None:
            sheet.add("UID", escape(event.id))
        for name, each in each_line(event, self._budget):
            text = each.text
            if text is None:
                continue  # IC-09
            if each.kind is not Kind.TIME:
                sheet.add(name, escape(text))
            elif is_valid_date(text):
                sheet.add(name, text.translate(_STRIPPED), [("VALUE", "DATE")])
            elif is_valid_global(text):
                sheet.add(name, text.translate(_STRIPPED), [("VALUE", "DATE-TIME")])
            else:
                self._budget.spend(len(text))
