"""Lists with columns (CSV): one of them holds the URL, the others what is to be set for the page."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Final

from tocsin.cli.lists.entries import Entry, Named, Refused
from tocsin.cli.lists.lines import LONGEST_LINE, is_broken
from tocsin.errors import UsageError
from tocsin.settings import PageSettings

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator

    from tocsin.cli.lists.entries import Item

SEPARATORS: Final = (",", ";", "\t")
KEYS: Final = tuple(PageSettings.__struct_fields__)
_FORMULA: Final = re.compile(r"[=+\-@\t\r']")


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
    # Bounded pieces: a file without any line end must not be read into memory whole.
    pieces = iter(lambda: text.readline(LONGEST_LINE), "")
    rows = csv.reader(pieces, delimiter=find_separator(beginning) or ",")
    heading: list[str] | None = None
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows, None)
        except csv.Error as exc:
            yield Refused(line, f"not CSV ({exc}); is a quotation mark not closed?")
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
        yield _entry(dict(zip(heading, row, strict=False)), line)


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
            yield Named(line, "column", column)


def _entry(cells: dict[str, str], line: int) -> Item:
    if any(is_broken(cell) for cell in cells.values()):
        return Refused(line, "not UTF-8; save the list as UTF-8")
    settings = {key: unguard(cells[key].strip()) for key in KEYS if cells.get(key, "").strip()}
    text = unguard(cells.get("text", ""))
    return Entry(
        line, unguard(cells.get("url", "").strip()), cells.get("group", "").strip() or None, text or None, settings
    )
