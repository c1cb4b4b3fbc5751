"""A page in, its microdata out: items, their properties and values, as text 003 defines them (MD-01..MD-14)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from tocsin.spec.html.marked import MOST_MARKS, SHALLOW, Mark, MarkedPage, read_marked
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.search import holds_any
from tocsin.spec.html.tree import HTML, Element
from tocsin.spec.infrastructure.urls import Bases
from tocsin.spec.microdata.values import Item, Microdata, Property, TextProperty, ValueKind

# Which elements are the properties of which item, and what is wrong with that (text 003, MD-07, MD-12..MD-15).
#
# The text's algorithm is quadratic and says so. This one is not: elements are numbered in tree order, the properties of
# each item are a sorted list of numbers, and the descendants of an `itemref` target are a slice of such a list.


Step: TypeAlias = tuple[int, Mark, str | None, bool]
"""A mark's place, the mark, its itemprop, and whether it is an item."""

# The owner of an element that is in no item.
NOWHERE: Final = -1


class Crawl:
    """The items of a page and their properties, as places among its marks.

    written  by place, the itemprop as written; None without one. Grows with `walk`.
    owners   by place, the nearest item around it, or NOWHERE. Grows with `walk`.
    """

    def __init__(self, page: MarkedPage) -> None:
        """Start before the first mark."""
        self._page = page
        self.written: list[str | None] = []
        self.owners: list[int] = []
        self._items: set[int] = set()
        self._members: defaultdict[int, list[int]] = defaultdict(list)
        self._ends: Sequence[int] | None = None
        self._targets: Mapping[str, int] | None = None

    def walk(self) -> Iterator[Step]:
        """Yield, in tree order, each mark that is an item, or a property of the item around it."""
        # Read the attributes of a mark while it is yielded: later it has left the processor's cache, which takes twice
        # as long.
        foreign, members, written, owners = self._page.foreign, self._members, self.written, self.owners
        for place, (mark, (is_item, owner)) in enumerate(
            zip(self._page.marks, self._page.lineage.owners(), strict=True)
        ):
            names = None if foreign and place in foreign else mark.attr("itemprop")
            written.append(names)
            owners.append(owner)
            if names is not None:
                members[owner].append(place)
            if is_item:
                self._items.add(place)
            if is_item or (names is not None and owner != NOWHERE):
                yield place, mark, names, is_item

    def properties(self, item: int) -> tuple[Sequence[int], int]:
        """Find the elements that add properties to an item, in tree order, and count the errors (MD-12, MD-13)."""
        own = self._members.get(item, ())
        reference = self._page.marks[item].attr("itemref") if self._page.refers else None
        if reference is None:
            return own, 0
        targets = self._find_all(reference)
        if not targets:
            return own, 0
        in_order = sorted(set(targets))
        errors = len(targets) - len(in_order)
        found = list(own)
        ends = self._find_ends()
        reached: dict[int, int] = {}  # of each owner, the last place that its targets lead to so far
        for target in in_order:
            owner = self.owners[target]
            if owner == item or target <= reached.get(owner, NOWHERE):
                errors += 1  # An element around it collects it already.
                continue
            if target in self._items:
                if self.written[target] is not None:
                    found.append(target)
                continue
            reached[owner] = ends[target]
            siblings = self._members.get(owner, ())
            found += siblings[bisect_left(siblings, target) : bisect_right(siblings, ends[target])]
        # An item that contains itself is an error, and no property; an item that others contain twice is not.
        if item in found:
            found.remove(item)
            errors += 1
        found.sort()
        return found, errors

    def _find_all(self, reference: str) -> list[int]:
        """Find the targets of an itemref, each as often as it is named (MD-07)."""
        known = self._find_targets()
        return [known[token] for token in split_tokens(reference) if token in known]

    def _find_ends(self) -> Sequence[int]:
        """Find for each place the last one within it; itself if there is none."""
        if self._ends is None:
            ends = list(range(len(self.owners)))
            above = self._page.lineage.above()
            for place in range(len(ends) - 1, -1, -1):
                outer = above[place]
                if outer >= 0 and ends[outer] < ends[place]:
                    ends[outer] = ends[place]
            self._ends = ends
        return self._ends

    def _find_targets(self) -> Mapping[str, int]:
        if self._targets is None:
            self._targets = dict(self._identified())
        return self._targets

    def _identified(self) -> Iterator[tuple[str, int]]:
        """Yield the elements with an ID, from the last to the first, so that the first of several wins."""
        for place in range(len(self.owners) - 1, -1, -1):
            name = self._page.marks[place].attr("id")
            if name:
                yield name, place


# Of all items of a page together; an itemref may give the same thousand to each of a thousand items.
MOST_PROPERTIES: Final = 1_000_000
# Letters of all values of a page together; nested properties repeat the text of those within them.
MOST_TEXT: Final = 16 * 1024 * 1024
# Of one element.
MOST_NAMES: Final = 1000
# Properties within properties whose text is read; reading the text of each walks through its whole subtree.
DEEPEST_TEXT: Final = SHALLOW  # On a shallow page nothing needs to be counted.

_ANY: Final = Element("html", HTML, {}, None)
# Looking a member up in its enumeration would be repeated for each property.
_ITEM, _URL, _TIME, _TEXT = ValueKind.ITEM, ValueKind.URL, ValueKind.TIME, ValueKind.TEXT
# Elements whose value is an attribute: the kind of the value, and the attribute's name.
_SOURCES: Final[Mapping[str, tuple[ValueKind, str]]] = {
    "meta": (_TEXT, "content"),
    "time": (_TIME, "datetime"),
    "object": (_URL, "data"),
    **dict.fromkeys(("a", "area", "link"), (_URL, "href")),
    **dict.fromkeys(("audio", "embed", "iframe", "img", "source", "video"), (_URL, "src")),
}
_LIVING_SOURCES: Final[Mapping[str, tuple[ValueKind, str]]] = {
    **_SOURCES,
    "track": (_URL, "src"),
    "data": (ValueKind.NUMBER, "value"),
    "meter": (ValueKind.NUMBER, "value"),
}
# A reference that the URL standard appends to its base unchanged: no segment is made of dots, and no letter is special.
# Recognising it takes a tenth of the time of resolving it.
_PLAIN: Final = re.compile(
    r"/?(?:[A-Za-z0-9_-][A-Za-z0-9_.~-]*+/)*+(?:[A-Za-z0-9_-][A-Za-z0-9_.~-]*+)?+(?:#[A-Za-z0-9_.~/-]*+)?+(?<=.)"
)
# Longer URLs take the way through the whole resolver.
_LONGEST_PLAIN: Final = 2000
_OF_HTTP: Final = ("http://", "https://")
# A page without these letters has no items, and is not searched for them.
_SIGN: Final = (b"itemscope",)
_ESCAPE: Final = b"\x1b"


def may_hold_items(body: bytes) -> bool:
    """Say whether a page's bytes can hold an item, in any encoding, without parsing them."""
    # ISO-2022-JP may have an escape sequence within any word.
    if _ESCAPE in body:
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
    base          resolves its relative URLs, whatever the page says; None: its base element, or the address. Without
                  any of them, relative URLs have no value
    nosniff       the server forbids guessing its type, see `is_nosniff`
    living        as HTML reads it today: `data`, `meter` and `track` have values of their own (MD-18)
    Raises TooComplex for a page that is too complex to parse.
    """
    page = read_marked(body, content_type, nosniff=nosniff)
    return ItemsOfMarks(page, Crawl(page), address=address, base=base, living=living).data


class ItemsOfMarks:
    """The items of a page's marks.

    items       by the place of their mark
    properties  by the place of their mark, shared by all items that have them; None for one without names
    data        all microdata of the page
    """

    def __init__(
        self, page: MarkedPage, crawl: Crawl, *, address: str | None, base: str | None = None, living: bool = False
    ) -> None:
        """Read all items; see `read_items` for the arguments."""
        self._crawl = crawl
        self._reading = reading = _PropertyReader(page, address=address, base=base, living=living)
        self._marks = page.marks
        self._left = MOST_PROPERTIES
        items: dict[int, Item] = {}
        self.items = items
        # Properties outside of items are read in `_properties_of`, once an itemref leads to them.
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


class _PropertyReader:
    """Reads names and values of marks, within limits (text 003, MD-05, MD-09, MD-10; MD-18 for today's HTML)."""

    def __init__(self, page: MarkedPage, *, address: str | None, base: str | None, living: bool) -> None:
        """Begin; see `read_items` for the arguments."""
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
        """What was left out, in sentences."""
        return tuple(self._problems)

    def cut(self, problem: str) -> None:
        """Note that there is too much of something."""
        self._problems[f"{problem}; what is beyond them is left out"] = None

    def identifier(self, place: int, mark: Mark) -> str | None:
        """Return the global identifier of an item; None without one (MD-05)."""
        written = mark.attr("itemid")
        return None if written is None else self._resolve(place, written) or None

    def property(self, place: int, mark: Mark, written: str, item: Item | None) -> Property | None:
        """Read a property; None for one without a name.

        written  its itemprop
        item     its value, if that is an item
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
        """Split an itemprop into its names, in order, each once (MD-09)."""
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
        """Resolve a plain path, fragment, or both by appending them; None for any other reference."""
        if self._prefixes is None or len(reference) > _LONGEST_PLAIN or not _PLAIN.fullmatch(reference):
            return None
        here, root, page = self._prefixes
        if reference.startswith("#"):
            return page + reference
        return root + reference[1:] if reference.startswith("/") else here + reference

    def _take(self, value: str) -> str:
        """Return the part of a value for which there is room."""
        self._left -= len(value)
        if self._left >= 0:
            return value
        self.cut(f"the values of its properties have more than {MOST_TEXT} letters in all")
        fitting = value[: max(len(value) + self._left, 0)]
        self._left = 0
        return fitting


def _prefixes_of(bases: Bases) -> tuple[str, str, str] | None:
    """Return the prefixes of relative paths, of paths from the root, and of fragments; None without an HTTP base."""
    here, root, page = (bases.resolve(_ANY, each) for each in (".", "/", ""))
    if here is None or root is None or page is None or not here.startswith(_OF_HTTP):
        return None
    return here, root, page


def _count_around(page: MarkedPage) -> Sequence[int]:
    """Count the properties around each mark, itself included."""
    found: list[int] = []
    for place, outer in enumerate(page.lineage.above()):
        around = 0 if outer < 0 else found[outer]
        is_property = place not in page.foreign and page.marks[place].attr("itemprop") is not None
        found.append(around + is_property)
    return found
