"""Microdata as JSON (text 003, JS-01..JS-04), in the text's shape and in that of HTML today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from tocsin.spec.microdata.values import Item, Microdata, Property, Value

# Of one document: items that share others by itemref can make a tree larger than any memory.
MOST_LETTERS: Final = 16 * 1024 * 1024
# Items within items; few JSON readers accept more than a thousand levels, of which each item takes three.
DEEPEST: Final = 128
# In place of an item within itself, as today's HTML writes it (JS-04).
LOOP: Final = "ERROR"

_TOO_DEEP: Final = f'items are nested more than {DEEPEST} deep: "{LOOP}" is written for deeper ones'
_TOO_LARGE: Final = f"a document of items has at most {MOST_LETTERS:,} letters; the rest is left out"

# Letters around a value: quotation marks, comma and white space; and those of each level of indentation.
_OF_A_TEXT: Final = (24, 18)
# Letters that a value takes beside its text, and for each item around it; most are the indent of its lines.
_OF_AN_ITEM: Final = (80, 32)


def to_json(data: Microdata, *, living: bool = False) -> str:
    """Write microdata as JSON, indented, as `to_object` has it."""
    return to_text(to_object(data, living=living))


def to_text(written: Mapping[str, Any]) -> str:
    """Write the result of `to_object`, indented."""
    return msgspec.json.format(msgspec.json.encode(written), indent=2).decode() + "\n"


def to_object(data: Microdata, *, living: bool = False) -> dict[str, Any]:
    """Return the top-level items of a page as a JSON object (JS-01..JS-03).

    living   `type` is an array of types, as in today's HTML, instead of the text as written
    Returns  {"items": [...]}, names in order of appearance, with "cut": true if items are missing: beyond MOST_LETTERS,
             or deeper than DEEPEST. An item that is too deep, or within itself, is "ERROR".
    """
    return write_items(data, living=living).items


class WrittenItems(NamedTuple):
    """Items as JSON.

    items     as `to_object` returns them
    problems  sentences for their reader: which of our limits they exceed
    """

    items: dict[str, Any]
    problems: tuple[str, ...]


def write_items(data: Microdata, *, living: bool = False) -> WrittenItems:
    """Return the top-level items of a page as `to_object` does, with what was left out of them."""
    writer = _ItemsWriter(data, living=living)
    return WrittenItems(writer.written, tuple(writer.problems))


class _Open(NamedTuple):
    """An item that is being written.

    properties  written so far, by name
    rest        properties that are not written yet
    times       how often it is in the document: once for each name under which each item around it is a value
    """

    item: Item
    properties: dict[str, list[Any]]
    rest: Iterator[Property]
    times: int


class _ItemsWriter:
    """Writes items without recursion."""

    def __init__(self, data: Microdata, *, living: bool) -> None:
        self._living = living
        self._left = MOST_LETTERS
        self.problems: dict[str, None] = {}
        items: list[Any] = []
        self.written: dict[str, Any] = {"items": items}
        for item in data.items:
            if not self._take(item, times=1, depth=0):
                break
            items.append(self._write(item))
        if data.is_cut or self.problems:
            self.written["cut"] = True

    def _write(self, top: Item) -> dict[str, Any]:
        written = self._begin(top)
        within = {top}
        ahead = [_Open(top, written["properties"], iter(top.properties), 1)]
        while ahead:
            item, properties, rest, times = ahead[-1]
            each = next(rest, None)
            if each is None:
                ahead.pop()
                within.remove(item)
                continue
            value = each.value
            if isinstance(value, Item) and (value in within or len(ahead) >= DEEPEST):
                if value not in within:
                    self.problems[_TOO_DEEP] = None
                value = LOOP
            often = times * len(each.names)
            if not self._take(value, often, len(ahead)) or not self._take_names(each, times):
                break
            found: Any = value
            if isinstance(value, Item):
                found = self._begin(value)
                within.add(value)
                ahead.append(_Open(value, found["properties"], iter(value.properties), often))
            for name in each.names:
                properties.setdefault(name, []).append(found)
        return written

    def _begin(self, item: Item) -> dict[str, Any]:
        written: dict[str, Any] = {}
        if item.type is not None:
            written["type"] = list(item.types) if self._living else item.type
        if item.id is not None:
            written["id"] = item.id
        written["properties"] = {}
        return written

    def _take(self, value: Value, times: int, depth: int) -> bool:
        """Take the letters of a value from those that are left; returns whether there were enough."""
        if isinstance(value, str):
            letters, (beside, indent) = len(value), _OF_A_TEXT
        else:
            letters, (beside, indent) = len(value.type or "") + len(value.id or ""), _OF_AN_ITEM
        return self._take_letters((letters + beside + indent * depth) * times)

    def _take_names(self, each: Property, times: int) -> bool:
        return self._take_letters(sum(map(len, each.names)) * times)

    def _take_letters(self, letters: int) -> bool:
        self._left -= letters
        if self._left < 0:
            self.problems[_TOO_LARGE] = None
        return self._left >= 0
