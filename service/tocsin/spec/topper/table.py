"""The plain-text table of states (T30-T36): writing and reading it, with its cells and character references."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from html.entities import html5
from typing import NamedTuple

from tocsin.errors import BadUrl, TableError, UsageError
from tocsin.spec.html.microsyntax import fold_space
from tocsin.spec.html.urls import watch_url
from tocsin.spec.topper.state import FIELDS, PageState, canonical_value

_WRITTEN = {
    '"': "&quot;",
    "'": "&#39;",
    "\N{LEFT DOUBLE QUOTATION MARK}": "&ldquo;",
    "\N{RIGHT DOUBLE QUOTATION MARK}": "&rdquo;",
    "\N{LEFT SINGLE QUOTATION MARK}": "&lsquo;",
    "\N{RIGHT SINGLE QUOTATION MARK}": "&rsquo;",
    "\N{DOUBLE LOW-9 QUOTATION MARK}": "&bdquo;",
    "\N{SINGLE LOW-9 QUOTATION MARK}": "&sbquo;",
    "\N{LEFT-POINTING DOUBLE ANGLE QUOTATION MARK}": "&laquo;",
    "\N{RIGHT-POINTING DOUBLE ANGLE QUOTATION MARK}": "&raquo;",
    "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}": "&lsaquo;",
    "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}": "&rsaquo;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
    "&": "&amp;",
}
_LEGACY = "|".join(sorted(name for name in html5 if not name.endswith(";")))
# An ampersand is escaped only where some reader of HTML would take it for the start of a reference.
_ESCAPED = re.compile(
    f"[{''.join(mark for mark in _WRITTEN if mark != '&')}]"
    f"|&(?=#[0-9]|#[xX][0-9a-fA-F]|[A-Za-z][A-Za-z0-9]*;|(?:{_LEGACY}))"
)
_REFERENCE = re.compile(r"&(?:#(?P<decimal>[0-9]+)|#[xX](?P<hex>[0-9a-fA-F]+)|(?P<name>[A-Za-z][A-Za-z0-9]*));")
_LONGEST_DIGITS = 7  # of U+10FFFF in decimal; more, without leading zeros, are beyond it
_HIGHEST = 0x10FFFF
_SURROGATES = range(0xD800, 0xE000)
_C1 = range(0x80, 0xA0)
# Characters that are never raw inside a cell: the quotation marks, TAB and CR (LF ends the line).
MARKS = "".join(mark for mark in _WRITTEN if mark not in "&\n")


class BadReference(ValueError):
    """A numeric reference that names no character; `place` is that of its `&`."""

    def __init__(self, reference: str, place: int) -> None:
        super().__init__(f"bad reference {reference[:20]}: it names no character")
        self.place = place


def escape(datum: str) -> str:
    """Write a datum as a cell holds it: `html.unescape` gives it back."""
    return _ESCAPED.sub(lambda match: _WRITTEN[match[0]], datum)


def unescape(cell: str) -> str:
    """Read a datum from its cell. Only references with their semicolon are read; an unknown name is left as it is.

    Raises BadReference for a number that is 0, a surrogate, or beyond U+10FFFF.
    """
    return _REFERENCE.sub(_read, cell)


def _read(match: re.Match[str]) -> str:
    if match["name"] is not None:
        return html5.get(match["name"] + ";", match[0])
    digits, base = (match["decimal"], 10) if match["decimal"] is not None else (match["hex"], 16)
    digits = digits.lstrip("0")
    number = int(digits, base) if 0 < len(digits) <= _LONGEST_DIGITS else 0
    if number == 0 or number in _SURROGATES or number > _HIGHEST:
        raise BadReference(match[0], match.start())
    # As HTML decodes it: what windows-1252 defines of 128 to 159 is meant by it.
    return bytes([number]).decode("cp1252", "ignore") or chr(number) if number in _C1 else chr(number)


CELLS = 52

_UP_TO_SPACE = re.compile("[^ ]*")
_RAW = re.compile(f"[\0{re.escape(MARKS)}]")


class Refused(ValueError):
    """Why a line is refused, and the column, from 1 in code points."""

    def __init__(self, column: int, reason: str) -> None:
        self.column, self.reason = column, reason


class Cell(NamedTuple):
    """One cell: its text without quotation marks, references not yet read.

    column  of its first character, from 1
    """

    text: str
    column: int
    is_quoted: bool


def split_record(line: str) -> list[Cell]:
    """Split a line without its end into its 52 cells.

    Raises Refused for another number of them, and for misplaced quotation marks, TAB, CR or NUL.
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
    """Read the cell at `place`; returns it, and the place of its separator or of the line's end."""
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


# Unicode characters of the user's text: 255 with its quotation marks (2.2.2, field 15).
LONGEST_TEXT = 253

# The line that names the fields.
RECORD_0 = (
    " ".join(
        ["0", "url", *(f"{field}/{part}" for field in FIELDS for part in ("tag", "attribute", "value", "content"))]
    )
    + " stored text\n"
)

_LARGEST_NUMBER = 2**63 - 1
_ATTRIBUTE = {field: "property" if ":" in field else "name" for field in FIELDS} | {"refresh": "http-equiv"}
_NUMBER = re.compile("[1-9][0-9]*")
_SECONDS = re.compile("0|[1-9][0-9]*")
_NAME = re.compile(r"[\x21\x23-\x25\x28-\x7e]+")
_URL = re.compile(r"https?://[\x21-\x7e]+", re.IGNORECASE)
_STORED = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{0,5}[1-9]))?Z", re.ASCII
)
_STORED_CELL, _TEXT_CELL = CELLS - 2, CELLS - 1


@dataclass(frozen=True, slots=True)
class TableRecord:
    """One state of one page as the table holds it.

    number  unique, 1 to 2^63-1, growing down the table
    url     as the URL standard serialises it, without fragment
    stored  when the state was stored: aware, UTC, to the microsecond
    text    the user's own words about the page, 1 to 253 characters, or None
    """

    number: int
    url: str
    state: PageState
    stored: datetime
    text: str | None


def check_text(text: str) -> str:
    """Return the user's text back if a table can hold it.

    Raises UsageError for one that is empty, longer than 253 characters (it is never cut), or holds U+0000 or
    a lone surrogate (T24).
    """
    problem = _text_problem(text)
    if problem is not None:
        raise UsageError(f"the text {problem}")
    return text


def write_record(record: TableRecord) -> str:
    """Write one record: its line, with the line's end."""
    cells = [str(record.number), escape(record.url)]
    for field, value in record.state.to_dict().items():
        if value is None:
            cells += ["", "", "", ""]
        else:
            cells += ["meta", _ATTRIBUTE[field], field, value if field == "refresh" else f'"{escape(value)}"']
    cells.append(write_stored(record.stored))
    cells.append("" if record.text is None else f'"{escape(record.text)}"')
    return " ".join(cells) + "\n"


def write_stored(stored: datetime) -> str:
    """Write a time of storing in UTC, its fraction without trailing zeros.

    Raises ValueError for a time that is not aware: its meaning is unknown.
    """
    if stored.tzinfo is None:
        raise ValueError(f"{stored.isoformat()} has no time zone; give an aware time")
    text = stored.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def read_table(lines: Iterable[bytes], *, file: str) -> Iterator[TableRecord]:
    """Read the records of a table, a line at a time.

    lines  each with its line end, as a file opened for bytes gives them
    file   the table's name in errors
    Raises TableError at the first line that is malformed; what came before it is then not to be taken either.
    """
    last, offset, number = None, 0, 0
    for number, line in enumerate(lines, 1):
        try:
            text = _decode(line, offset, is_first=number == 1)
            cells = split_record(text)
            if number == 1:
                _check_record_0(cells)
            else:
                record = _read_record(cells, last)
                last = record.number
                yield record
        except Refused as exc:
            raise TableError(file, number, exc.column, exc.reason) from exc
        offset += len(line)
    if number == 0:
        raise TableError(file, 1, 1, "no record 0: the table is empty; export one to see how it begins")


def _decode(line: bytes, offset: int, *, is_first: bool) -> str:
    if is_first and line.startswith(b"\xef\xbb\xbf"):
        raise Refused(1, "byte order mark; save the table as UTF-8 without one")
    if not line.endswith(b"\n"):
        column = len(line.decode(errors="replace")) + 1
        raise Refused(column, "cut off: the line does not end; take the table anew from its source")
    try:
        text = line[:-1].decode()
    except UnicodeDecodeError as exc:
        column = len(line[: exc.start].decode()) + 1
        raise Refused(column, f"not UTF-8 at byte {offset + exc.start}; save the table as UTF-8") from exc
    if text.endswith("\r"):
        raise Refused(len(text), "CR LF; lines end with LF alone")
    return text


def _check_record_0(cells: list[Cell]) -> None:
    if cells[0].text != "0" or cells[0].is_quoted:
        raise Refused(1, "no record 0: the first line must be the one that names the fields")
    for cell in cells[1:]:
        if cell.is_quoted or not _NAME.fullmatch(cell.text):
            raise Refused(cell.column, "record 0: a field's name is missing, quoted or not plain ASCII")


def _read_record(cells: list[Cell], last: int | None) -> TableRecord:
    number = _read_number(cells[0], last)
    url = _read_url(cells[1])
    values = [_read_field(field, cells[2 + 4 * place : 6 + 4 * place]) for place, field in enumerate(FIELDS)]
    stored = _read_stored(cells[_STORED_CELL])
    return TableRecord(number, url, PageState(tuple(values)), stored, _read_text(cells[_TEXT_CELL]))


def _read_number(cell: Cell, last: int | None) -> int:
    digits = _unquoted(cell)
    if digits == "0":
        raise Refused(cell.column, "record 0 again; it stands first and once")
    if not _NUMBER.fullmatch(digits):
        raise Refused(cell.column, "record number: not a number from 1 on without leading zeros")
    if len(digits) > len(str(_LARGEST_NUMBER)) or (number := int(digits)) > _LARGEST_NUMBER:
        raise Refused(cell.column, f"record number: too large; the largest is {_LARGEST_NUMBER}")
    if last is not None and number <= last:
        what = "is repeated" if number == last else f"after {last} is not growing"
        raise Refused(cell.column, f"record number: {number} {what}; numbers grow down the table")
    return number


def _read_url(cell: Cell) -> str:
    url = _datum(cell, _unquoted(cell))
    if not _URL.fullmatch(url):
        raise Refused(cell.column, "URL: not an absolute http or https URL in ASCII")
    try:
        return watch_url(url).url
    except BadUrl as exc:
        raise Refused(cell.column, f"URL: {exc}") from exc


def _read_field(field: str, cells: list[Cell]) -> str | None:
    if not any(cell.text or cell.is_quoted for cell in cells):
        return None
    for place, expected in enumerate(("meta", _ATTRIBUTE[field], field)):
        if _unquoted(cells[place]) != expected:
            raise Refused(cells[place].column, f"cells of {field}: {expected} must stand here, or all four be empty")
    content = cells[3]
    if not content.text:
        raise Refused(content.column, f"cells of {field}: no content; leave all four empty instead")
    if field == "refresh":
        if not _SECONDS.fullmatch(_unquoted(content)):
            raise Refused(content.column, "seconds: digits without leading zeros must stand here")
        return content.text
    if not content.is_quoted:
        raise Refused(content.column, f"content not quoted: that of {field} stands in quotation marks")
    datum = _datum(content, content.text)
    value = canonical_value(field, [datum])
    if value is None:
        what = "only says false" if fold_space(datum) else "is only white space"
        raise Refused(content.column, f"cells of {field}: a content that {what} is none; leave all four empty")
    return value


def _read_stored(cell: Cell) -> datetime:
    match = _STORED.fullmatch(_unquoted(cell))
    if match is None:
        raise Refused(cell.column, "stored: not a time such as 2026-11-21T08:20:00Z or …:00.25Z")
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    microsecond = int((match[7] or "0").ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
    except ValueError as exc:
        raise Refused(cell.column, f"stored: there is no such time ({exc})") from exc


def _read_text(cell: Cell) -> str | None:
    if not cell.text and not cell.is_quoted:
        return None
    if not cell.is_quoted:
        raise Refused(cell.column, "content not quoted: the text stands in quotation marks")
    text = _datum(cell, cell.text)
    problem = _text_problem(text)
    if problem is not None:
        raise Refused(cell.column, f"text: it {problem}")
    return text


def _text_problem(text: str) -> str | None:
    if not text:
        return "is empty; leave it out to have none"
    if len(text) > LONGEST_TEXT:
        return f"is too long: {len(text)} characters, and {LONGEST_TEXT} are the most; shorten it"
    if "\0" in text:
        return "holds U+0000; leave that out"
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "holds bytes that are not UTF-8; write it in UTF-8"
    return None


def _unquoted(cell: Cell) -> str:
    if cell.is_quoted:
        raise Refused(cell.column, "a cell is quoted that must not be")
    return cell.text


def _datum(cell: Cell, raw: str) -> str:
    try:
        return unescape(raw)
    except BadReference as exc:
        raise Refused(cell.column + cell.is_quoted + exc.place, str(exc)) from exc
