"""The elements that carry microdata, each with its place in the page's text, for those who write pages."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.layout import PlacedElement
from tocsin.spec.html.marked import MarkedPage, choose_marks, mark_html, read_marked
from tocsin.spec.html.positions import ParsedPlaces

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tocsin.spec.html.layout import Places

_UNPLACED: Final = PlacedElement("html", {}, (0, 0), {}, in_head=False)


def read_marked_places(
    body: bytes, content_type: str | None, *, encoding: str, places: Places
) -> tuple[MarkedPage, list[PlacedElement]]:
    """Read the elements of a page that carry microdata; of each, what it is and where it stands.

    places  what a checker looks at in it
    Raises TooComplex for a page that no parser may be given.
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
    """Put an element that HTML opens again, though it is written once, at the place of the one before."""
    latest = _UNPLACED
    for each in found:
        latest = each or latest
        yield latest
