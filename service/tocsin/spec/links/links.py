"""The links of a page, with all that they say of themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import SPACE, fold_space, split_tokens
from tocsin.spec.links.registry import REGISTRY, SYNONYMS, LinkType
from tocsin.spec.links.relations import MadeLink, Relations, classify, split_relations

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tocsin.spec.html.tree import Element, Tree
    from tocsin.spec.infrastructure.bases import Bases

LINKING: Final = ("a", "area", "link")
"""The elements that can make links."""
_MOST_PINGS: Final = 100


@dataclass(frozen=True, slots=True)
class Link:
    """An element that makes links.

    element         that makes them
    href            as written, white space around it trimmed
    url             where it leads, with its fragment; None if it leads nowhere (LK-08)
    relations       what its rel makes of it
    reverse         the types of its rev, synonyms under their canonical name: of the target, this page is that
                    (LM-08); without `made`, which is an author like any other
    label           the text that stands for it, folded, cut after 300 letters; "" for link, alt for area (LM-01)
    title           advisory (LM-09)
    language        of its label and title (LM-27); None if it is not known
    hreflang        of its target, only a hint (LK-06); lang on a link element counts where it has none (LM-14)
    media_type      of its target, only a hint (LK-07, LM-15)
    media           that its target is meant for (LM-13)
    pings           that a browser would tell that the link is followed; nobody here ever does (LK-09, LK-11)
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
        """Give what it states as subject, type, object; a rev states it of the target (LM-08)."""
        if self.url is None:
            return
        for keyword in (*self.types, *self.relations.unknown):
            yield page, keyword, self.url
        for keyword in self.reverse:
            yield self.url, keyword, page


def read_links(
    tree: Tree, bases: Bases, *, language: str | None = None, types: Mapping[str, LinkType] = REGISTRY
) -> Iterator[Link]:
    """Go through the links of a page in tree order: of each link, a and area element that has an href (LK-03).

    language  of what stands below no LANG; None if it is not known
    types     what is known; by default text 003, living HTML and the registry (LK-44)
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
        yield Link(
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
