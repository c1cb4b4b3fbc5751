"""Where the elements of a page stand in its text, read by a parser that remembers places."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import turbohtml

from tocsin.spec.html.complexity import refuse_too_complex
from tocsin.spec.html.document import empty_templates, to_meta
from tocsin.spec.html.layout import ANYWHERE, CHECKED, MOST_PIECES, Layout, PlacedElement, PlacedMeta, Places, Span

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_layout(text: str) -> Layout:
    """Read where a page's meta elements stand in its text, and what else frames them.

    Raises TooComplex for a page that no parser may be given.
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
    """What a checker looks at in a page of HTML, for those who read more of it.

    document  the page as its parser has it
    by_node   the elements, by the parser's own
    """

    document: turbohtml.Document
    by_node: Mapping[object, PlacedElement]


def read_places(text: str) -> ParsedPlaces:
    """Read every element of an HTML page that a checker looks at.

    Raises TooComplex for a page that no parser may be given.
    """
    document = _parse(text)
    by_node: dict[object, PlacedElement] = {
        node: placed
        for node in document.iter_elements()
        if _is_checked(node) and (placed := _to_placed(node)) is not None
    }
    return ParsedPlaces(elements=tuple(by_node.values()), document=document, by_node=by_node)


def _to_placed(node: turbohtml.Element) -> PlacedElement | None:
    """Say where an element of a page that was parsed with places stands; None for one that no tag is written for."""
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
    """Parse a page so that each element knows where it stands in the text; templates hold nothing.

    Raises TooComplex for a page that no parser may be given.
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
