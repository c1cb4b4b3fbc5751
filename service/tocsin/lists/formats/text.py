"""Plain lists, a URL a line, and lists with columns (CSV), where one column holds the URL and the others settings."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Final, Protocol, Self
from urllib.parse import quote

from tocsin.errors import UsageError
from tocsin.lists.entries import GROUP_LETTERS, LEFT_OUT, ListEntry, ListItem, ListNotice, RefusedLine
from tocsin.model import PageRow
from tocsin.settings import PageSettings

# A file without line ends must not be read whole into memory.
LONGEST_LINE: Final = 65_536
_HEADINGS: Final = frozenset({"url", "urls", "link", "links", "page", "pages", "address", "addresses", "loc"})


def read_lines(text: io.TextIOWrapper) -> Iterator[ListItem]:
    """Read a plain list; empty lines, lines that begin with `#`, and a heading are skipped."""
    number, is_first = 0, True
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(("\n", "\r")):
            yield RefusedLine(number, f"longer than {LONGEST_LINE} characters; a URL a line")
            _skip_line(text)
            continue
        url = line.strip()
        if not url or url.startswith("#"):
            continue
        if is_first and url.strip("\"'").lower() in _HEADINGS:
            is_first = False
            continue
        is_first = False
        if is_broken(url):
            yield RefusedLine(number, "not UTF-8; save the list as UTF-8")
            continue
        # A URL has no space in it. After one, people write comments, and changedetection.io tags or ids of tags.
        url, *rest = url.split(None, 1)
        tags = [tag.strip() for tag in rest[0].split(",")] if rest and not rest[0].startswith(("#", "[", "{")) else []
        yield ListEntry(number, url, tags[0][:GROUP_LETTERS] if tags else None)
        if len(tags) > 1:
            yield ListNotice(number, LEFT_OUT, f"further tags ({', '.join(tags[1:])[:80]})")


def is_broken(text: str) -> bool:
    """Say whether some of it could not be decoded."""
    return any("\ud800" <= letter <= "\udfff" for letter in text) if not text.isascii() else False


def _skip_line(text: io.TextIOWrapper) -> None:
    while (rest := text.readline(LONGEST_LINE)) and not rest.endswith(("\n", "\r")):
        pass


SEPARATORS: Final = (",", ";", "\t")
KEYS: Final = tuple(PageSettings.__struct_fields__)
_SPOKEN: Final = {",": "comma", ";": "semicolon", "\t": "tab"}
_ENDS: Final = ("\n", "\r")
_LINE_END: Final = re.compile(r"[\r\n]")
# The beginnings of a formula in a spreadsheet, with the wide letters of a Japanese keyboard.
_FORMULA: Final = re.compile(r"[=+\-@\t\r\n'\uff1d\uff0b\uff0d\uff20]")


def find_separator(beginning: str) -> str | None:
    """Return the separator if the first line of a text is a heading with a column named `url`."""
    first = beginning.lstrip().partition("\n")[0]
    for separator in SEPARATORS:
        names = [name.strip().strip('"').lower() for name in first.split(separator)]
        if len(names) > 1 and "url" in names:
            return separator
    return None


def read_separated(text: io.TextIOWrapper, *, name: str, beginning: str) -> Iterator[ListItem]:
    """Read a list with columns.

    beginning  of the text, to recognise the separator
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
            yield RefusedLine(line, f"not CSV ({exc}); is a quotation mark not closed?")
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
            yield RefusedLine(line, "a line ends inside a cell; is a quotation mark not closed?")
            lines.again()
        elif any(cell.strip() for cell in row[len(heading) :]):
            many = f"{len(row)} cells under {len(heading)} columns"
            yield RefusedLine(line, f"{many}; write a text that has a {_SPOKEN[separator]} in it in quotation marks")
        else:
            yield _entry(cells, line)


class _Lines:
    """The numbered lines of a text, in pieces of bounded size.

    The lines of the current row are kept: where a quotation mark is not closed, reading goes on at the second of them.
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
        """Forget the lines of the last row; returns the number of the next line."""
        self._row.clear()
        self._first = self._number
        return self._number

    def again(self) -> Self:
        """Continue after the first line of the row."""
        while self._row and not self._row[-1].endswith(_ENDS) and next(self, None) is not None:
            pass
        first = next((number for number, piece in enumerate(self._row, 1) if piece.endswith(_ENDS)), len(self._row))
        self._ahead.extendleft(reversed(self._row[first:]))
        self._number = self._first + 1
        self._row.clear()
        return self


def unguard(cell: str) -> str:
    """Remove the apostrophe that `guard` wrote."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell, 1) else cell


def guard(cell: str) -> str:
    """Write an apostrophe before a text that a spreadsheet would run as a formula."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def _unknown_columns(heading: list[str], line: int) -> Iterator[ListItem]:
    known = {"url", "group", "text", *KEYS}
    for column in heading:
        if column and column not in known:
            yield ListNotice(line, "column", column, next(iter(get_close_matches(column, sorted(known), n=1)), None))


def _entry(cells: dict[str, str], line: int) -> ListItem:
    if any(is_broken(cell) for cell in cells.values()):
        return RefusedLine(line, "not UTF-8; save the list as UTF-8")
    settings = {key: unguard(cells[key].strip()) for key in KEYS if cells.get(key, "").strip()}
    text = unguard(cells.get("text", ""))
    return ListEntry(
        line,
        unguard(cells.get("url", "").strip()),
        unguard(cells.get("group", "").strip()) or None,
        text or None,
        settings,
    )


# Lists of pages written out: plain, CSV, OPML.


# Settings that are exported only on request.
PRIVATE: Final = ("headers", "auth", "cookies", "secrets", "proxy")
_NOT_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class ListWriter(Protocol):
    """Writes a list piece by piece; each method returns a piece of the file."""

    def begin(self) -> str:
        """Return what precedes all pages."""

    def open_group(self, name: str) -> str:
        """Return what precedes the pages of a group."""

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return some pages."""

    def close_group(self) -> str:
        """Return what follows the pages of a group."""

    def end(self) -> str:
        """Return what follows all pages."""


class PlainWriter:
    """A URL a line."""

    def begin(self) -> str:
        """Return nothing."""
        return ""

    def open_group(self, name: str) -> str:  # noqa: ARG002 - a plain list has no groups
        """Return nothing."""
        return ""

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a URL a line."""
        return "".join(f"{page.url}\n" for page in pages)

    def close_group(self) -> str:
        """Return nothing."""
        return ""

    def end(self) -> str:
        """Return nothing."""
        return ""


class SeparatedWriter(PlainWriter):
    """CSV with all settings of each page, so that importing it restores them."""

    def __init__(self, *, with_secrets: bool) -> None:
        self._with_secrets = with_secrets
        self._keys = [key for key in KEYS if with_secrets or key not in PRIVATE]

    def begin(self) -> str:
        """Return the names of the columns."""
        return _row(["url", "group", "text", *self._keys])

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a row for each page."""
        return "".join(_row([self._url(page), page.group, page.text or "", *self._settings(page)]) for page in pages)

    def _url(self, page: PageRow) -> str:
        if not self._with_secrets or page.secrets is None:
            return page.url
        scheme, _, rest = page.url.partition("://")
        user, password = (quote(part, safe="") for part in page.secrets)
        return f"{scheme}://{user}:{password}@{rest}"

    def _settings(self, page: PageRow) -> list[str]:
        return [_cell(page.settings[key]) if key in page.settings else "" for key in self._keys]


class OutlineWriter:
    """OPML 2.0, with an outline for each group and its pages as links."""

    def begin(self) -> str:
        """Return the head."""
        head = "<head><title>Watched pages</title></head>"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<opml version="2.0">\n{head}\n<body>\n'

    def open_group(self, name: str) -> str:
        """Return the start of a group's outline."""
        return f"<outline text={_attribute(name)}>\n"

    def pages(self, pages: Iterable[PageRow]) -> str:
        """Return a link for each page."""
        return "".join(
            f'<outline type="link" text={_attribute(page.text or page.url)} url={_attribute(page.url)}/>\n'
            for page in pages
        )

    def close_group(self) -> str:
        """Return the end of a group's outline."""
        return "</outline>\n"

    def end(self) -> str:
        """Return the end of the document."""
        return "</body>\n</opml>\n"


def _row(cells: list[str]) -> str:
    target = io.StringIO(newline="")
    csv.writer(target).writerow([guard(cell) for cell in cells])
    return target.getvalue()


def _cell(value: Any) -> str:
    """Write a setting as on a command line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return ",".join(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {json.dumps(inner)}" for key, inner in value.items()) + "}"
    return str(value)


def _attribute(text: str) -> str:
    """Quote a text for XML 1.0, with U+FFFD for characters that XML does not allow."""
    # It loads an HTTP client, for 23 ms of each command that reads a list.
    from xml.sax.saxutils import quoteattr  # noqa: PLC0415 - only lists in XML need it

    return quoteattr(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text), {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})
