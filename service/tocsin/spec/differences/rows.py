"""A difference by line, as people are shown it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tocsin.spec.differences.compare import Difference, Kind

# Equal lines that are shown before and after a change.
AROUND = 3

# Shown for a line end, if that is what changed.
LINE_END = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"


class DiffRow(NamedTuple):
    """A line; `kind` is None if it changed in part, as its pieces say."""

    kind: Kind | None
    pieces: tuple[tuple[Kind, str], ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join([text for _, text in self.pieces])


class DiffGap(NamedTuple):
    """Equal lines far from any change."""

    rows: Sequence[DiffRow]


def to_rows(difference: Difference) -> list[DiffRow]:
    """Split a difference into lines; a removed line precedes the one that replaced it."""
    rows: list[DiffRow] = []
    line: list[tuple[Kind, str]] = []
    for run in difference.runs:
        first, *others = run.text.split("\n")
        if first:
            line.append((run.kind, first))
        for text in others:
            rows.append(_row(line, run.kind))
            line = [(run.kind, text)] if text else []
    if line:
        rows.append(_row(line, line[-1][0]))
    return rows


def folded(rows: Sequence[DiffRow]) -> Iterator[DiffRow | DiffGap]:
    """Yield the changed rows, those around them, and a gap for each run of others."""
    near = bytearray(len(rows))
    for place, row in enumerate(rows):
        if row.kind != "same":
            begin, end = max(place - AROUND, 0), min(place + AROUND + 1, len(rows))
            near[begin:end] = b"\1" * (end - begin)
    start = 0
    while start < len(rows):
        is_near = near[start]
        end = near.find(not is_near, start)
        end = len(rows) if end < 0 else end
        # A gap takes a line itself, so a single row is shown.
        if is_near or end - start == 1:
            yield from rows[start:end]
        else:
            yield DiffGap(rows[start:end])
        start = end


def _row(line: Sequence[tuple[Kind, str]], end: Kind) -> DiffRow:
    kinds = {kind for kind, _ in line} | {end}
    if len(kinds) == 1:
        return DiffRow(end, tuple(line))
    is_end_all = end != "same" and all(kind == "same" for kind, _ in line)
    return DiffRow(None, (*line, (end, LINE_END)) if is_end_all else tuple(line))
