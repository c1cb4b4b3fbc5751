"""The items of a page as the checker's rules see them: each with its place in the page's text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.layout import MICRODATA
from tocsin.spec.html.marked_places import read_marked_places
from tocsin.spec.microdata.crawl import Crawl
from tocsin.spec.microdata.items import ItemsOfMarks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.spec.html.layout import PlacedElement
    from tocsin.spec.lint.page import WrittenPage
    from tocsin.spec.microdata.values import Item, Microdata, Property

_ANYWHERE: Final = "https://page.invalid/"
"""Where a page of unknown address stands: whether a relative URL resolves, any address tells."""


@dataclass(frozen=True, slots=True)
class PlacedItems:
    """A page's items, and where each stands. `WrittenPage` tells the places of an element's attributes.

    data      a URL in it is "" only where it is missing, or leads nowhere from any page
    elements  of each item and property, by itself
    stray     elements with an itemprop that adds no property to any item
    """

    data: Microdata
    elements: Mapping[Item | Property, PlacedElement]
    stray: Sequence[PlacedElement]


def place_items(page: WrittenPage) -> PlacedItems | None:
    """Read the items of a page with their places; None if nothing in it is marked as microdata.

    Raises TooComplex for a page that no parser may be given.
    """
    if all(MICRODATA.isdisjoint(element.values) for element in page.places.elements):
        return None
    marked, placed = read_marked_places(page.body, page.content_type, encoding=page.encoding, places=page.places)
    crawl = Crawl(marked)
    read = ItemsOfMarks(marked, crawl, address=_ANYWHERE)
    elements: dict[Item | Property, PlacedElement] = {item: placed[place] for place, item in read.items.items()}
    elements.update({each: placed[place] for place, each in read.properties.items() if each is not None})
    stray = [
        placed[place]
        for place, written in enumerate(crawl.written)
        if written is not None and place not in read.properties
    ]
    return PlacedItems(read.data, elements, () if read.data.is_cut else stray)
