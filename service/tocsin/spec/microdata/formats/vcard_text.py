"""Contacts as vCard 3.0 to the letter of text 003 (VC-10 to VC-20)."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.microdata.formats.content_lines import Sheet, each_line, escape, fold_letters
from tocsin.spec.microdata.hcard import ADDRESS_LISTS, ADDRESS_PARTS, NAME_PARTS
from tocsin.spec.microdata.values import HCARD, Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.spec.microdata.formats.content_lines import Budget
    from tocsin.spec.microdata.values import Item, Microdata, Property

_DEEPEST: Final = 8
"""So many cards one within the other are written: with each, all that was escaped within is escaped once more."""

_PLAIN_TYPE = re.compile("[0-9A-Za-z]+")


class Cards:
    """Writes the cards of one page to the letter of the text.

    unfit  of which properties how many values were left out, since cards have none such; to the letter none is told
    """

    def __init__(self, data: Microdata, budget: Budget) -> None:
        self._data = data
        self._budget = budget
        self._open: list[Item] = []
        self.unfit: Counter[str] = Counter()

    @staticmethod
    def fold(line: str) -> str:
        """Break a long line."""
        return fold_letters(line)

    def write(self, card: Item) -> str:
        """Write one card; what the budget no longer holds is left out, but its frame is whole."""
        sheet = Sheet(self._budget, self.fold)
        self._open.append(card)
        sheet.frame("BEGIN", "VCARD")
        sheet.frame("PROFILE", "VCARD")
        sheet.frame("VERSION", "3.0")
        self._write_body(card, sheet)
        sheet.frame("END", "VCARD")
        self._open.pop()
        return sheet.text

    def _write_body(self, card: Item, sheet: Sheet) -> None:
        # A page of unknown address has none to name; every document of the text has one.
        if self._data.address is not None:
            sheet.add("SOURCE", escape(self._data.address))
        if self._data.title is not None:
            sheet.add("NAME", escape(self._data.title))
        if card.id is not None:
            sheet.add("UID", escape(card.id))
        for name, each in each_line(card, self._budget):
            if (written := self._write_value(name, each)) is not None:
                value, parameters = written
                sheet.add(name, value, parameters)

    def _write_value(self, name: str, each: Property) -> tuple[str, list[tuple[str, str]]] | None:
        """Give the value as it stands in the file, and its parameters; None leaves the line out."""
        item = each.item
        if item is None:
            text = each.text or ""
            return escape(text, with_semicolons=name != "geo"), self._describe(each, text)
        if name == "n":
            return ";".join(self._first(item, part) for part in NAME_PARTS), []
        if name == "adr":
            lists = (",".join(map(escape, self._each_text(item, part))) for part in ADDRESS_LISTS)
            parts = (self._first(item, part) for part in ADDRESS_PARTS)
            return ";".join((*lists, *parts)), self._type_of(item)
        if name == "org":
            units = map(escape, self._each_text(item, "organization-unit"))
            return ";".join((self._first(item, "organization-name"), *units)), []
        if name == "agent" and HCARD in item.types:
            nested = self._nest(item)
            return None if nested is None else (escape(nested), [("VALUE", "VCARD")])
        return self._first(item, "value"), self._type_of(item)

    def _describe(self, each: Property, text: str) -> list[tuple[str, str]]:
        if each.kind is Kind.URL:
            return [("VALUE", "URI")]
        if each.kind is Kind.TIME and is_valid_date(text):
            return [("VALUE", "DATE")]
        if each.kind is Kind.TIME and is_valid_global(text):
            return [("VALUE", "DATE-TIME")]
        return []

    def _nest(self, agent: Item) -> str | None:
        # Deviation: the text's steps do not end where an agent is its own (C-14); that one is left out.
        if agent in self._open or len(self._open) > _DEEPEST:
            return None
        return self.write(agent)

    def _type_of(self, item: Item) -> list[tuple[str, str]]:
        """Give the first type, where that is a plain word (VC-13, VC-16).

        Deviation: an empty one, whose letters are all plain, gives no `TYPE=` without a value, which no reader takes.
        """
        text = self._first_text(item, "type")
        return [("TYPE", text)] if text is not None and _PLAIN_TYPE.fullmatch(text) else []

    def _first(self, item: Item, name: str) -> str:
        return escape(self._first_text(item, name) or "")

    def _each_text(self, item: Item, name: str) -> Iterator[str]:
        """Give every text of a name; items are passed over (VC-20)."""
        for each in self._named(item, name):
            if each.text is not None:
                if not self._budget.spend(len(each.text)):
                    return
                yield each.text

    def _first_text(self, item: Item, name: str) -> str | None:
        """Give the text of the first property of a name; None where that is an item, or there is none."""
        first = next(self._named(item, name), None)
        text = None if first is None else first.text
        return text if text is not None and self._budget.spend(len(text)) else None

    def _named(self, item: Item, name: str) -> Iterator[Property]:
        for each in item.properties:
            if not self._budget.look():
                return
            if name in each.names:
                yield each
