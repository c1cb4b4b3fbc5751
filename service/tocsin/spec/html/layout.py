"""Where in a page's text its elements stand, for those who write pages."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tocsin.spec.html.microsyntax import SPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.spec.html.meta import Meta

Span = tuple[int, int]
"""Start and end in code points of the text."""

CHECKED = frozenset({"a", "area", "base", "body", "del", "head", "html", "img", "ins", "link"}) | frozenset(
    {"map", "meta", "object", "time"}
)
"""The elements that a checker looks at whatever their attributes are."""

MICRODATA = frozenset({"itemid", "itemprop", "itemref", "itemscope", "itemtype"})
"""The attributes that microdata is made of."""

ANYWHERE = frozenset({"id", "lang", "mset", "xml:lang"}) | MICRODATA
"""The attributes that a checker looks at whatever their element is."""

MOST_PIECES = 8
"""The text of a time element is looked at if it has no more pieces: such elements may hold one another."""

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
    """The places in a page's text that matter for what it declares.

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
    spans    of each attribute that stands in this tag, name included
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
        """Give the value of an attribute, None if there is none."""
        return self.values.get(name)


@dataclass(frozen=True, slots=True)
class Stop:
    """What stopped a reader before the end of a text, and where."""

    place: int
    message: str


@dataclass(frozen=True, slots=True)
class Places:
    """What a checker looks at in a page, in tree order, without template content.

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
        """Give line and column of a place, both from 1, the column in code points.

        LF, CR LF and CR each end a line; what stands between the two of CR LF is on the line that they end.
        """
        line = bisect_right(self._ends, place)
        return line + 1, place - (self._ends[line - 1] if line else 0) + 1

    def place_at(self, line: int, column: int) -> int:
        """Give the place of a line and column, both from 1; that of the text's beginning for a line 0."""
        start = self._ends[min(line - 2, len(self._ends) - 1)] if line > 1 and self._ends else 0
        return start + max(column - 1, 0)
