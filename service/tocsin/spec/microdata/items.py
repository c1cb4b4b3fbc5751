"""A page in, its microdata out: items, their properties and values, as text 003 defines them (MD-01..MD-14)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.marked import read_marked
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.search import holds_any
from tocsin.spec.html.tree import HTML, Element
from tocsin.spec.infrastructure.bases import Bases
from tocsin.spec.microdata.crawl import Crawl
from tocsin.spec.microdata.values import Item, Kind, Microdata, Property

if TYPE_CHECKING:
    from tocsin.spec.html.marked import Mark, MarkedPage

MOST_PROPERTIES: Final = 1_000_000
"""Of all items of a page together; an itemref may give the same thousand to each of a thousand items."""
MOST_TEXT: Final = 16 * 1024 * 1024
"""Letters of all values of a page together; each of many properties within each other holds the text of all below."""
MOST_NAMES: Final = 1000
"""Of one element."""

_SIGN: Final = (b"itemscope",)
_ESCAPE: Final = b"\x1b"
_ANY: Final = Element("html", HTML, {}, None)
_URL_FROM: Final = {
    "a": "href",
    "area": "href",
    "link": "href",
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "source": "src",
    "video": "src",
    "object": "data",
}
_LIVING_URL_FROM: Final = {**_URL_FROM, "track": "src"}
_LIVING_NUMBERS: Final = frozenset({"data", "meter"})


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
    nosniff       the server forbids to guess, see `find_kind`
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
        self._page = page
        self._crawl = crawl
        self._bases = Bases(page.bases if base is None else (), address if base is None else base, page.encoding)
        self._living = living
        self._url_from = _LIVING_URL_FROM if living else _URL_FROM
        self._names: dict[str, tuple[str, ...]] = {}
        self._text_left = MOST_TEXT
        self._properties_left = MOST_PROPERTIES
        self._problems: dict[str, None] = {}
        self.items: dict[int, Item] = {place: self._item_at(place) for place in crawl.items}
        self.properties: dict[int, Property | None] = {}
        for place, item in self.items.items():
            item.properties, item.errors = self._properties_of(place)
        self.data = Microdata(
            address=address,
            title=page.title,
            items=tuple([item for place, item in self.items.items() if crawl.written[place] is None]),
            all=tuple(self.items.values()),
            problems=(*page.problems, *self._problems),
            is_cut=bool(self._problems),
        )

    def _item_at(self, place: int) -> Item:
        get = self._page.marks[place].attr
        written = get("itemid")
        return Item(get("itemtype") or None, None if written is None else self._resolve(place, written))

    def _properties_of(self, place: int) -> tuple[tuple[Property, ...], int]:
        if self._properties_left <= 0:
            return (), 0
        found, errors = self._crawl.properties(place)
        if len(found) > self._properties_left:
            found = found[: self._properties_left]
            self._cut(f"its items have more than {MOST_PROPERTIES} properties in all")
        self._properties_left -= len(found)
        known = self.properties
        made = []
        for each in found:
            if each not in known:
                known[each] = self._property_at(each)
            if (made_of_it := known[each]) is not None:
                made.append(made_of_it)
        return tuple(made), errors

    def _property_at(self, place: int) -> Property | None:
        names = self._names_in(self._crawl.written[place] or "")
        if not names:
            return None
        item = self.items.get(place)
        if item is not None:
            return Property(names, Kind.ITEM, item, self._page.languages[place])
        kind, value = self._value_at(place)
        if len(value) > self._text_left:
            value = "" if kind is Kind.URL else value[: self._text_left]
            self._text_left = 0
            self._cut(f"the values of its properties have more than {MOST_TEXT} letters in all")
        else:
            self._text_left -= len(value)
        return Property(names, kind, value, self._page.languages[place])

    def _names_in(self, written: str) -> tuple[str, ...]:
        names = self._names.get(written)
        if names is None:
            names = tuple(dict.fromkeys(split_tokens(written)))
            if len(names) > MOST_NAMES:
                names = names[:MOST_NAMES]
                self._cut(f"one of its properties has more than {MOST_NAMES} names")
            self._names[written] = names
        return names

    def _value_at(self, place: int) -> tuple[Kind, str]:
        mark = self._page.marks[place]
        tag = mark.tag
        if tag == "meta":
            return Kind.TEXT, mark.attr("content") or ""
        source = self._url_from.get(tag)
        if source is not None:
            written = mark.attr(source)
            return Kind.URL, "" if written is None else self._resolve(place, written) or ""
        if tag == "time":
            written = mark.attr("datetime")
            return Kind.TIME, self._text_of(mark) if written is None else written
        if self._living and tag in _LIVING_NUMBERS:
            return Kind.NUMBER, mark.attr("value") or ""
        return Kind.TEXT, self._text_of(mark)

    def _text_of(self, mark: Mark) -> str:
        return mark.text if self._text_left > 0 else ""

    def _resolve(self, place: int, reference: str) -> str | None:
        elements = self._page.elements
        return self._bases.resolve(elements[place] if elements else _ANY, reference)

    def _cut(self, problem: str) -> None:
        self._problems[f"{problem}; what is beyond them is left out"] = None
