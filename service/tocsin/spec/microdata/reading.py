"""The names and the value of each element that adds a property (text 003, MD-05, MD-09, MD-10; MD-18 for today's)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.html.marked import MOST_MARKS
from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.html.tree import HTML, Element
from tocsin.spec.infrastructure.bases import Bases
from tocsin.spec.microdata.values import Kind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.spec.html.marked import MarkedPage
    from tocsin.spec.microdata.crawl import Crawl

MOST_TEXT: Final = 16 * 1024 * 1024
"""Letters of all values of a page together; each of many properties within each other holds the text of all below."""
MOST_NAMES: Final = 1000
"""Of one element."""
DEEPEST_TEXT: Final = 64
"""Properties within properties whose text is read: all that each of them holds is walked through."""

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


class Reading:
    """What the marks of a page say, as long as there is not too much of it."""

    def __init__(self, page: MarkedPage, crawl: Crawl, *, address: str | None, base: str | None, living: bool) -> None:
        """Begin; `read_items` says what the arguments mean."""
        self._page = page
        self._bases = Bases(page.bases if base is None else (), address if base is None else base, page.encoding)
        self._url_from = _LIVING_URL_FROM if living else _URL_FROM
        self._numbers = _LIVING_NUMBERS if living else frozenset()
        self._names: dict[str, tuple[str, ...]] = {}
        self._depths = _count_around(page, crawl)
        self._left = MOST_TEXT
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

    def names(self, written: str) -> tuple[str, ...]:
        """Take an itemprop apart: its names in order, each once (MD-09)."""
        names = self._names.get(written)
        if names is None:
            names = tuple(dict.fromkeys(split_tokens(written)))
            if len(names) > MOST_NAMES:
                names = names[:MOST_NAMES]
                self.cut(f"one of its properties has more than {MOST_NAMES} names")
            self._names[written] = names
        return names

    def identifier(self, place: int) -> str | None:
        """Give the global identifier of an item; None without one (MD-05)."""
        written = self._page.marks[place].attr("itemid")
        return self._resolve(place, written) or None

    def value(self, place: int) -> tuple[Kind, str]:
        """Give the value of a property that is no item (MD-10)."""
        mark = self._page.marks[place]
        tag = mark.tag
        if tag == "meta":
            return Kind.TEXT, self._take(mark.attr("content") or "")
        source = self._url_from.get(tag)
        if source is not None:
            return Kind.URL, self._resolve(place, mark.attr(source))
        if tag == "time":
            written = mark.attr("datetime")
            return Kind.TIME, self._text(place) if written is None else self._take(written)
        if tag in self._numbers:
            return Kind.NUMBER, self._take(mark.attr("value") or "")
        return Kind.TEXT, self._text(place)

    def _text(self, place: int) -> str:
        if self._depths[place] > DEEPEST_TEXT:
            self.cut(f"some of its properties stand in more than {DEEPEST_TEXT - 1} others")
            return ""
        return self._take(self._page.marks[place].text) if self._left > 0 else ""

    def _resolve(self, place: int, reference: str | None) -> str:
        if reference is None or self._left <= 0:
            return ""
        elements = self._page.elements
        url = self._bases.resolve(elements[place] if elements else _ANY, reference) or ""
        return url if self._take(url) == url else ""

    def _take(self, value: str) -> str:
        """Give a value as far as there is room for it."""
        self._left -= len(value)
        if self._left >= 0:
            return value
        self.cut(f"the values of its properties have more than {MOST_TEXT} letters in all")
        fitting = value[: max(len(value) + self._left, 0)]
        self._left = 0
        return fitting


def _count_around(page: MarkedPage, crawl: Crawl) -> Sequence[int]:
    """Count the properties that each mark stands in, itself among them."""
    found: list[int] = []
    for outer, written in zip(page.above, crawl.written, strict=True):
        around = 0 if outer < 0 else found[outer]
        found.append(around if written is None else around + 1)
    return found
