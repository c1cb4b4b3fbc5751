"""Writing a change's date into a page, and leaving every other byte of it alone."""

from __future__ import annotations

import re
from typing import NamedTuple

from tocsin.errors import UsageError
from tocsin.spec.html.decoding import NOT_ASCII, decode
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.html.page import Kind, find_kind, find_page_encoding, read_page, why_no_page
from tocsin.spec.html.positions import Layout, PlacedMeta, read_layout, value_span
from tocsin.spec.topper.dates import Interval, granularity, parse_token
from tocsin.spec.topper.lint import WrittenElement, find_elements
from tocsin.spec.topper.state import read_dates, read_state

_BOM = b"\xef\xbb\xbf"
_CLOSED = re.compile(rf"[{SPACE}]*</meta[{SPACE}]*>", re.IGNORECASE)
_TOKEN_AND_SPACE = re.compile(rf"([^{SPACE}]+)[{SPACE}]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_BLANK = re.compile(r"[ \t]*(\r\n|\n|\r|\Z)")
# Atomic throughout: comments in any number are walked once.
_DOCTYPE = re.compile(rf"(?:[{SPACE}]++|<!--(?>.*?-->)|<\?[^>]*+>)*+<!doctype[^>]*>", re.IGNORECASE | re.DOTALL)


class TextEdit(NamedTuple):
    """Text that replaces the text from `start` to `end`."""

    start: int
    end: int
    text: str


def stamp(source: bytes, *, major: bool, at: str, content_type: str | None = None) -> bytes:
    """Write a date-time token into a page as that of a major or a minor change.

    It goes into the last element of its kind, or into a new one in the head. A date that stood there as a minor
    change's and is now a major one's is moved; one that is a major change's already stays that alone.
    source        the page's bytes; encoding and line ends are kept
    content_type  the value of its HTTP header, None if there was none
    Raises UsageError for an invalid token, for a source that is not a page, and for one that cannot be written so that
    it can be read again.
    Source        awareness spec 2.1.3 to 2.1.5 (T06, T08, T09, T11).
    """
    wanted = parse_token(at)
    if wanted is None:
        raise UsageError(f"{at[:40]}: not a date; write such as 2026, 2026-11, 2026-11-21 or 2026-11-21T08:20Z")
    kind, _ = find_kind(source, content_type)
    codec, bom, text = _open(source, find_page_encoding(source, content_type))
    reason = why_no_page(source, content_type) if source else None
    if reason is not None:
        raise UsageError(f"{reason}; only a page can be stamped")
    layout = read_layout(text)
    edits = _plan(text, layout, wanted, at, major=major, is_xhtml=kind is Kind.XHTML)
    if not edits:
        return source
    written = bom + _apply(text, edits).encode(codec)
    dates = read_dates(read_state(read_page(written, content_type).metas))
    if at not in (dates.major if major else dates.minor):
        raise UsageError("the page would not show the date, its markup is too broken; mend it first (see tocsin lint)")
    return written


def stamped_granularity(source: bytes, *, major: bool, content_type: str | None = None) -> int | None:
    """Return the granularity of the dates beside a new one, so that it can be written alike (T10).

    Returns a rank of `dates.granularity`; None if there are none.
    """
    dates = read_dates(read_state(read_page(source, content_type).metas))
    ranks = [granularity(token) for token in (dates.major if major else dates.minor)]
    return max(ranks, default=None)


def _open(source: bytes, encoding: str) -> tuple[str, bytes, str]:
    """Return the codec that writes the page's text back, its byte order mark, and a text that is written back exactly.

    Where ASCII's bytes mean ASCII's letters alone, each byte is taken for a letter: nothing can be lost.
    """
    if encoding not in NOT_ASCII:
        bom = _BOM if source.startswith(_BOM) else b""
        return "latin-1", bom, source[len(bom) :].decode("latin-1")
    text = decode(source, encoding)
    for bom in (source[:2], b""):
        if encoding != "replacement" and bom + text.encode(encoding, "replace") == source:
            return encoding, bom, text
    raise UsageError(f"the page is not valid {encoding}; save it as UTF-8")


def _plan(text: str, layout: Layout, wanted: Interval, at: str, *, major: bool, is_xhtml: bool) -> list[TextEdit]:
    elements = find_elements(text, layout.metas)
    majors = [element for element in elements if element.field == "topper-major"]
    others = [element for element in elements if element.field != "topper-major"]
    if not major and _name(majors, wanted):
        return []  # T11: expressed only as major
    edits = [_without(text, element, wanted) for element in others if major and _name([element], wanted)]
    field = "topper-major" if major else "topper-minor"
    mine = [element for element in elements if element.field == field]
    if any(token.text == at for element in mine for token in element.tokens):
        return edits  # T06: each token is unique
    if mine:
        with_value = [element for element in mine if element.tokens]
        return [*edits, _with(text, (with_value or mine)[-1], at)]
    return [*edits, _new_element(text, layout, f'<meta name="{field}" content="{at}"', is_xhtml=is_xhtml)]


def _name(elements: list[WrittenElement], wanted: Interval) -> bool:
    return any(token.interval == wanted for element in elements for token in element.tokens)


def _apply(text: str, edits: list[TextEdit]) -> str:
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _with(text: str, element: WrittenElement, at: str) -> TextEdit:
    """Add a token to an element's content."""
    placed = element.placed
    if "content" not in placed.attributes:
        end = max(span[1] for span in placed.attributes.values())
        return TextEdit(end, end, f' content="{at}"')
    start, end, quote = value_span(text, placed.attributes["content"])
    if not quote:
        # An unquoted value cannot contain a space; the whole attribute is written anew.
        content = " ".join(filter(None, (text[start:end], at)))
        return TextEdit(*placed.attributes["content"], _attribute(text, placed, content))
    kept = len(text[start:end].rstrip(SPACE))
    if not kept:
        return TextEdit(start, end, at)
    return TextEdit(start + kept, start + kept, f" {at}")


def _without(text: str, element: WrittenElement, wanted: Interval) -> TextEdit:
    """Remove a date from an element's content, and the element if nothing is left of it."""
    kept = [token.text for token in element.tokens if token.interval != wanted]
    if not kept and element.field == "topper":
        kept = ["true"]  # which is what its tokens implied (T04)
    if not kept:
        return _removed(text, element.placed)
    start, end, quote = value_span(text, element.placed.attributes["content"])
    raw = text[start:end]
    if "&" in raw or not quote or kept == ["true"]:
        content = " ".join(token.replace("&", "&amp;").replace("<", "&lt;") for token in kept)
        return TextEdit(*element.placed.attributes["content"], _attribute(text, element.placed, content))
    left = _TOKEN_AND_SPACE.sub(lambda match: "" if parse_token(match[1]) == wanted else match[0], raw)
    return TextEdit(start, end, left if raw[-1] in SPACE else left.rstrip(SPACE))


def _attribute(text: str, placed: PlacedMeta, content: str) -> str:
    """Write a content attribute anew: its name as it is, its value in quotation marks."""
    start, _ = placed.attributes["content"]
    return f'{text[start : start + len("content")]}="{content.replace(chr(34), "&quot;")}"'


def _removed(text: str, placed: PlacedMeta) -> TextEdit:
    """Remove an element, with its line if it has one to itself."""
    start, end = placed.tag[0], _after(text, placed.tag[1])
    line = _line_start(text, start)
    rest = _BLANK.match(text, end)
    if line is not None and rest is not None and rest[1]:
        return TextEdit(line, rest.end(), "")
    return TextEdit(start, end, "")


def _new_element(text: str, layout: Layout, opened: str, *, is_xhtml: bool) -> TextEdit:
    """Insert an element at the end of the head's meta elements, on a line of its own if its neighbour has one."""
    neighbours = [placed for placed in layout.metas if placed.in_head]
    if neighbours:
        start, end = neighbours[-1].tag
        closed = " />" if text[start:end].endswith("/>") or is_xhtml else ">"
        return _beside(text, start, _after(text, end), opened + closed)
    element = opened + (" />" if is_xhtml else ">")
    if layout.title is not None:
        return _beside(text, *layout.title, element)
    doctype = _DOCTYPE.match(text)
    opening = layout.head or layout.html
    if opening is not None:
        return _within(text, opening[1], element)
    return _within(text, doctype.end() if doctype else 0, element)


def _beside(text: str, start: int, end: int, element: str) -> TextEdit:
    """After a neighbour: on a line of its own with the same indentation if the neighbour has one."""
    line = _line_start(text, start)
    rest = _BLANK.match(text, end)
    if line is None or rest is None:
        return TextEdit(end, end, element)
    line_end = rest[1] or ("\r\n" if text.endswith("\r\n", 0, line) else text[max(0, line - 1) : line])
    return TextEdit(end, end, f"{line_end}{text[line:start]}{element}" if line_end else element)


def _within(text: str, place: int, element: str) -> TextEdit:
    """Behind an opening tag, or at the very beginning: indented as what follows on the next line is."""
    line_end = _LINE_END.match(text, place)
    if line_end is not None and place:
        follows = text[line_end.end() :]
        indent = follows[: len(follows) - len(follows.lstrip(" \t"))]
        return TextEdit(place, place, f"{line_end[0]}{indent}{element}")
    first = _LINE_END.search(text)
    return TextEdit(place, place, f"{element}{first[0]}" if first is not None and not place else element)


def _after(text: str, end: int) -> int:
    """The end of an element whose start tag ends here: XHTML may close it with a tag of its own."""
    closed = _CLOSED.match(text, end)
    return closed.end() if closed else end


def _line_start(text: str, place: int) -> int | None:
    """Return the start of the line of a place, if only indentation precedes the place; else None."""
    start = place
    while start and text[start - 1] in " \t":
        start -= 1
    return start if not start or text[start - 1] in "\r\n" else None
