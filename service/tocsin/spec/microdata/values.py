"""Microdata as values: items, their properties, and what a page has of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.spec.html.microsyntax import split_tokens

if TYPE_CHECKING:
    from typing import TypeAlias

HCARD: Final = "http://microformats.org/profile/hcard"
VEVENT: Final = "http://microformats.org/profile/hcalendar#vevent"
WORK: Final = "http://n.whatwg.org/work"


class Kind(StrEnum):
    """What a value was read of, which decides how formats write it.

    ITEM    an element that makes an item
    URL     a URL property element; the value is absolute, or "" where it has none that can be resolved
    TIME    a `time` element; the value is its `datetime` as written, or its text without one
    NUMBER  a `data` or `meter` element as living HTML reads it; the value is as written, and need be no number
    TEXT    any other: its text, or the content of a `meta`
    """

    ITEM = "item"
    URL = "url"
    TIME = "time"
    NUMBER = "number"
    TEXT = "text"


class Item(Struct, eq=False):
    """A group of name-value pairs (text 003, microdata: the model). Each is equal to itself alone.

    type        its type as written, with white space within if there are several; None if it has none, or an empty one
    id          its global identifier, absolute; None without one
    properties  one for each element that adds some, in tree order; a cycle of items is possible (`itemref`)
    errors      how often crawling it met an element twice, or an item that holds itself (MD-13)
    """

    type: str | None
    id: str | None
    properties: tuple[Property, ...] = ()
    errors: int = 0

    @property
    def types(self) -> tuple[str, ...]:
        """Its types, each by itself, for who looks for a vocabulary (MD-18)."""
        return tuple(split_tokens(self.type or ""))

    def named(self, name: str) -> tuple[Property, ...]:
        """Give its properties of a name, in tree order."""
        return tuple([each for each in self.properties if name in each.names])


class Property(Struct, frozen=True, eq=False):
    """What one element adds to an item; one that adds it to several items is the same in all of them.

    names     its property names in order, each once; at least one
    language  of the element: the nearest `lang`, else what the page sets for all (LM-26); None where none is known
    """

    names: tuple[str, ...]
    kind: Kind
    value: Value
    language: str | None = None

    @property
    def item(self) -> Item | None:
        """The value, where that is an item."""
        return self.value if isinstance(self.value, Item) else None

    @property
    def text(self) -> str | None:
        """The value, where that is none."""
        return self.value if isinstance(self.value, str) else None


class TextProperty(Property, frozen=True, eq=False, gc=False):
    """A property whose value is a text; most are. It is part of no cycle, so that nobody needs to look for one."""

    value: str


@dataclass(frozen=True, slots=True)
class Microdata:
    """All that a page has of microdata.

    address   the page's own URL after redirects; None if it is not known
    title     the text of its title element as written; None if there is none
    items     its top-level items, in tree order (MD-14)
    all       every item, also those that are values of others, in tree order
    problems  in words for the page's reader: what is wrong with it as a page, and what was left out
    is_cut    some of it was left out, since there was too much
    """

    address: str | None
    title: str | None
    items: tuple[Item, ...]
    all: tuple[Item, ...]
    problems: tuple[str, ...] = ()
    is_cut: bool = False


if TYPE_CHECKING:
    Value: TypeAlias = str | Item
