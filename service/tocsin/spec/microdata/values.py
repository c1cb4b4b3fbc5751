"""Microdata as values: items, their properties, and all items of a page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from tocsin.spec.html.microsyntax import split_tokens

HCARD: Final = "http://microformats.org/profile/hcard"
VEVENT: Final = "http://microformats.org/profile/hcalendar#vevent"
WORK: Final = "http://n.whatwg.org/work"


class ValueKind(StrEnum):
    """What a value was read from; formats write it accordingly.

    ITEM    an element that makes an item
    URL     a URL property element; the value is absolute, or "" if it is missing or cannot be resolved
    TIME    a `time` element; the value is its `datetime` as written, or its text without one
    NUMBER  a `data` or `meter` element as living HTML reads it; the value is as written, a number or not
    TEXT    any other element: its text, or the content of a `meta`
    """

    ITEM = "item"
    URL = "url"
    TIME = "time"
    NUMBER = "number"
    TEXT = "text"


class Item(Struct, eq=False):
    """A group of name-value pairs (text 003, microdata: the model); compared by identity.

    type        its type as written, with white space within if there are several; None if it has none, or an empty one
    id          its global identifier, absolute; None without one
    properties  one for each element that adds any, in tree order; `itemref` can make a cycle of items
    errors      how often crawling it found an element twice, or an item that contains itself (MD-13)
    """

    type: str | None
    id: str | None
    properties: tuple[Property, ...] = ()
    errors: int = 0

    @property
    def types(self) -> tuple[str, ...]:
        """Its types one by one, to look for a vocabulary (MD-18)."""
        return tuple(split_tokens(self.type or ""))

    def named(self, name: str) -> tuple[Property, ...]:
        """Return its properties of a name, in tree order."""
        return tuple([each for each in self.properties if name in each.names])


class Property(Struct, frozen=True, eq=False):
    """What one element adds to an item; several items may share it.

    names     at least one, in order, each once
    language  of the element: the nearest `lang`, else the page's default (LM-26); None if it is not known
    """

    names: tuple[str, ...]
    kind: ValueKind
    value: Value
    language: str | None = None

    @property
    def item(self) -> Item | None:
        """The value if it is an item, else None."""
        return self.value if isinstance(self.value, Item) else None

    @property
    def text(self) -> str | None:
        """The value if it is a text, else None."""
        return self.value if isinstance(self.value, str) else None


class TextProperty(Property, frozen=True, eq=False, gc=False):
    """A property whose value is a text, as most are."""

    # Such a property is in no cycle, so the garbage collector need not track it (`gc=False`).
    value: str


@dataclass(frozen=True, slots=True)
class Microdata:
    """All microdata of a page.

    address   the page's own URL after redirects; None if it is not known
    title     the text of its title element as written; None without one
    items     its top-level items, in tree order (MD-14)
    all       every item in tree order, also values of other items
    problems  sentences for the page's reader: what is wrong with the page, and what was left out
    is_cut    some items or properties were left out, since there were too many
    """

    address: str | None
    title: str | None
    items: tuple[Item, ...]
    all: tuple[Item, ...]
    problems: tuple[str, ...] = ()
    is_cut: bool = False


Value: TypeAlias = str | Item
