"""What a page's links say of its place: its feed, its permalinks, its depth, its other versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.spec.html.microsyntax import lower_ascii

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tocsin.spec.html.tree import Element, Tree
    from tocsin.spec.links.links import Link


def default_feed(links: Iterable[Link]) -> str | None:
    """Give the URL of a page's default feed: of the first link that is a feed (LK-16); None if there is none.

    links  of the page, in tree order
    """
    return next((link.url for link in links if any(made.feed for made in link.links)), None)


def read_depths(links: Iterable[Link]) -> list[int]:
    """Say how deep the page lies in each of its hierarchies.

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


def read_permalinks(links: Iterable[Link]) -> list[Permalink]:
    """Give a page's permalinks in tree order, each with the nearest article that it stands in (LK-21)."""
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


def read_alternates(tree: Tree, links: Sequence[Link]) -> list[Alternate]:
    """Give the other versions of a page, in tree order; each is also another version of each other (LK-18).

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
    """Give the URL of each translation by its language in lower case; of several in one language the first."""
    found: dict[str, str] = {}
    for alternate in alternates:
        if alternate.translation is not None:
            found.setdefault(lower_ascii(alternate.translation), alternate.url)
    return found


def read_tags(links: Iterable[Link]) -> list[str]:
    """Give the URLs of the tags that apply to the page, each once, in tree order (LK-36)."""
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
