"""Lists with columns (CSV): one of them holds the URL, the others what is to be set for the page."""

from __future__ import annotations

import csv
import re
from collections import deque
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final, Self

from tocsin.errors import UsageError
from tocsin.lists.entries import Entry, Named, Refused
from tocsin.lists.lines import LONGEST_LINE, is_broken
from tocsin.settings import PageSettings

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from tocsin.lists.entries import Item

SEPARATORS: Final = (",", ";", "\t")
KEYS: Final = tuple(PageSettings.__struct_fields__)
_SPOKEN: Final = {",": "comma", ";": "semicolon", "\t": "tab"}
_ENDS: Final = ("\n", "\r")
_LINE_END: Final = re.compile(r"[\r\n]")
_FORMULA: Final = re.compile(r"[=+\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]")
"""What spreadsheets take for the beginning of a formula; the wide forms where one types in Japanese, too."""


def find_separator(beginning: str) -> str | None:
    """Say what separates the columns if the first line of a text is a heading with a column named `url`."""
    first = beginning.lstrip().partition("\n")[0]
    for separator in SEPARATORS:
        names = [name.strip().strip('"').lower() for name in first.split(separator)]
        if len(names) > 1 and "url" in names:
            return separator
    return None


def read_separated(text: io.TextIOWrapper, *, name: str, beginning: str) -> Iterator[Item]:
    """Read a list with columns.

    beginning  of the text, to recognise what separates the columns
    Raises UsageError if no column is named `url`.
    """
    separator = find_separator(beginning) or ","
    lines = _Lines(text)
    rows = csv.reader(lines, delimiter=separator, strict=True)
    heading: list[str] | None = None
    while True:
        line = lines.begin_row()
        try:
            row = next(rows, None)
        except csv.Error as exc:
            yield Refused(line, f"not CSV ({exc}); is a quotation mark not closed?")
            rows = csv.reader(lines.again(), delimiter=separator, strict=True)
            continue
        if row is None:
            break
        if not any(cell.strip() for cell in row):
            continue
        if heading is None:
            heading = [cell.strip().lower() for cell in row]
            if "url" not in heading:
                raise UsageError(f'{name}:{line}: no column is named "url"; write one into the first line')
            yield from _unknown_columns(heading, line)
            continue
        cells = dict(zip(heading, row, strict=False))
        if any(_LINE_END.search(cell) for column, cell in cells.items() if column != "text"):
            yield Refused(line, "a line ends inside a cell; is a quotation mark not closed?")
            lines.again()
        elif any(cell.strip() for cell in row[len(heading) :]):
            many = f"{len(row)} cells under {len(heading)} columns"
            yield Refused(line, f"{many}; write a text that has a {_SPOKEN[separator]} in it in quotation marks")
        else:
            yield _entry(cells, line)


class _Lines:
    """The lines of a text, numbered, in bounded pieces: a file without any line end is not read into memory whole.

    Those of the row that is being read are kept, so that reading can go on at its second line: a quotation mark that
    is not closed must not swallow the good lines after it.
    """

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._number, self._first = 1, 1
        self._row: list[str] = []
        self._ahead: deque[str] = deque()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        piece = self._ahead.popleft() if self._ahead else self._text.readline(LONGEST_LINE)
        if not piece:
            raise StopIteration
        self._row.append(piece)
        self._number += piece.endswith(_ENDS)
        return piece

    def begin_row(self) -> int:
        """Forget the lines of the last row; returns the number of the line that comes next."""
        self._row.clear()
        self._first = self._number
        return self._number

    def again(self) -> Self:
        """Go on at the line after the one that the row begins with."""
        while self._row and not self._row[-1].endswith(_ENDS) and next(self, None) is not None:
            pass
        first = next((number for number, piece in enumerate(self._row, 1) if piece.endswith(_ENDS)), len(self._row))
        self._ahead.extendleft(reversed(self._row[first:]))
        self._number = self._first + 1
        self._row.clear()
        return self


def unguard(cell: str) -> str:
    """Take away the apostrophe that `guard` wrote."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def guard(cell: str) -> str:
    """Keep a spreadsheet from taking a text for a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unknown_columns(heading: list[str], line: int) -> Iterator[Item]:
    known = {"url", "group", "text", *KEYS}
    for column in heading:
        if column and column not in known:
            yield Named(line, "column", column, next(iter(get_close_matches(column, sorted(known), n=1)), None))


def _entry(cells: dict[str, str], line: int) -> Item:
    if any(is_broken(cell) for cell in cells.values()):
        return Refused(line, "not UTF-8; save the list as UTF-8")
    settings = {key: unguard(cells[key].strip()) for key in KEYS if cells.get(key, "").strip()}
    text = unguard(cells.get("text", ""))
    return Entry(
        line,
        unguard(cells.get("url", "").strip()),
        unguard(cells.get("group", "").strip()) or None,
        text or None,
        settings,
    )
