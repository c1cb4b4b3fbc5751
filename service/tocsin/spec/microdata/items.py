"""A page in, its microdata out: items, their properties and values, as text 003 defines them (MD-01..MD-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.marked import read_marked
from tocsin.spec.html.search import holds_any
from tocsin.spec.microdata.crawl import NOWHERE, Crawl
from tocsin.spec.microdata.reading import Reading
from tocsin.spec.microdata.values import Item, Microdata

if TYPE_CHECKING:
    from tocsin.spec.html.marked import MarkedPage
    from tocsin.spec.microdata.values import Property

MOST_PROPERTIES: Final = 1_000_000
"""Of all items of a page together; an itemref may give the same thousand to each of a thousand items."""
_SIGN: Final = (b"itemscope",)
_ESCAPE: Final = b"\x1b"


def may_hold_items(body: bytes) -> bool:
    """Say whether a page's bytes can hold an item, in whatever encoding: a look, before anything is parsed."""
    if _ESCAPE in body:  # one encoding may write such letters into the midst of any word
        return True
    return holds_any(body.replace(b"\0", b"") if b"\0" in body else body, _SIGN)


def read_items(
    body: bytes,
    content_type: str | None,
    *,
    address: str | None,
    base: str | None = None,
    nosniff: bool = False,
    living: bool = False,
) -> Microdata:
    """Read all microdata of a page, whatever its bytes are.

    content_type  the value of the first HTTP header, None if there was none
    address       the page's URL after redirects; None if it is not known
    base          what its relative URLs are resolved against, whatever it says itself; None: its base element, or the
                  address; where nothing tells, they lead nowhere
    nosniff       the server forbids to guess, see `is_nosniff`
    living        as HTML reads it today: `data`, `meter` and `track` have values of their own (MD-18)
    Raises TooComplex for a page that no parser may be given.
    """
    page = read_marked(body, content_type, nosniff=nosniff)
    return ItemsOfMarks(page, Crawl(page), address=address, base=base, living=living).data


class ItemsOfMarks:
    """The items that a page's marks make.

    items       by the place of their mark
    properties  by the place of theirs, each made once, whatever number of items has it; None for one without names
    data        all of it
    """

    def __init__(
        self, page: MarkedPage, crawl: Crawl, *, address: str | None, base: str | None = None, living: bool = False
    ) -> None:
        """Read all of them; `read_items` says what the arguments mean."""
        self._crawl = crawl
        self._reading = reading = Reading(page, address=address, base=base, living=living)
        self._marks = page.marks
        self._left = MOST_PROPERTIES
        items: dict[int, Item] = {}
        self.items = items
        # What stands in an item is one of its properties; what stands in none may be, and is read once one has it.
        properties: dict[int, Property | None] = {}
        self.properties = properties
        for place, mark, written, is_item in crawl.walk():
            item = None
            if is_item:
                items[place] = item = Item(mark.attr("itemtype") or None, reading.identifier(place, mark))
            if written is not None and crawl.owners[place] != NOWHERE:
                properties[place] = reading.property(place, mark, written, item)
        for place, item in items.items():
            item.properties, item.errors = self._properties_of(place)
        problems = reading.problems
        self.data = Microdata(
            address=address,
            title=page.title,
            items=tuple([item for place, item in items.items() if crawl.written[place] is None]),
            all=tuple(items.values()),
            problems=page.problems + problems,
            is_cut=bool(problems),
        )

    def _properties_of(self, place: int) -> tuple[tuple[Property, ...], int]:
        found, errors = self._crawl.properties(place) if self._left >= 0 else ((), 0)
        self._left -= len(found)
        if self._left < 0:
            found = found[: self._left]
            self._reading.cut(f"its items have more than {MOST_PROPERTIES} properties in all")
        known = self.properties
        for each in found:
            if each not in known:
                written = self._crawl.written[each] or ""
                known[each] = self._reading.property(each, self._marks[each], written, self.items.get(each))
        return tuple(filter(None, map(known.__getitem__, found))), errors
