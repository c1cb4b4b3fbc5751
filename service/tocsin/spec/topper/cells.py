"""A line of the plain-text table, split into its cells."""

from __future__ import annotations

import re
from typing import NamedTuple

from tocsin.spec.topper.references import MARKS

CELLS = 52

_UP_TO_SPACE = re.compile("[^ ]*")
_RAW = re.compile(f"[\0{re.escape(MARKS)}]")


class Refused(ValueError):
    """Why a line is refused, and the column, from 1 in code points."""

    def __init__(self, column: int, reason: str) -> None:
        self.column, self.reason = column, reason


class Cell(NamedTuple):
    """One cell: what stands in it, without its quotation marks, still with its references.

    column  of its first character, from 1
    """

    text: str
    column: int
    is_quoted: bool


def split_record(line: str) -> list[Cell]:
    """Split a line without its end into its 52 cells.

    Raises Refused for another number of them, and for quotation marks, TAB, CR or NUL where they may not stand.
    """
    cells: list[Cell] = []
    place = 0
    while True:
        cell, end = _next_cell(line, place)
        cells.append(cell)
        if end == len(line):
            break
        place = end + 1
    if len(cells) != CELLS:
        column = cells[CELLS].column if len(cells) > CELLS else len(line) + 1
        raise Refused(column, f"not {CELLS} cells: {len(cells)} of them")
    return cells


def _next_cell(line: str, place: int) -> tuple[Cell, int]:
    """Read the cell at `place`; returns it and where its separator, or the line's end, stands."""
    if not line.startswith('"', place):
        match = _UP_TO_SPACE.match(line, place)
        end = match.end() if match else place
        _refuse_raw(line, place, end)
        return Cell(line[place:end], place + 1, is_quoted=False), end
    close = line.find('"', place + 1)
    if close < 0:
        raise Refused(place + 1, "quotation mark not closed")
    _refuse_raw(line, place + 1, close)
    if close + 1 < len(line) and line[close + 1] != " ":
        raise Refused(close + 1, "quotation mark out of place; inside a cell it is written &quot;")
    return Cell(line[place + 1 : close], place + 1, is_quoted=True), close + 1


def _refuse_raw(line: str, start: int, end: int) -> None:
    raw = _RAW.search(line, start, end)
    if raw is None:
        return
    if raw[0] == '"':
        raise Refused(raw.start() + 1, "quotation mark out of place; inside a cell it is written &quot;")
    if raw[0] == "\0":
        raise Refused(raw.start() + 1, "U+0000; no cell holds it")
    what = {"\t": "raw TAB", "\r": "raw CR"}.get(raw[0], "raw quotation mark")
    raise Refused(raw.start() + 1, f"{what}; it is written as a character reference")
