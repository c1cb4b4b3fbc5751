"""The articles of a page, as text 003 makes the entries of an Atom feed of them: read here, written elsewhere."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.microsyntax import lower_ascii, split_tokens
from tocsin.spec.infrastructure.datetimes import is_valid_global, parse_datetime
from tocsin.spec.microdata.article_dates import begins_another, moment_of, says

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.tree import Element
    from tocsin.spec.infrastructure.bases import Bases

_RANKS: Final = ("h1", "h2", "h3", "h4", "h5", "h6")
_HEADINGS: Final = frozenset({*_RANKS, "hgroup"})
_BESIDE: Final = frozenset({"footer", "header", "nav"})
# The text asks for the nearest sectioning content, and names body, which is a sectioning root: both are meant (C-23).
_SECTIONS: Final = frozenset(
    {
        *("article", "aside", "nav", "section"),
        *("blockquote", "body", "details", "dialog", "fieldset", "figure", "td"),
    }
)
_RUNS: Final = re.compile("(?:data|javascript|vbscript):", re.IGNORECASE)
_LONGEST_DATE: Final = 100
_UTC: Final = re.compile(r"((?!0000)[0-9]{4}-[^.]*?)(?:\.([0-9]{1,9})[0-9]*)?Z")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading and what stands below it, each as the nodes that it holds.

    element  None if there is no heading
    """

    element: Element | None
    title: Sequence[Element | str] = ()
    subtitle: Sequence[Element | str] = ()


class Article(NamedTuple):
    """An article that stands in no other.

    without    what a copy of it leaves out: other articles, its own headers, footers and navigation, its heading
    permalink  the first bookmark in it that leads anywhere, absolute
    published  as RFC 3339 has it, in UTC; None if it does not say
    updated    likewise
    """

    element: Element
    heading: Heading
    without: frozenset[Element]
    permalink: str | None
    published: str | None
    updated: str | None


def find_articles(root: Element) -> Iterator[Element]:
    """Go through the articles that stand in no other, in tree order (AT-06)."""
    ahead: list[Element | str] = [root]
    while ahead:
        node = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html("article"):
            yield node
        else:
            ahead.extend(reversed(node.children))


def find_heading(root: Element) -> Heading:
    """Find the heading of a page: of its body, and of no section in it (AT-05)."""
    body = next((each for each in root.children if not isinstance(each, str) and each.is_html("body")), None)
    ahead = [] if body is None else body.children[::-1]
    while ahead:
        node = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html() and node.tag in _HEADINGS:
            return _to_heading(node)
        if not node.is_html() or node.tag not in _SECTIONS:
            ahead.extend(reversed(node.children))
    return Heading(None)


def read_article(article: Element, bases: Bases, *, as_today: bool = False) -> Article:
    """Read one article (AT-07 to AT-11), in one walk.

    as_today  dates count as today's pages write them, too, see `article_dates`; that with `pubdate` comes before them
    """
    reading = _Reading(bases)
    # Whether the nearest section is the article itself, the nearest article is, it is in the copy, and what is said
    # there is said of the article.
    ahead = [(node, True, True, True, as_today) for node in reversed(article.children)]
    while ahead:
        node, is_own, is_ours, is_kept, is_said = ahead.pop()
        if isinstance(node, str):
            continue
        if node.is_html():
            is_kept = reading.keeps(node, is_own=is_own) and is_kept
            is_own = is_own and node.tag not in _SECTIONS
            is_ours = is_ours and node.tag != "article"
            reading.look_at(node, is_ours=is_ours, is_kept=is_kept)
            is_said = is_said and is_ours and not begins_another(node)
            if is_said:
                reading.hear(node)
        ahead.extend([(child, is_own, is_ours, is_kept, is_said) for child in reversed(node.children)])
    updated = latest(reading.changed)
    published = None if reading.published is None else _to_published(reading.published)
    published = published or reading.said_published
    return Article(
        element=article,
        heading=reading.heading,
        without=frozenset(reading.without),
        permalink=reading.permalink,
        published=published or updated,
        updated=updated or published,
    )


class _Reading:
    """What is found of an article, on the way through it in tree order."""

    def __init__(self, bases: Bases) -> None:
        self.bases = bases
        self.heading = Heading(None)
        self.without: set[Element] = set()
        self.published: Element | None = None
        self.changed: list[str] = []
        self.permalink: str | None = None
        self.said_published: str | None = None
        self._has_said_updated = False

    def keeps(self, node: Element, *, is_own: bool) -> bool:
        """Say whether the copy keeps an element, going by that alone (AT-08).

        is_own  the nearest section above it is the article itself
        """
        if is_own and self.heading.element is None and node.tag in _HEADINGS:
            self.heading = _to_heading(node)
        elif node.tag != "article" and not (is_own and node.tag in _BESIDE):
            return True
        self.without.add(node)
        return False

    def look_at(self, node: Element, *, is_ours: bool, is_kept: bool) -> None:
        """Look for dates and for the permalink.

        is_ours  the nearest article above it is this one
        is_kept  it is in the copy
        """
        if node.tag in ("ins", "del"):
            moment = _to_moment(node.get("datetime") or "") if is_kept else None
            if moment is not None:
                self.changed.append(moment)
        elif node.tag == "time":
            if is_ours and self.published is None and "pubdate" in node.attributes:
                self.published = node
        elif node.tag in ("a", "area") and self.permalink is None:
            self.permalink = _to_permalink(node, self.bases)

    def hear(self, node: Element) -> None:
        """Take the first dates that the article tells as today's pages do."""
        is_published, is_updated = says(node)
        if is_published and self.said_published is None:
            self.said_published = _to_published(node)
        if is_updated and not self._has_said_updated and (moment := _to_published(node)) is not None:
            self._has_said_updated = True
            self.changed.append(moment)


def latest(moments: Sequence[str]) -> str | None:
    """Give the latest of some moments, None of none."""
    return max(moments, default=None, key=_order)


def _to_heading(element: Element) -> Heading:
    if element.tag != "hgroup":
        return Heading(element, element.children)
    found = [each for each in element.children if not isinstance(each, str) and each.is_html(*_RANKS)]
    found.sort(key=lambda each: each.tag)  # in tree order where they are alike
    title, subtitle = (*(each.children for each in found[:2]), (), ())[:2]
    return Heading(element, title, subtitle)


def _to_permalink(link: Element, bases: Bases) -> str | None:
    """Resolve a bookmark; None for any other link.

    Deviation: an address that runs a script, or is a document of its own, is none.
    """
    href = link.get("href")
    if href is None or "bookmark" not in map(lower_ascii, split_tokens(link.get("rel") or "")):
        return None
    url = bases.resolve(link, href)
    return None if url is None or _RUNS.match(url) else url


def _to_published(element: Element) -> str | None:
    """Give the moment of a time or meta element; midnight in UTC where it tells no time, or no zone."""
    found = moment_of(element)
    if found.date is None:
        return None
    if found.time is None or found.offset_minutes is None:
        return _to_moment(f"{found.date}T00:00Z")
    sign = "-" if found.offset_minutes < 0 else "+"
    hours, minutes = divmod(abs(found.offset_minutes), 60)
    whole, point, fraction = f"{found.time.second:f}".partition(".")
    clock = f"{found.time.hour:02}:{found.time.minute:02}:{whole:0>2}{point}{fraction}"
    return _to_moment(f"{found.date}T{clock}{sign}{hours:02}:{minutes:02}")


def _to_moment(text: str) -> str | None:
    """Write a global date and time string in UTC, as RFC 3339 has it; None for anything else, and for other years.

    Fractions keep nine digits: nobody reads more.
    """
    moment = parse_datetime(text) if len(text) <= _LONGEST_DATE and is_valid_global(text) else None
    match = None if moment is None else _UTC.fullmatch(moment.utc)
    if match is None:
        return None
    return f"{match[1]}.{match[2]}Z" if match[2] else f"{match[1]}Z"


def _order(moment: str) -> str:
    return moment[:-1]  # without the Z, a whole second is before its fractions
