"""A page in, its microdata out: items, their properties and values, as text 003 defines them (MD-01..MD-14)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.marked import MOST_MARKS, SHALLOW, read_marked
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.search import holds_any
from tocsin.spec.html.tree import HTML, Element
from tocsin.spec.infrastructure.urls import Bases
from tocsin.spec.microdata.reading.crawl import NOWHERE, Crawl
from tocsin.spec.microdata.values import Item, Kind, Microdata, Property, TextProperty

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.spec.html.marked import Mark, MarkedPage


# The names and the value of each element that adds a property (text 003, MD-05, MD-09, MD-10; MD-18 for today's).


MOST_TEXT: Final = 16 * 1024 * 1024
"""Letters of all values of a page together; each of many properties within each other holds the text of all below."""
MOST_NAMES: Final = 1000
"""Of one element."""
DEEPEST_TEXT: Final = SHALLOW  # so that of a shallow page nothing needs to be counted
"""Properties within properties whose text is read: all that each of them holds is walked through."""

_ANY: Final = Element("html", HTML, {}, None)
_ITEM, _URL, _TIME, _TEXT = Kind.ITEM, Kind.URL, Kind.TIME, Kind.TEXT  # asked of the enumeration, each takes a while
_SOURCES: Final[Mapping[str, tuple[Kind, str]]] = {
    "meta": (Kind.TEXT, "content"),
    "time": (Kind.TIME, "datetime"),
    "object": (Kind.URL, "data"),
    **dict.fromkeys(("a", "area", "link"), (Kind.URL, "href")),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "video"), (Kind.URL, "src")),
}
"""Elements with a value of their own: its kind, and the attribute that it is read of."""
_LIVING_SOURCES: Final[Mapping[str, tuple[Kind, str]]] = {
    **_SOURCES,
    "track": (Kind.URL, "src"),
    "data": (Kind.NUMBER, "value"),
    "meter": (Kind.NUMBER, "value"),
}
# A reference that the URL standard puts behind its base as it is, which is seen in a tenth of the time that it takes:
# no segment of it is one of dots, and none of its letters means anything.
_PLAIN: Final = re.compile(
    r"/?(?:[A-Za-z0-9_-][A-Za-z0-9_.~-]*+/)*+(?:[A-Za-z0-9_-][A-Za-z0-9_.~-]*+)?+(?:#[A-Za-z0-9_.~/-]*+)?+(?<=.)"
)
_LONGEST_PLAIN: Final = 2000
_OF_HTTP: Final = ("http://", "https://")


class Reading:
    """What the marks of a page say, as long as there is not too much of it."""

    def __init__(self, page: MarkedPage, *, address: str | None, base: str | None, living: bool) -> None:
        """Begin; `read_items` says what the arguments mean."""
        self._page = page
        self._bases = Bases(page.bases if base is None else (), address if base is None else base, page.encoding)
        self._prefixes = None if page.elements else _prefixes_of(self._bases)
        self._sources = _LIVING_SOURCES if living else _SOURCES
        self._names: dict[str, tuple[str, ...]] = {}
        self._depths = None if page.lineage.is_shallow else _count_around(page)
        self._left = MOST_TEXT
        self._languages = page.languages
        self._problems: dict[str, None] = {}
        if page.is_cut:
            self.cut(f"the page has more than {MOST_MARKS} elements with items and properties")

    @property
    def problems(self) -> tuple[str, ...]:
        """Say in words what was left out."""
        return tuple(self._problems)

    def cut(self, problem: str) -> None:
        """Remember that there is too much of something."""
        self._problems[f"{problem}; what is beyond them is left out"] = None

    def identifier(self, place: int, mark: Mark) -> str | None:
        """Give the global identifier of an item; None without one (MD-05)."""
        written = mark.attr("itemid")
        return None if written is None else self._resolve(place, written) or None

    def property(self, place: int, mark: Mark, written: str, item: Item | None) -> Property | None:
        """Read a property; None for one without a name.

        written  its itemprop
        item     its value, if it is one
        """
        names = self._names.get(written)
        if names is None:
            names = self._names_in(written)
        if not names:
            return None
        language = self._languages[place]
        if item is not None:
            return Property(names, _ITEM, item, language)
        source = self._sources.get(mark.tag)
        if source is None:
            return TextProperty(names, _TEXT, self._text(place, mark), language)
        kind, attribute = source
        value = mark.attr(attribute)
        if kind is _URL:
            value = self._resolve(place, value)
        elif value is None and kind is _TIME:
            value = self._text(place, mark)
        else:
            value = self._take(value or "")
        return TextProperty(names, kind, value, language)

    def _names_in(self, written: str) -> tuple[str, ...]:
        """Take an itemprop apart: its names in order, each once (MD-09)."""
        names = tuple(dict.fromkeys(split_tokens(written)))
        if len(names) > MOST_NAMES:
            names = names[:MOST_NAMES]
            self.cut(f"one of its properties has more than {MOST_NAMES} names")
        self._names[written] = names
        return names

    def _text(self, place: int, mark: Mark) -> str:
        if self._depths is not None and self._depths[place] > DEEPEST_TEXT:
            self.cut(f"some of its properties stand in more than {DEEPEST_TEXT - 1} others")
            return ""
        return self._take(mark.text) if self._left > 0 else ""

    def _resolve(self, place: int, reference: str | None) -> str:
        if reference is None or self._left <= 0:
            return ""
        url = self._behind_base(reference)
        if url is None:
            elements = self._page.elements
            url = self._bases.resolve(elements[place] if elements else _ANY, reference) or ""
        return url if self._take(url) == url else ""

    def _behind_base(self, reference: str) -> str | None:
        """Resolve a plain path, a plain fragment, or both; None for any other reference."""
        if self._prefixes is None or len(reference) > _LONGEST_PLAIN or not _PLAIN.fullmatch(reference):
            return None
        here, root, page = self._prefixes
        if reference.startswith("#"):
            return page + reference
        return root + reference[1:] if reference.startswith("/") else here + reference

    def _take(self, value: str) -> str:
        """Give a value as far as there is room for it."""
        self._left -= len(value)
        if self._left >= 0:
            return value
        self.cut(f"the values of its properties have more than {MOST_TEXT} letters in all")
        fitting = value[: max(len(value) + self._left, 0)]
        self._left = 0
        return fitting


def _prefixes_of(bases: Bases) -> tuple[str, str, str] | None:
    """Give what plain paths of a page stand behind, those with a slash before them, and fragments.

    None where nothing is plain.
    """
    here, root, page = (bases.resolve(_ANY, each) for each in (".", "/", ""))
    if here is None or root is None or page is None or not here.startswith(_OF_HTTP):
        return None
    return here, root, page


def _count_around(page: MarkedPage) -> Sequence[int]:
    """Count the properties that each mark stands in, itself among them."""
    found: list[int] = []
    for place, outer in enumerate(page.lineage.above()):
        around = 0 if outer < 0 else found[outer]
        is_property = place not in page.foreign and page.marks[place].attr("itemprop") is not None
        found.append(around + is_property)
    return found


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
