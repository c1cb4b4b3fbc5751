"""Two states of a page side by side, field by field; and two of its texts, line by line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.server.pages.telling import Differing
from tocsin.spec.differences.compare import compare_texts
from tocsin.spec.differences.rows import Gap, Row, folded, to_rows
from tocsin.spec.topper.state import FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import FieldValues, StateEntry

_LONGEST: Final = 4000
"""Letters of a value that are compared word by word; a longer one is shown as replaced whole."""
MOST_ROWS: Final = 300
_LONGEST_LINE: Final = 1200
_MOST_LETTERS: Final = 28_000
"""Of a difference so much is shown on a page."""


class FieldRow(Struct, frozen=True):
    """A field in both states."""

    value: Differing
    is_changed: bool

    @property
    def is_by_words(self) -> bool:
        """Whether it can be shown word by word: lists of dates can, others are replaced whole."""
        value = self.value
        both = (value.previous or "", value.latest or "")
        return all(both) and any(" " in each for each in both) and sum(map(len, both)) < _LONGEST


def field_rows(older: FieldValues | None, newer: FieldValues) -> list[FieldRow]:
    """Compare field by field; those that neither has are left out."""
    before = older or (None,) * len(FIELDS)
    return [
        FieldRow(Differing(name, previous, latest), previous != latest)
        for name, previous, latest in zip(FIELDS, before, newer, strict=True)
        if previous is not None or latest is not None
    ]


def choose(states: Sequence[StateEntry], older: int | None, newer: int | None) -> tuple[StateEntry | None, StateEntry]:
    """Choose two of these states, newest first, by their ids; by default the last two.

    However they are named, the one stored first is the older one.
    """
    by_id = {state.id: place for place, state in enumerate(states)}
    new = by_id.get(newer, 0) if newer is not None else 0
    old = by_id.get(older, new + 1) if older is not None else new + 1
    new, old = min(new, old), max(new, old)
    return (states[old] if old < len(states) and old != new else None), states[new]


class Texts(Struct, frozen=True):
    """A difference of two texts as a page shows it: rows, and gaps with their number of equal lines.

    is_cut  there is more than is shown
    """

    rows: tuple[Row | int, ...]
    removed: int
    added: int
    within: int
    is_cut: bool = False

    @property
    def is_none(self) -> bool:
        """Whether they are equal."""
        return not (self.removed or self.added or self.within)


def compare_kept(older: str, newer: str) -> Texts:
    """Compare two texts by their words, and keep what a page can show of it."""
    rows = to_rows(compare_texts(_ended(older), _ended(newer), by="words"))
    kinds = [row.kind for row in rows]
    shown: list[Row | int] = []
    letters, is_cut = 0, False
    for item in folded(rows):
        if len(shown) >= MOST_ROWS or letters > _MOST_LETTERS:
            is_cut = True
            break
        if isinstance(item, Gap):
            shown.append(len(item.rows))
            continue
        row = _cut(item)
        letters += sum(len(text) + 12 for _, text in row.pieces) + 24
        shown.append(row)
    return Texts(tuple(shown), kinds.count("removed"), kinds.count("added"), kinds.count(None), is_cut)


def _cut(row: Row) -> Row:
    """Cut a row that nobody would read to its end."""
    pieces, left = [], _LONGEST_LINE
    for kind, text in row.pieces:
        pieces.append((kind, text if len(text) <= left else f"{text[:left]}…"))
        left -= len(text)
        if left <= 0:
            break
    return Row(row.kind, tuple(pieces))


def _ended(text: str) -> str:
    """End the last line like the others, so that a line that follows it is no change of it."""
    return text if text.endswith("\n") or not text else f"{text}\n"
