"""Contacts of a page as vCard 3.0, to the letter of text 003 or as today's address books read it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

from tocsin.spec.infrastructure.datetimes import is_valid_date, is_valid_global
from tocsin.spec.infrastructure.urls import is_absolute_url
from tocsin.spec.microdata.formats.content_lines import (
    Budget,
    Sheet,
    Written,
    clean,
    each_line,
    escape,
    fold_letters,
    fold_octets,
    is_name,
    is_passed_on,
    normalise,
    tell_cut,
    tell_unfit,
)
from tocsin.spec.microdata.values import HCARD, Item, Microdata, Property, ValueKind
from tocsin.spec.microdata.vocabulary import (
    ADDRESS_LISTS,
    ADDRESS_PARTS,
    CONTACT,
    NAME_PARTS,
    ValueForm,
    is_on_earth,
    is_valid_tz,
)

_Parameters: TypeAlias = list[tuple[str, str]]
# The value as it is written, and its parameters.
_Line: TypeAlias = tuple[str, _Parameters]

# Cards within cards: each level escapes once more all that was escaped within it.
_DEEPEST: Final = 8
_LONGEST_NAME: Final = 1000
_STRUCTURED: Final = frozenset({"n", "adr", "org", "agent"})
# A page that could write these too could end the card, or begin another one.
_RESERVED: Final = frozenset({"BEGIN", "END", "PROFILE", "VERSION", "SOURCE", "NAME", "PRODID"})
# The vocabulary lets a page repeat some that RFC 2426 has once.
_SINGLE: Final = frozenset(
    {
        *(name.upper() for name, term in CONTACT.items() if term.is_single),
        *("UID", "REV", "CLASS", "MAILER", "TZ", "GEO", "SORT-STRING"),
    }
)
_URI: Final = ("VALUE", "URI")
_AS_TEXT: Final = ("VALUE", "TEXT")
_DATA = re.compile("data:", re.IGNORECASE)
_SCHEMES: Final = {"email": "mailto:", "tel": "tel:"}
_UNKNOWN_NAME: Final = "Unknown"
_INITIAL = re.compile(r"\w\.?")
_PLAIN_TYPE = re.compile("[0-9A-Za-z]+")


def write_cards(data: Microdata, *, profile: str = "export", which: int | None = 1) -> Written:
    """Write one contact of a page, or all of them, as vCard, with notes on what was left out.

    profile  export: as today's address books read it; text: as text 003 says, to the letter
    which    its number among the page's contacts, from 1 (VC-09); None: all of them one after another, without those
             that are only the agents of others
    Source   text 003, vCard: conversion (VC-09 to VC-20)
    """
    cards = find_cards(data)
    budget = Budget()
    chosen = _find_independent(cards, budget) if which is None else cards[max(0, which - 1) : max(0, which)]
    writer = _CardWriter(data, budget, is_export=profile != "text")
    sheets: list[str] = []
    for card in chosen:
        if budget.is_spent and sheets:
            break
        sheets.append(writer.write(card))
    if not sheets:
        return Written(None)
    unfit = tell_unfit(writer.unfit, "address books")
    return Written("".join(sheets), unfit + tell_cut(budget, "contact", len(chosen) - len(sheets)))


def find_cards(data: Microdata) -> tuple[Item, ...]:
    """Return the contacts of a page in the order in which they are numbered: tree order, agents included."""
    return tuple(item for item in data.all if HCARD in item.types)


def _find_independent(cards: tuple[Item, ...], budget: Budget) -> tuple[Item, ...]:
    """Leave out contacts that are only agents; of contacts that are each other's agents, the first one stays."""
    agents = {card: tuple(_agents_of(card)) for card in cards if budget.look(len(card.properties))}
    dependent = {agent for card, its_own in agents.items() for agent in its_own if agent is not card}
    chosen = {card for card in cards if card not in dependent}
    reached: set[Item] = set()
    for start in (*chosen, *cards):
        if start in reached:
            continue
        chosen.add(start)
        waiting = [start]
        while waiting:
            card = waiting.pop()
            if card not in reached:
                reached.add(card)
                waiting.extend(agents.get(card, ()))
    return tuple(card for card in cards if card in chosen)


def _agents_of(card: Item) -> Iterator[Item]:
    for each in card.properties:
        if each.item is not None and "agent" in each.names and HCARD in each.item.types:
            yield each.item


class _CardWriter:
    """Writes the cards of one page.

    is_export  repair what today's address books refuse: RFC 2426 is kept, and every card has a name
    unfit      by property, how many values were left out since RFC 2426 does not allow them
    """

    def __init__(self, data: Microdata, budget: Budget, *, is_export: bool) -> None:
        self._data = data
        self._budget = budget
        self._is_export = is_export
        self._open: list[Item] = []
        self.unfit: Counter[str] = Counter()

    def write(self, card: Item) -> str:
        """Write one card; what exceeds the budget is left out, but BEGIN and END are always there."""
        sheet = Sheet(self._budget, fold_octets if self._is_export else fold_letters)
        self._open.append(card)
        sheet.frame("BEGIN", "VCARD")
        sheet.frame("PROFILE", "VCARD")
        sheet.frame("VERSION", "3.0")
        if self._is_export:
            self._export_body(card, sheet)
        else:
            self._write_body(card, sheet)
        sheet.frame("END", "VCARD")
        self._open.pop()
        return sheet.text

    def _write_body(self, card: Item, sheet: Sheet) -> None:
        # The text's documents all have an address; ours may lack one, and then there is no SOURCE.
        for name, text in (("SOURCE", self._data.address), ("NAME", self._data.title), ("UID", card.id)):
            if text is not None:
                sheet.add(name, escape(text))
        for name, each in each_line(card, self._budget):
            line = self._line(name, each)
            if line is not None:
                sheet.add(name, *line)

    def _export_body(self, card: Item, sheet: Sheet) -> None:
        written = self._export_head(card, sheet)
        for name, each in each_line(card, self._budget):
            upper = name.upper()
            if not is_name(name) or upper in _RESERVED or upper in written:
                continue
            if upper == "FN" and each.kind is ValueKind.URL:
                continue  # A link is no name; `_infer_formatted` falls back to it.
            line = self._line(name.lower(), each)
            if line is None or not line[0].strip(";"):
                self._budget.spend(len(each.text or ""))
                self.unfit[upper] += line is None and each.text != ""
                continue
            if upper in _SINGLE:
                written.add(upper)
            sheet.add(name, *line)
        # RFC 2426, 3.1 requires both; vobject refuses a card without FN, and others show a nameless one.
        if "FN" not in written:
            sheet.demand("FN", escape(self._infer_formatted(card)))
        if "N" not in written:
            sheet.demand("N", self._infer_name(card))

    def _export_head(self, card: Item, sheet: Sheet) -> set[str]:
        """Write the card's source and identifier; returns the names of properties that may not follow again."""
        source, title, identifier = (clean(text or "") for text in (self._data.address, self._data.title, card.id))
        for name, text in (("SOURCE", source if is_passed_on(source) else ""), ("NAME", title), ("UID", identifier)):
            if text:
                sheet.add(name, escape(text))
        return {"UID"} if identifier else set()

    def _line(self, name: str, each: Property) -> _Line | None:
        """Write the value of a property; None leaves the line out."""
        item = each.item
        if item is not None and name in _STRUCTURED:
            return self._structured(name, item)
        if item is not None:
            text, parameters = self._first_text(item, "value") or "", self._type_of(item)
        else:
            written = each.text or ""
            text, parameters = clean(written) if self._is_export else written, _describe(each.kind, written)
        if self._is_export:
            return _EXPORTS.get(name, _export_text)(text, parameters)
        # The semicolon of a position divides its two numbers.
        return escape(text, with_semicolons=item is not None or name != "geo"), parameters

    def _structured(self, name: str, item: Item) -> _Line | None:
        """Write a value of several parts (VC-12 to VC-15)."""
        if name == "n":
            return ";".join(self._first(item, part) for part in NAME_PARTS), []
        if name == "adr":
            lists = (",".join(map(escape, self._each_text(item, part))) for part in ADDRESS_LISTS)
            parts = (self._first(item, part) for part in ADDRESS_PARTS)
            return ";".join((*lists, *parts)), self._type_of(item)
        if name == "org":
            units = map(escape, self._each_text(item, "organization-unit"))
            return ";".join((self._first(item, "organization-name"), *units)), []
        if HCARD not in item.types:
            return self._first(item, "value"), self._type_of(item)
        # Deviation: the text's steps do not end where a card is its own agent (C-14); that agent is left out.
        if item in self._open or len(self._open) > _DEEPEST:
            return None
        return escape(self.write(item)), [("VALUE", "VCARD")]

    def _type_of(self, item: Item) -> _Parameters:
        """Return the first type as a parameter, if it is a plain word (VC-13, VC-16)."""
        text = self._first_text(item, "type")
        # Deviation: the text would write an empty type as `TYPE=`, which no reader accepts.
        return [("TYPE", text)] if text is not None and _PLAIN_TYPE.fullmatch(text) else []

    def _first(self, item: Item, name: str) -> str:
        return escape(self._first_text(item, name) or "")

    def _each_text(self, item: Item, name: str) -> Iterator[str]:
        """Yield every text of a name; items are skipped (VC-20)."""
        for each in self._named(item, name):
            if each.text is None:
                continue
            if not self._budget.spend(len(each.text)):
                return
            text = clean(each.text) if self._is_export else each.text
            if text or not self._is_export:
                yield text

    def _first_text(self, item: Item, name: str) -> str | None:
        """Return the text of the first property of a name; None if that is an item, or missing."""
        first = next(self._named(item, name), None)
        text = None if first is None else first.text
        if text is None or not self._budget.spend(len(text)):
            return None
        return clean(text) if self._is_export else text

    def _named(self, item: Item, name: str) -> Iterator[Property]:
        for each in item.properties:
            if not self._budget.look():
                return
            if name in each.names:
                yield each

    def _infer_formatted(self, card: Item) -> str:
        """Name a card without FN: by the parts of the name, the organisation, a way of contact, a link, or the page."""
        for each in self._named(card, "n"):
            text = self._join_name(each.item) if each.item is not None else self._plain(each, "n")
            if text:
                return text
        for name in ("org", "nickname", "email", "tel", "role", "title"):
            for each in self._named(card, name):
                if text := self._plain(each, name):
                    return text
        links = (clean((each.text or "")[:_LONGEST_NAME]) for each in self._named(card, "fn"))
        for link in filter(is_passed_on, links):
            bare = (_bare_address(name, link) for name in _SCHEMES)
            if text := next((one for one in bare if one is not None), link):
                return text
        return clean((self._data.title or "")[:_LONGEST_NAME]) or _UNKNOWN_NAME

    def _infer_name(self, card: Item) -> str:
        """Split the formatted name into the parts of N (VC-21)."""
        organisation, formatted = (
            next(filter(None, (self._plain(each, name) for each in self._named(card, name))), None)
            for name in ("org", "fn")
        )
        return _split_name(formatted or organisation or "", organisation)

    def _plain(self, each: Property, name: str) -> str:
        """Return a property's text, or that of its item; of a link only its address or number."""
        item = each.item
        if item is None:
            text = each.text or ""
        else:
            text = self._first_text(item, "organization-name") or self._first_text(item, "value") or ""
        text = clean(text[:_LONGEST_NAME])
        if (address := _bare_address(name, text)) is not None:
            return address
        if not is_absolute_url(text):
            return text
        kinds = (one.kind for one in ((each,) if item is None else item.properties))
        return "" if ValueKind.URL in kinds else text

    def _join_name(self, name: Item) -> str:
        family, given, additional, prefix, suffix = (
            (self._first_text(name, part) or "")[:_LONGEST_NAME] for part in NAME_PARTS
        )
        return " ".join(filter(None, (prefix, given, additional, family, suffix)))


def _describe(kind: ValueKind, text: str) -> _Parameters:
    if kind is ValueKind.URL:
        return [_URI]
    if kind is ValueKind.TIME and is_valid_date(text):
        return [("VALUE", "DATE")]
    if kind is ValueKind.TIME and is_valid_global(text):
        return [("VALUE", "DATE-TIME")]
    return []


# How `export` writes a plain value of each form: as RFC 2426 wants it, or None where it allows no such value.


def _export_text(text: str, parameters: _Parameters) -> _Line | None:
    return _export_reference(text, parameters) if _URI in parameters else (escape(text), parameters)


def _export_reference(text: str, parameters: _Parameters) -> _Line | None:
    return (escape(text), _with_uri(parameters)) if is_passed_on(text) else None


def _export_media(text: str, parameters: _Parameters) -> _Line | None:
    # A picture may be within its URL.
    return (escape(text), _with_uri(parameters)) if is_passed_on(text) or _DATA.match(text) else None


def _with_uri(parameters: _Parameters) -> _Parameters:
    return [_URI, *(pair for pair in parameters if pair != _URI)]


def _export_time(text: str, _: _Parameters) -> _Line | None:
    """Write a date, or a moment to the second, in a year of four digits (RFC 2426)."""
    written = normalise(text)
    if written is None or "T" not in written:
        return None if written is None else (written, [("VALUE", "DATE")])
    return (written, [("VALUE", "DATE-TIME")]) if is_valid_global(written) else None


def _export_position(text: str, _: _Parameters) -> _Line | None:
    return (text, []) if is_on_earth(text) else None


def _export_zone(text: str, parameters: _Parameters) -> _Line | None:
    return _export_text(text, parameters) if is_valid_tz(text) else (escape(text), [_AS_TEXT])


def _export_name(text: str, _: _Parameters) -> _Line:
    return _split_name(text, None), []


def _export_address(text: str, _: _Parameters) -> _Line:
    return f";;{escape(text)};;;;", []


def _export_agent(text: str, parameters: _Parameters) -> _Line | None:
    return _export_text(text, parameters or [_AS_TEXT])


def _export_way(name: str) -> Callable[[str, _Parameters], _Line | None]:
    def export(text: str, parameters: _Parameters) -> _Line | None:
        address = _bare_address(name, text)
        if address is None:
            return _export_text(text, parameters)
        return escape(address), [pair for pair in parameters if pair != _URI]

    return export


_BY_FORM: Final[dict[ValueForm, Callable[[str, _Parameters], _Line | None]]] = {
    ValueForm.URL: _export_media,
    ValueForm.DATE: _export_time,
    ValueForm.MOMENT: _export_time,
    ValueForm.POSITION: _export_position,
    ValueForm.ZONE: _export_zone,
    ValueForm.NAME: _export_name,
    ValueForm.ADDRESS: _export_address,
    ValueForm.AGENT: _export_agent,
}
_EXPORTS: Final[dict[str, Callable[[str, _Parameters], _Line | None]]] = {
    **{name: _BY_FORM[term.form] for name, term in CONTACT.items() if term.form in _BY_FORM},
    **{name: _export_way(name) for name in _SCHEMES},
    "key": _export_media,
    "url": _export_reference,
}


def _bare_address(name: str, text: str) -> str | None:
    """Return the address of a mailto: URL, or the number of a tel: URL; None if the text is no such URL."""
    scheme = _SCHEMES.get(name)
    if scheme is None or text[: len(scheme)].lower() != scheme:
        return None
    return clean(unquote(text[len(scheme) :].partition("?")[0]))


def _split_name(formatted: str, organisation: str | None) -> str:
    """Write a name as the parts of N; the name of an organisation stays whole.

    Source  VC-21: "Ann Lee", "Lee, Ann" and "Lee A." all have the family name Lee. Words between the first and the last
            are additional names; words after a later comma are honorific suffixes.
    """
    words = formatted.split()
    if formatted == organisation or len(words) < 2:  # noqa: PLR2004 - one word has no parts
        return _join_parts([formatted])
    if words[0].endswith(",") and words[0] != ",":
        return _join_parts([words[0][:-1]], words[1:2], words[2:])
    end = next((at for at, word in enumerate(words, 1) if word.endswith(",")), len(words))
    suffix = words[end:]
    words = [*words[: end - 1], words[end - 1].removesuffix(",")]
    if len(words) == 2 and _INITIAL.fullmatch(words[1]):  # noqa: PLR2004 - a family name and an initial
        return _join_parts(words[:1], words[1:], [], suffix)
    return _join_parts(words[-1:], words[:1], words[1:-1], suffix)


def _join_parts(
    family: list[str], given: Sequence[str] = (), additional: Sequence[str] = (), suffix: Sequence[str] = ()
) -> str:
    return ";".join(escape(" ".join(part)) for part in (family, given, additional, (), suffix))
