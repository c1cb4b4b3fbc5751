"""The links of a page, with all that they say of themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote

from tocsin.spec.html.microsyntax import SPACE, fold_space, lower_ascii, split_tokens
from tocsin.spec.html.tree import Element, Tree
from tocsin.spec.infrastructure.urls import Bases
from tocsin.spec.links.relations import REGISTRY, SYNONYMS, LinkType, MadeLink, Relations, classify, split_relations

# Text 003 has a small x alone, living HTML either (C-40); more than 18 digits are no size of anything.
_SIZE: Final = re.compile(r"([1-9][0-9]{0,17})[xX]([1-9][0-9]{0,17})")
_IMAGE: Final = "image/"
_SCREENS: Final = frozenset({"", "all", "screen"})


class Size(NamedTuple):
    """The size of an icon, in device pixels."""

    width: int
    height: int


# An icon that can be scaled to any size.
ANY: Final = "any"


def read_sizes(sizes: str) -> list[Size | str]:
    """Read a sizes attribute: each size in order, or ANY; keywords that represent nothing are left out.

    Source  text 003, icon (LK-25)
    """
    found: list[Size | str] = []
    for token in split_tokens(sizes):
        match = _SIZE.fullmatch(token)
        if match is not None:
            found.append(Size(int(match[1]), int(match[2])))
        elif lower_ascii(token) == ANY:
            found.append(ANY)
    return found


@dataclass(frozen=True, slots=True)
class Icon:
    """An icon that a page offers, by its attributes as written; None where one is absent."""

    url: str
    media_type: str | None = None
    media: str | None = None
    sizes: str | None = None


def rank_icons(icons: Iterable[Icon], wanted: int) -> list[Icon]:
    """Sort icons in the order in which to try them, the most appropriate first.

    icons   in tree order; of equals the last comes first
    wanted  the width in device pixels that it will be shown at
    Source  text 003, icon (LK-24): type, media and sizes decide; an unknown size comes after a known and fitting one
    """
    last_first = list(icons)[::-1]
    return sorted(last_first, key=lambda icon: _unfitness(icon, wanted))


def _unfitness(icon: Icon, wanted: int) -> tuple[int, int, int, int]:
    """Return how badly an icon fits: by its type, then by its media, then by its size."""
    media_type = lower_ascii((icon.media_type or "").strip())
    no_image = int(bool(media_type) and not media_type.startswith(_IMAGE))
    elsewhere = int(lower_ascii((icon.media or "").strip()) not in _SCREENS)
    if icon.sizes is None:
        return no_image, elsewhere, 2, 0
    return no_image, elsewhere, *min((_misfit(size, wanted) for size in read_sizes(icon.sizes)), default=(4, 0))


def _misfit(size: Size | str, wanted: int) -> tuple[int, int]:
    if isinstance(size, str):
        return 1, 0
    # To be made smaller harms an icon less than to be made larger.
    return (0, size.width - wanted) if size.width >= wanted else (3, wanted - size.width)


class Anchors:
    """The elements of a page by their IDs and, of a elements, their names."""

    def __init__(self, tree: Tree) -> None:
        """Remember the first element of each ID and name (LM-04)."""
        self._exact: dict[str, Element] = {}
        self._folded: dict[str, Element] = {}
        names: list[tuple[str, Element]] = []
        for element in tree.elements():
            if identity := element.get("id"):
                self._exact.setdefault(identity, element)
                self._folded.setdefault(identity.lower(), element)
            if element.is_html("a") and (name := element.get("name")):
                names.append((name, element))
        for name, element in names:
            self._exact.setdefault(name, element)
            self._folded.setdefault(name.lower(), element)

    def find(self, fragment: str) -> Element | None:
        """Find the element that a fragment leads to; None if it leads to none.

        fragment  without its #; as written, then with its escapes decoded, then folded to lower case
        Source    text 001, anchors (LM-02, LM-03); C-03: exact first, since HTML is case-sensitive today
        """
        decoded = unquote(fragment)
        for text in (fragment, decoded):
            if text and text in self._exact:
                return self._exact[text]
        return self._folded.get(decoded.lower()) if decoded else None


# The elements that can make links.
LINKING: Final = ("a", "area", "link")
# They are listed, never requested.
_MOST_PINGS: Final = 100


@dataclass(frozen=True, slots=True)
class PageLink:
    """An element that makes links.

    element         that makes them
    href            as written, white space around it trimmed
    url             where it leads, with its fragment; None if it leads nowhere (LK-08)
    relations       what its rel makes of it
    reverse         the types of its rev, synonyms under their canonical name: of the target, this page is that
                    (LM-08); without `made`, which is an author like any other
    label           its text, folded, cut after 300 letters; "" for link, alt for area (LM-01)
    title           advisory (LM-09)
    language        of its label and title (LM-27); None if it is not known
    hreflang        of its target, only a hint (LK-06); lang on a link element counts where it has none (LM-14)
    media_type      of its target, only a hint (LK-07, LM-15)
    media           that its target is meant for (LM-13)
    pings           URLs that a browser would notify when the link is followed; Tocsin never does (LK-09, LK-11)
    """

    element: Element
    href: str
    url: str | None
    relations: Relations
    reverse: tuple[str, ...]
    label: str
    title: str | None
    language: str | None
    hreflang: str | None
    media_type: str | None
    media: str | None
    target: str | None
    pings: tuple[str, ...]

    @property
    def links(self) -> tuple[MadeLink, ...]:
        """The links that the element makes."""
        return self.relations.links

    @property
    def types(self) -> tuple[str, ...]:
        """All link types that it bears, as they are known."""
        return tuple(keyword for link in self.links for keyword in link.types)

    def triples(self, page: str) -> Iterator[tuple[str, str, str]]:
        """Return what it states as subject, type, object; a rev states it of the target (LM-08)."""
        if self.url is None:
            return
        for keyword in (*self.types, *self.relations.unknown):
            yield page, keyword, self.url
        for keyword in self.reverse:
            yield self.url, keyword, page


def read_links(
    tree: Tree, bases: Bases, *, language: str | None = None, types: Mapping[str, LinkType] = REGISTRY
) -> Iterator[PageLink]:
    """Iterate over the links of a page in tree order: each link, a and area element with an href (LK-03).

    language  of elements without a LANG above them; None if it is not known
    types     the known ones; by default those of text 003, living HTML and the registry (LK-44)
    Source    text 001, links; text 003, links (LK-01, LK-02)
    """
    for element in tree.elements(*LINKING):
        href = element.get("href")
        if href is None:
            continue
        relations = classify(element.tag, element.get("rel"), element.get("rev"), element.get("type"), types=types)
        # A link element whose rel and rev say nothing makes nothing, not even an implied hyperlink.
        if element.tag == "link" and not (element.get("rel") or element.get("rev") or "").strip():
            continue
        yield PageLink(
            element=element,
            href=href.strip(SPACE),
            url=bases.resolve(element, href),
            relations=relations,
            reverse=tuple(SYNONYMS.get(each, each) for each in _reverse(element)),
            label=_label(element),
            title=_folded(element.get("title")),
            language=(language if element.language is None else element.language) or None,
            hreflang=_hreflang(element),
            media_type=_folded(element.get("type")),
            media=_folded(element.get("media")),
            target=_folded(element.get("target")),
            pings=_pings(element, bases),
        )


def _reverse(element: Element) -> Iterator[str]:
    for keyword in dict.fromkeys(split_relations(element.get("rev") or "")):
        if keyword != "made":
            yield keyword


def _label(element: Element) -> str:
    if element.tag == "area":
        return fold_space(element.get("alt") or "")
    return element.label()


def _folded(value: str | None) -> str | None:
    return None if value is None else fold_space(value) or None


def _hreflang(element: Element) -> str | None:
    hreflang = _folded(element.get("hreflang"))
    if hreflang is None and element.tag == "link":
        return _folded(element.get("lang"))
    return hreflang


def _pings(element: Element, bases: Bases) -> tuple[str, ...]:
    """Resolve each of an element's pings; one that leads nowhere is dropped alone (LK-09)."""
    if element.tag == "link":
        return ()
    tokens = split_tokens(element.get("ping") or "")[:_MOST_PINGS]
    return tuple(url for token in tokens if (url := bases.resolve(element, token)) is not None)


def default_feed(links: Iterable[PageLink]) -> str | None:
    """Return the URL of a page's default feed: of the first link that is a feed (LK-16); None if there is none.

    links  of the page, in tree order
    """
    return next((link.url for link in links if any(made.feed for made in link.links)), None)


def read_depths(links: Iterable[PageLink]) -> list[int]:
    """Return the depth of the page in each of its hierarchies.

    links   of the page, in tree order
    Returns a number for each paragraph that tells, and one for the rest of the document, in the order of their
            first links; where links of one contradict each other, the larger number
    Source  text 003, up (LK-38, LK-39)
    Deviation: a paragraph is a p element here, not every run of phrasing content.
    """
    paragraph_of = _nearest("p")
    depths: dict[Element | None, int] = {}
    for link in links:
        for made in link.links:
            if made.up and "index" in made.types:
                scope = paragraph_of(link.element)
                depths[scope] = max(made.up, depths.get(scope, 0))
    return list(depths.values())


@dataclass(frozen=True, slots=True)
class Permalink:
    """A link that lasts.

    article  whose it is; None for the section that it is closest to
    """

    url: str | None
    article: Element | None


def read_permalinks(links: Iterable[PageLink]) -> list[Permalink]:
    """Return a page's permalinks in tree order, each with the nearest article around it (LK-21)."""
    article_of = _nearest("article")
    return [Permalink(link.url, article_of(link.element)) for link in links if "bookmark" in link.types]


@dataclass(frozen=True, slots=True)
class Alternate:
    """Another version of the page.

    translation  its language, if that is not the page's own
    format       its media type, if it is a reformulation
    medium       that it is meant for
    """

    url: str
    title: str | None
    translation: str | None
    format: str | None
    medium: str | None


def read_alternates(tree: Tree, links: Sequence[PageLink]) -> list[Alternate]:
    """Return the other versions of a page, in tree order; each is also another version of each other (LK-18).

    Source  text 003, alternate (LK-17); text 001, LINK with LANG and MEDIA (LM-14, LM-28)
    """
    own = lower_ascii((tree.root.language if tree.root is not None else None) or "")
    found = []
    for link in links:
        if link.url is None or not any(made.types == ("alternate",) and not made.feed for made in link.links):
            continue
        language = link.hreflang if link.hreflang and lower_ascii(link.hreflang) != own else None
        found.append(Alternate(link.url, link.title, language, link.media_type, link.media))
    return found


def read_translations(alternates: Iterable[Alternate]) -> dict[str, str]:
    """Return the URL of each translation by its language in lower case; of several in one language the first."""
    found: dict[str, str] = {}
    for alternate in alternates:
        if alternate.translation is not None:
            found.setdefault(lower_ascii(alternate.translation), alternate.url)
    return found


def read_tags(links: Iterable[PageLink]) -> list[str]:
    """Return the URLs of the tags that apply to the page, each once, in tree order (LK-36)."""
    return list(dict.fromkeys(link.url for link in links if link.url is not None and "tag" in link.types))


def _nearest(tag: str) -> Callable[[Element], Element | None]:
    """Make a function that gives the nearest element of this name above another; each is looked at once."""
    found: dict[Element, Element | None] = {}

    def nearest(element: Element) -> Element | None:
        passed: list[Element] = []
        answer = None
        for above in element.above():
            if above in found or above.is_html(tag):
                answer = above if above.is_html(tag) else found[above]
                break
            passed.append(above)
        found.update(dict.fromkeys(passed, answer))
        return answer

    return nearest
