"""What one page's web page shows: two versions field by field, two texts line by line, and its microdata. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct

from tocsin.errors import DamagedItems
from tocsin.model import FieldValues, Instant, PageItems, StateEntry
from tocsin.server.web.formatting import Room, weight
from tocsin.spec.differences.compare import DiffGap, DiffRow, compare_texts, folded, to_rows, whole_lines
from tocsin.spec.microdata.changes.matching import label_of
from tocsin.spec.microdata.changes.words import short_type
from tocsin.spec.microdata.formats.catalogue import FORMATS, Format, available_formats
from tocsin.spec.microdata.reading.packing import unpack
from tocsin.spec.microdata.values import Item, Property
from tocsin.spec.topper.state import FIELDS

_LONGEST: Final = 20_000  # Letters of a value that are compared word by word; the rest is not shown.
_LONGEST_SHOWN: Final = 600
# Pieces of a value; changes in every other word are no help to a reader.
_MOST_RUNS: Final = 60
_ROOM_FOR_VALUES: Final = 7_000
# Together with the limit in bytes, this keeps the page below 50 KB.
MOST_ROWS: Final = 300
_LONGEST_LINE: Final = 1200
_MOST_SHOWN: Final = 26_000  # Bytes of a difference on a page, after escaping.


Piece: TypeAlias = tuple[str, bool]  # A part of a value, and whether the other version lacks it.


class FieldRow(Struct, frozen=True):
    """A field in both versions; None where a version lacks it."""

    name: str
    older: tuple[Piece, ...] | None
    newer: tuple[Piece, ...] | None
    is_changed: bool


def field_rows(older: FieldValues | None, newer: FieldValues) -> list[FieldRow]:
    """Compare field by field, and lists of dates word by word; fields missing in both are left out.

    Values are cut to keep the page small.
    """
    before, room = older or (None,) * len(FIELDS), Room(_ROOM_FOR_VALUES)
    return [
        FieldRow(name, _pieces(previous, latest, room), _pieces(latest, previous, room), previous != latest)
        for name, previous, latest in zip(FIELDS, before, newer, strict=True)
        if previous is not None or latest is not None
    ]


def _pieces(value: str | None, other: str | None, room: Room) -> tuple[Piece, ...] | None:
    if value is None:
        return None
    known = set((other or "")[:_LONGEST].split())
    words = value[:_LONGEST].split()
    if value == other or not known.intersection(words):
        return ((room.fit(value, _LONGEST_SHOWN) or "…", value != other),)
    runs = [(" ".join(run), is_new) for is_new, run in groupby(words, lambda word: word not in known)]
    shown = [(room.fit(text, _LONGEST_SHOWN), is_new) for text, is_new in runs[:_MOST_RUNS]]
    kept = [piece for piece in shown if piece[0]]
    return (*kept, ("…", False)) if len(kept) < len(runs) else tuple(kept)


def choose(states: Sequence[StateEntry], older: int | None, newer: int | None) -> tuple[StateEntry | None, StateEntry]:
    """Select two of these states, newest first, by their ids; by default the last two.

    The state stored first is the older one, in any order of the ids.
    """
    by_id = {state.id: place for place, state in enumerate(states)}
    new = by_id.get(newer, 0) if newer is not None else 0
    old = by_id.get(older, new + 1) if older is not None else new + 1
    new, old = min(new, old), max(new, old)
    # The same id twice: compare with the version before it.
    old = min(new + 1, len(states)) if old == new else old
    return (states[old] if old < len(states) else None), states[new]


class Texts(Struct, frozen=True):
    """The difference of two texts: rows, and gaps with their number of equal lines.

    is_cut  there are more rows
    """

    rows: tuple[DiffRow | int, ...]
    removed: int
    added: int
    within: int
    is_cut: bool = False

    @property
    def is_none(self) -> bool:
        """Whether they are equal."""
        return not (self.removed or self.added or self.within)


def compare_kept(older: str, newer: str) -> Texts:
    """Compare two texts by words, cut to the size of a page."""
    rows = to_rows(compare_texts(whole_lines(older), whole_lines(newer), by="words"))
    kinds = [row.kind for row in rows]
    shown: list[DiffRow | int] = []
    size, is_cut = 0, False
    for item in folded(rows):
        if len(shown) >= MOST_ROWS or size > _MOST_SHOWN:
            is_cut = True
            break
        if isinstance(item, DiffGap):
            shown.append(len(item.rows))
            continue
        row = _cut(item)
        size += sum(weight(text) + 12 for _, text in row.pieces) + 60
        shown.append(row)
    return Texts(tuple(shown), kinds.count("removed"), kinds.count("added"), kinds.count(None), is_cut)


def _cut(row: DiffRow) -> DiffRow:
    """Cut a long row."""
    pieces, left = [], _LONGEST_LINE
    for kind, text in row.pieces:
        pieces.append((kind, text if len(text) <= left else f"{text[:left]}…"))
        left -= len(text)
        if left <= 0:
            break
    return DiffRow(row.kind, tuple(pieces))


# The rest is at the API, which the page names.
_ITEMS: Final = 12
_FACTS: Final = 8
_MOST_FACTS: Final = 150  # Of all items together, nested ones too.
_DEEPEST: Final = 6
_LONGEST_TEXT: Final = 400  # Letters of one value; the template shows fewer, and can tell that there are more.

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
        return each.value[:_LONGEST_TEXT]
    kind, label = short_type(each.value.type), label_of(each.value)
    if label:
        return f'{kind} "{label}"'
    texts = (inner.value[:_LONGEST_TEXT] for inner in each.value.properties[:_FACTS] if isinstance(inner.value, str))
    return kind if each.value.type else ", ".join(filter(None, texts))[:_LONGEST_TEXT] or kind
