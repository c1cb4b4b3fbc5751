"""Comparisons for the web pages: two versions field by field, two texts line by line. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final, TypeAlias

from msgspec import Struct

from tocsin.model import FieldValues, StateEntry
from tocsin.server.web.formatting import Room, weight
from tocsin.spec.differences.compare import DiffGap, DiffRow, compare_texts, folded, to_rows, whole_lines
from tocsin.spec.topper.state import FIELDS

_LONGEST: Final = 20_000  # Letters of a value that are compared word by word; the rest is not shown.
_LONGEST_SHOWN: Final = 600
# Pieces of a value; changes in every other word are no help to a reader.
_MOST_RUNS: Final = 60
_ROOM_FOR_VALUES: Final = 12_000
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
