"""Where in a page's text its meta elements stand, for those who write pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tocsin.spec.html.meta import Meta

Span = tuple[int, int]
"""Start and end in code points of the text."""


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


def position_of(text: str, place: int) -> tuple[int, int]:
    """Give line and column, both from 1, of a place in a text; LF, CR LF and CR each end a line."""
    before = text[:place].replace("\r\n", "\n").replace("\r", "\n")
    if text[place - 1 : place + 1] == "\r\n":  # between the two: still on the line that they end
        before = before[:-1] + " "
    return before.count("\n") + 1, len(before) - before.rfind("\n")
