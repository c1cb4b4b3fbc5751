"""The places of elements and attributes in a page's text, for the checker and for editing, in HTML and in XML."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, zip_longest
from typing import Any, Final, NamedTuple

import turbohtml

from tocsin.spec.html.complexity import refuse_too_complex
from tocsin.spec.html.document import Meta, empty_templates, to_meta
from tocsin.spec.html.marked import MarkedPage, choose_marks, mark_html, read_marked
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.html.xhtml import parse_xml


class FindingLevel(StrEnum):
    """An error breaks a rule for authors; a warning names a part that is unwise, obsolete or without effect."""

    ERROR = "error"
    WARNING = "warning"


class Found(NamedTuple):
    """One thing found, by its place in the page's text; sorts in the order of the text."""

    place: int
    rule: str
    level: FindingLevel
    message: str


class PageFinding(NamedTuple):
    """One thing found, as a person looks it up.

    line, column  from 1, the column in code points
    rule          the requirement that the page breaks
    """

    line: int
    column: int
    rule: str
    level: FindingLevel
    message: str


# Start and end in code points of the text.
Span = tuple[int, int]

# The elements that a checker always looks at.
CHECKED = frozenset({"a", "area", "base", "body", "del", "head", "html", "img", "ins", "link"}) | frozenset(
    {"map", "meta", "object", "time"}
)

# The attributes that microdata is made of.
MICRODATA = frozenset({"itemid", "itemprop", "itemref", "itemscope", "itemtype"})

# The attributes that a checker looks at on any element.
ANYWHERE = frozenset({"id", "lang", "mset", "xml:lang"}) | MICRODATA

# The text of a time element is looked at if it has no more pieces: such elements may hold one another.
MOST_PIECES = 8

_LINE_END = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class PlacedMeta:
    """A meta element and its place.

    tag         of the whole start tag
    attributes  of each attribute, name to value, by its name in lower case
    in_head     whether the element is a child of the page's head
    """

    meta: Meta
    tag: Span
    attributes: Mapping[str, Span]
    in_head: bool


@dataclass(frozen=True, slots=True)
class Layout:
    """The places in a page's text that matter for its declarations.

    metas  in tree order, without those that the page does not mean (in template content)
    title  of the title element in the head, end tag included; None if there is none, or it is not closed
    head   of the start tag of head; None if it is implied
    html   of the start tag of html; None if it is implied
    """

    metas: tuple[PlacedMeta, ...]
    title: Span | None
    head: Span | None
    html: Span | None


class PlacedElement(NamedTuple):
    """An element with its attributes, each with its place.

    tag      its name, in lower case in HTML; with a prefix (`svg:a`) outside of HTML's namespace
    values   of its attributes by name, "" for one without a value
    span     of the whole start tag
    spans    of each attribute within this tag, name included
    in_head  whether it is a child of the page's head
    text     of a time element, None if it is not one, or is no simple one
    """

    tag: str
    values: Mapping[str, str]
    span: Span
    spans: Mapping[str, Span]
    in_head: bool
    text: str | None = None

    def get(self, name: str) -> str | None:
        """Return the value of an attribute, None if there is none."""
        return self.values.get(name)


@dataclass(frozen=True, slots=True)
class Stop:
    """What stopped a reader before the end of a text, and where."""

    place: int
    message: str


@dataclass(frozen=True, slots=True)
class Places:
    """The elements of a page that a checker looks at, in tree order, without template content.

    elements  those that the page declares something with, and all with an id or a language
    stop      why nothing behind it was read; None if all was
    """

    elements: tuple[PlacedElement, ...]
    stop: Stop | None = None


def value_span(text: str, span: Span) -> tuple[int, int, str]:
    """Find the value within the place of an attribute.

    Returns its start and end, without quotation marks, and the quotation mark, empty if there is none; start and end
    are equal, and behind the name, for an attribute without a value.
    """
    start, end = span
    if "=" not in text[start:end]:
        return end, end, ""
    value = end - len(text[start:end].partition("=")[2].lstrip(SPACE))
    quote = text[value : value + 1]
    if quote in ('"', "'"):
        return value + 1, end - 1, quote
    return value, end, ""


class Lines:
    """Turns places in a text into lines and columns."""

    def __init__(self, text: str) -> None:
        self._ends = [match.end() for match in _LINE_END.finditer(text)]

    def position_of(self, place: int) -> tuple[int, int]:
        """Return line and column of a place, both from 1, the column in code points.

        LF, CR LF and CR each end a line; a place between CR and LF is on the line that they end.
        """
        line = bisect_right(self._ends, place)
        return line + 1, place - (self._ends[line - 1] if line else 0) + 1

    def place_at(self, line: int, column: int) -> int:
        """Return the place of a line and column, both from 1; that of the text's beginning for a line 0."""
        start = self._ends[min(line - 2, len(self._ends) - 1)] if line > 1 and self._ends else 0
        return start + max(column - 1, 0)


def read_layout(text: str) -> Layout:
    """Read the places of a page's meta elements, title, head and html tags.

    Raises TooComplex for a page that is too complex to parse.
    """
    document = _parse(text)
    metas = []
    for node in document.find_all("meta"):
        location = node.source_location
        if location is None:
            continue
        tag = (location.start_tag.start_offset, location.start_tag.end_offset)
        metas.append(PlacedMeta(to_meta(node.attr), tag, _spans(location), in_head=_in_head(node)))
    titles = [node for node in document.find_all("title") if _in_head(node)]
    return Layout(
        metas=tuple(metas),
        title=_whole_span(titles[0]) if titles else None,
        head=_tag_span(document.find("head")),
        html=_tag_span(document.find("html")),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedPlaces(Places):
    """The elements of a page of HTML that a checker looks at, with the parsed document.

    document  the page as its parser has it
    by_node   the elements, by the parser's own
    """

    document: turbohtml.Document
    by_node: Mapping[object, PlacedElement]


def read_places(text: str) -> ParsedPlaces:
    """Read every element of an HTML page that a checker looks at.

    Raises TooComplex for a page that is too complex to parse.
    """
    document = _parse(text)
    by_node: dict[object, PlacedElement] = {
        node: placed
        for node in document.iter_elements()
        if _is_checked(node) and (placed := _to_placed(node)) is not None
    }
    return ParsedPlaces(elements=tuple(by_node.values()), document=document, by_node=by_node)


def _to_placed(node: turbohtml.Element) -> PlacedElement | None:
    """Return an element with its place, from a page parsed with places; None for an implied element."""
    location = node.source_location
    if location is None:
        return None
    is_html = node.namespace == turbohtml.Namespace.HTML
    return PlacedElement(
        tag=node.tag if is_html else f"{node.namespace.value}:{node.tag}",
        values={name: node.attr(name) or "" for name in node.attrs},
        span=(location.start_tag.start_offset, location.start_tag.end_offset),
        spans=_spans(location),
        in_head=_in_head(node),
        text=_text_of(node) if is_html and node.tag == "time" else None,
    )


def _is_checked(node: turbohtml.Element) -> bool:
    if node.tag in CHECKED and node.namespace == turbohtml.Namespace.HTML:
        return True
    return not ANYWHERE.isdisjoint(node.attrs)


def _parse(text: str) -> turbohtml.Document:
    """Parse a page so that each element knows its place in the text; templates are emptied.

    Raises TooComplex for a page that is too complex to parse.
    """
    # Line ends become others of the same length: parsers fold CR LF into one letter, and places would shift.
    even = text.replace("\r\n", " \n").replace("\r", "\n")
    refuse_too_complex(even.encode(), even.count("<"))
    document = turbohtml.parse(even, source_locations=True)
    empty_templates(document)
    return document


def _text_of(node: turbohtml.Element) -> str | None:
    pieces = list(islice(node.strings, MOST_PIECES + 1))
    return "".join(pieces) if len(pieces) <= MOST_PIECES else None


def _spans(location: turbohtml.SourceLocation) -> dict[str, Span]:
    return {name: (span.start_offset, span.end_offset) for name, span in location.attrs.items()}


def _in_head(node: turbohtml.Element) -> bool:
    return isinstance(node.parent, turbohtml.Element) and node.parent.tag == "head"


def _tag_span(node: turbohtml.Element | None) -> Span | None:
    if node is None or node.source_location is None:
        return None
    return node.source_location.start_tag.start_offset, node.source_location.start_tag.end_offset


def _whole_span(node: turbohtml.Element) -> Span | None:
    location = node.source_location
    if location is None or location.end_tag is None:
        return None
    return location.start_tag.start_offset, location.end_tag.end_offset


_XHTML: Final = "{http://www.w3.org/1999/xhtml}"
_XML: Final = "{http://www.w3.org/XML/1998/namespace}"
_XML_SPACE: Final = " \t\r\n"
# What may hold a < that begins no tag: how it begins and ends.
_OPAQUE: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"))
_START_TAG: Final = re.compile(r"""<[^<>"'\s/!?](?:[^"'<>]++|"[^"]*+"|'[^']*+')*+>""")
_ATTRIBUTE: Final = re.compile(rf"""([^{_XML_SPACE}=/<>"']++)[{_XML_SPACE}]*+=[{_XML_SPACE}]*+(?:"[^"]*+"|'[^']*+')""")
_IN_DOCTYPE: Final = re.compile(r"""[^"'<>\[\]]++|"[^"]*+"|'[^']*+'|.""", re.DOTALL)


def read_xml_places(body: bytes, encoding: str, text: str) -> Places:
    """Read every element of an XHTML page that a checker looks at, up to where it is not well-formed.

    text  the body, decoded
    Raises TooComplex for a page that is too complex to parse.
    """
    events, ended = parse_xml(body, encoding)
    tags = _walk(text)
    elements: list[PlacedElement] = []
    hidden = 0
    for event, node in events:
        is_start = event == "start"
        if node.tag == f"{_XHTML}template":
            hidden += 1 if is_start else -1
        if not is_start:
            continue
        placed = next(tags, None)
        if placed is None:
            break
        if not hidden and (element := _to_element(node, *placed)) is not None:
            elements.append(element)
    if ended is None:
        return Places(tuple(elements))
    place = Lines(text).place_at(ended.line, ended.column)
    return Places(tuple(elements), Stop(min(place, len(text)), ended.reason))


def _to_element(node: Any, span: Span, spans: Mapping[str, Span]) -> PlacedElement | None:
    is_html = node.tag.startswith(_XHTML)
    tag = node.tag.removeprefix(_XHTML)
    values = {name.replace(_XML, "xml:"): value for name, value in node.items()}
    if not (is_html and tag in CHECKED) and ANYWHERE.isdisjoint(values):
        return None
    parent = node.getparent()
    return PlacedElement(
        tag=tag if is_html else f"{node.prefix or 'xml'}:{tag.rpartition('}')[2]}",
        values=values,
        span=span,
        spans=spans,
        in_head=parent is not None and parent.tag == f"{_XHTML}head",
        text=_text_of_xml(node) if is_html and tag == "time" else None,
    )


def _text_of_xml(node: Any) -> str | None:
    pieces = list(islice(node.itertext(), MOST_PIECES + 1))
    return "".join(pieces) if len(pieces) <= MOST_PIECES else None


def _walk(text: str) -> Iterator[tuple[Span, dict[str, Span]]]:
    """Find the start tags of well-formed XML, each with its attributes; stops at markup that is not well-formed."""
    place = text.find("<")
    while place >= 0:
        end = _skip(text, place)
        if end is None:
            match = _START_TAG.match(text, place)
            if match is None:
                return
            end = match.end()
            spans = {each[1]: each.span() for each in _ATTRIBUTE.finditer(text, place, end)}
            yield match.span(), spans
        elif end < 0:
            return
        place = text.find("<", end)


def _skip(text: str, place: int) -> int | None:
    """Find the end of markup other than a start tag: -1 if it is not closed, None for a start tag."""
    for begins, ends in _OPAQUE:
        if text.startswith(begins, place):
            end = text.find(ends, place + len(begins))
            return end + len(ends) if end >= 0 else -1
    if text.startswith("<!", place):
        return _end_of_doctype(text, place)
    if text.startswith("</", place):
        end = text.find(">", place)
        return end + 1 if end >= 0 else -1
    return None


def _end_of_doctype(text: str, place: int) -> int:
    depth = 0
    place += len("<!")
    while place < len(text):
        for begins, ends in _OPAQUE:
            if text.startswith(begins, place):
                end = text.find(ends, place + len(begins))
                if end < 0:
                    return -1
                place = end + len(ends)
                break
        else:
            match = _IN_DOCTYPE.match(text, place)
            if match is None:
                return -1
            place = match.end()
            depth += {"[": 1, "]": -1, "<": 1, ">": -1}.get(match[0], 0)
            if depth < 0:
                return place
    return -1


_UNPLACED: Final = PlacedElement("html", {}, (0, 0), {}, in_head=False)


def read_marked_places(
    body: bytes, content_type: str | None, *, encoding: str, places: Places
) -> tuple[MarkedPage, list[PlacedElement]]:
    """Read the elements of a page that carry microdata, each with its place.

    places  of the elements that a checker looks at
    Raises TooComplex for a page that is too complex to parse.
    """
    if isinstance(places, ParsedPlaces):
        page = mark_html(places.document, encoding)
        return page, list(_with_those_before(map(places.by_node.get, page.marks)))
    page = read_marked(body, content_type)
    # Both are read by the same parser, which makes no element that is not written.
    chosen = choose_marks(places.elements, _is_html)
    return page, [each or _UNPLACED for each, _ in zip_longest(chosen[: len(page.marks)], page.marks)]


def _is_html(element: PlacedElement) -> bool:
    return ":" not in element.tag


def _with_those_before(found: Iterable[PlacedElement | None]) -> Iterator[PlacedElement]:
    """Give an element that HTML reopens, though it is written once, the place of the one before."""
    latest = _UNPLACED
    for each in found:
        latest = each or latest
        yield latest
