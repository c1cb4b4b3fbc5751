"""A difference line by line, as people are shown it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.differences.compare import Difference, Kind

AROUND = 3
"""Lines that are the same are shown so far around what changed."""

LINE_END = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"
"""Stands for the end of a line, where that is what changed."""


class Row(NamedTuple):
    """A line: `kind` is the kind of all of it; None where it changed within, and its pieces say how."""

    kind: Kind | None
    pieces: tuple[tuple[Kind, str], ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "".join([text for _, text in self.pieces])


class Gap(NamedTuple):
    """Lines that are the same, far from any change."""

    rows: Sequence[Row]


def to_rows(difference: Difference) -> list[Row]:
    """Put a difference into lines; what was removed and what came in its place stand one after the other."""
    rows: list[Row] = []
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


def folded(rows: Sequence[Row]) -> Iterator[Row | Gap]:
    """Give the rows that changed, those around them, and gaps in the place of the others."""
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
        # A gap takes a line itself.
        if is_near or end - start == 1:
            yield from rows[start:end]
        else:
            yield Gap(rows[start:end])
        start = end


def _row(line: Sequence[tuple[Kind, str]], end: Kind) -> Row:
    kinds = {kind for kind, _ in line} | {end}
    if len(kinds) == 1:
        return Row(end, tuple(line))
    is_end_all = end != "same" and all(kind == "same" for kind, _ in line)
    return Row(None, (*line, (end, LINE_END)) if is_end_all else tuple(line))
