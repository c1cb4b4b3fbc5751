"""The microdata of a page for its web page, with links to download it. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from tocsin.errors import DamagedItems
from tocsin.model import Instant, PageItems
from tocsin.spec.microdata.changes.matching import label_of
from tocsin.spec.microdata.changes.words import short_type
from tocsin.spec.microdata.formats.catalogue import FORMATS, Format, available_formats
from tocsin.spec.microdata.reading.packing import unpack
from tocsin.spec.microdata.values import Item, Property

# The rest is at the API, which the page names.
_ITEMS: Final = 12
_FACTS: Final = 8
_MOST_FACTS: Final = 150  # Of all items together, nested ones too.
_DEEPEST: Final = 6
_LONGEST: Final = 400  # Letters of one value; the template shows fewer, and can tell that there are more.

CALENDAR: Final = "ical"


class Fact(Struct, frozen=True):
    """One property of an item.

    text  its value; for an item, its type and label
    item  the item that is its value
    """

    name: str
    text: str
    item: HeldItem | None = None


class HeldItem(Struct, frozen=True):
    """One item.

    kind   its short type
    label  its name or the like; "" without one
    id     its global identifier
    facts  its first properties; empty for a cycle, and below the deepest level
    more   the number of other properties
    """

    kind: str
    label: str
    id: str | None
    facts: tuple[Fact, ...]
    more: int


class Way(Struct, frozen=True):
    """A download: a document for programs.

    label  with the file suffix
    path   below /extract/ of the page, with its query
    """

    name: str
    label: str
    path: str


class Held(Struct, frozen=True):
    """The microdata of a page.

    at       when it was read
    items    the first ones
    number   of top-level items
    is_cut   there were more than are kept
    ways     the downloads
    """

    at: Instant
    items: tuple[HeldItem, ...]
    number: int
    is_cut: bool
    ways: tuple[Way, ...]

    @property
    def more(self) -> bool:
        """Whether there are more items."""
        return self.number > len(self.items)

    @property
    def has_calendar(self) -> bool:
        """Whether it has events, which calendar programs can subscribe to."""
        return any(way.name == CALENDAR for way in self.ways)


def show_held(kept: PageItems) -> Held | None:
    """Make the view of kept items; None without items, and for damaged ones."""
    try:
        data = unpack(kept.packed)
    except DamagedItems:
        return None
    if not data.items:
        return None
    showing = _Showing()
    shown = tuple(showing.show(item, ()) for item in data.items[:_ITEMS])
    ways = tuple(to_way(FORMATS[name]) for name in available_formats(data))
    return Held(kept.at, shown, len(data.items), kept.is_cut, ways)


def to_way(way: Format) -> Way:
    """Make the download of a format, of all items."""
    path = way.name if way.default == "all" else f"{way.name}?item=all"
    return Way(way.name, f"{way.label} ({way.suffix})", path)


class _Showing:
    """Shows items with nested ones, within a budget: a small page can describe an infinite tree."""

    def __init__(self) -> None:
        self._left = _MOST_FACTS

    def show(self, item: Item, around: tuple[Item, ...]) -> HeldItem:
        """Show an item; `around` are its ancestors."""
        facts = list(_facts(item))
        is_shown = len(around) < _DEEPEST and item not in around
        shown = facts[: min(_FACTS, self._left)] if is_shown else []
        # Count its own properties before nested ones, so that each item gets some.
        self._left -= len(shown)
        held = tuple(self._fact(name, each, (*around, item)) for name, each in shown)
        return HeldItem(short_type(item.type), label_of(item) or "", item.id, held, len(facts) - len(shown))

    def _fact(self, name: str, each: Property, around: tuple[Item, ...]) -> Fact:
        return Fact(name, _text(each), self.show(each.value, around) if isinstance(each.value, Item) else None)


def _facts(item: Item) -> Iterator[tuple[str, Property]]:
    return ((name, each) for each in item.properties for name in each.names)


def _text(each: Property) -> str:
    """Write a value; for an item its type and label, else its own texts."""
    if not isinstance(each.value, Item):
        return each.value[:_LONGEST]
    kind, label = short_type(each.value.type), label_of(each.value)
    if label:
        return f'{kind} "{label}"'
    texts = (inner.value[:_LONGEST] for inner in each.value.properties[:_FACTS] if isinstance(inner.value, str))
    return kind if each.value.type else ", ".join(filter(None, texts))[:_LONGEST] or kind
