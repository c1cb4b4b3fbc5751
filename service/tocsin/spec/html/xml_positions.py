"""Where the elements of a page that is served as XML stand in its text.

libxml2 says what the elements are; where they are, a walk over the markup says, which in XML needs no more than to
know what is no tag.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from tocsin.spec.html.layout import ANYWHERE, CHECKED, MOST_PIECES, Lines, PlacedElement, Places, Span, Stop
from tocsin.spec.html.xhtml import parse_xml

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
    Raises TooComplex for a page that no parser may be given.
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
        text=_text_of(node) if is_html and tag == "time" else None,
    )


def _text_of(node: Any) -> str | None:
    pieces = list(islice(node.itertext(), MOST_PIECES + 1))
    return "".join(pieces) if len(pieces) <= MOST_PIECES else None


def _walk(text: str) -> Iterator[tuple[Span, dict[str, Span]]]:
    """Find the start tags of well-formed XML, each with its attributes; ends where that is not what it meets."""
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
    """Find the end of what is no start tag: -1 if it has none, None if it is one."""
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
