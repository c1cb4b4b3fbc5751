"""The copies that a page names: of the pages that it links to, and of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from tocsin.errors import BadUrl, TooComplex
from tocsin.spec.html.page import find_page_encoding
from tocsin.spec.html.tree import walk
from tocsin.spec.html.urls import watch_url
from tocsin.spec.infrastructure.urls import resolve
from tocsin.spec.links.bases import Bases
from tocsin.spec.links.http_dates import read_http_date, to_text
from tocsin.spec.links.link_header import read_link_headers
from tocsin.spec.links.mset import parse_mset
from tocsin.spec.links.relations import split_relations

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.html.tree import Element

MOST_COPIES: Final = 1000
_MOST_ELEMENTS: Final = 10_000
_SIGNS: Final = re.compile(rb"mset|memento|timemap")


class CopyKind(StrEnum):
    """How a page names a copy: by an mset attribute, or as its own memento, or as a list of its mementos."""

    MSET = "mset"
    MEMENTO = "memento"
    TIMEMAP = "timemap"


_OWN: Final = frozenset({CopyKind.MEMENTO.value, CopyKind.TIMEMAP.value, "original"})


@dataclass(frozen=True, slots=True)
class PageCopy:
    """A copy of a page.

    target    the URL of what was copied, as pages are named: serialised, without fragment
    url       where the copy is, http or https, without user info
    datetime  when it was made, a date or a global date and time; None if that is not told
    rel       its link type, None if that is not told
    """

    target: str
    url: str
    datetime: str | None
    rel: str | None
    kind: CopyKind


def read_copies(
    body: bytes, content_type: str | None, url: str, link_headers: Sequence[str] = ()
) -> tuple[PageCopy, ...]:
    """Read the copies that a page names, each once, at most 1,000; only http and https can be offered.

    body          whatever it is; a page that no parser may be given names none
    content_type  the value of the HTTP header, None if there was none
    url           the page's own after redirects
    link_headers  the values of its Link headers
    Source        text 002 (MS-01 to MS-07); RFC 7089 for a page's own mementos, with rel=original where the page is
                  itself a copy
    """
    elements = _relevant(body, content_type) if may_name_copies(body) else []
    bases = Bases(elements, url, find_page_encoding(body, content_type) if elements else None)
    found: dict[tuple[str, str], PageCopy] = {}
    for copy in (*_own_copies(url, link_headers, elements, bases), *_copies_of_others(elements, bases)):
        key = copy.target, copy.url
        if copy.url.partition("#")[0] == copy.target:  # nothing is its own copy
            continue
        known = found.get(key)
        if known is None:
            if len(found) < MOST_COPIES:
                found[key] = copy
        elif known.datetime is None and copy.datetime is not None:
            found[key] = copy
    return tuple(found.values())


def may_name_copies(body: bytes) -> bool:
    """Say whether a page's bytes can name a copy at all, in whatever encoding."""
    return _SIGNS.search((body.replace(b"\0", b"") if b"\0" in body else body).lower()) is not None


def _relevant(body: bytes, content_type: str | None) -> list[Element]:
    found = []
    try:
        for element in walk(body, content_type):
            if element.is_html("base") or _has_mset(element) or _is_own(element):
                found.append(element)
                if len(found) >= _MOST_ELEMENTS:
                    break
    except TooComplex:
        return []
    return found


def _has_mset(element: Element) -> bool:
    """Say whether an mset counts: only one on a link does (MS-01)."""
    return "mset" in element.attributes and "href" in element.attributes and element.is_html("a")


def _is_own(element: Element) -> bool:
    if "rel" not in element.attributes or "href" not in element.attributes:
        return False
    return element.is_html("link", "a", "area") and not _OWN.isdisjoint(split_relations(element.attributes["rel"]))


def _own_copies(url: str, headers: Sequence[str], elements: Sequence[Element], bases: Bases) -> Iterator[PageCopy]:
    links = [(link.parameters, resolve(link.target, url)) for link in read_link_headers(headers)]
    links += [
        (element.attributes, bases.resolve(element, element.attributes["href"]))
        for element in elements
        if _is_own(element)
    ]
    originals = (href for attributes, href in links if "original" in split_relations(attributes.get("rel", "")))
    target = page_name(next(originals, None) or url)
    for attributes, href in links:
        types = split_relations(attributes.get("rel", ""))
        # The context of a link with an anchor is another page.
        if target is None or href is None or "anchor" in attributes or not is_offerable(href):
            continue
        made = read_http_date(attributes.get("datetime", ""))
        for kind in (CopyKind.MEMENTO, CopyKind.TIMEMAP):
            if kind in types:
                yield PageCopy(target, href, to_text(made) if made else None, kind.value, kind)


def _copies_of_others(elements: Sequence[Element], bases: Bases) -> Iterator[PageCopy]:
    for element in elements:
        href = bases.resolve(element, element.attributes["href"]) if _has_mset(element) else None
        target = page_name(href) if href is not None else None
        if target is None:
            continue
        for copy in parse_mset(element.attributes["mset"], bases.of(element), bases.encoding).copies:
            if is_offerable(copy.url):
                yield PageCopy(target, copy.url, copy.datetime, copy.rel, CopyKind.MSET)


def page_name(url: str) -> str | None:
    """Give the name under which a page would be watched; None for a URL that cannot be."""
    try:
        return watch_url(url).url
    except BadUrl:
        return None


def is_offerable(url: str) -> bool:
    """Say whether a copy can be offered: http or https, and nobody's password in it."""
    try:
        return watch_url(url).credentials is None
    except BadUrl:
        return False
