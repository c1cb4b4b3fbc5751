"""The link types that are known, and what each makes of the element that bears it.

Three sources, each with its own standing: text 003, of 2010; HTML as it lives; and the registry for values that
neither defines, which is now a page of the microformats wiki (C-08). The last two as they stood on 2026-11-01.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class Effect(StrEnum):
    """What a link type makes of an element with an href."""

    HYPERLINK = "hyperlink"
    RESOURCE = "external-resource"
    ANNOTATION = "annotation"


class Standing(StrEnum):
    """Who knows a link type.

    CURRENT       text 003 and living HTML
    OBSOLETE      text 003 alone (LK-44)
    LIVING        living HTML alone
    PROPOSED      the registry
    DISCONTINUED  the registry, which has withdrawn it
    """

    CURRENT = "current"
    OBSOLETE = "obsolete"
    LIVING = "living"
    PROPOSED = "proposed"
    DISCONTINUED = "discontinued"


@dataclass(frozen=True, slots=True)
class LinkType:
    """A link type.

    link      what it makes of a link element; None where it is not allowed
    a         what it makes of an a or area element; None where it is not allowed
    synonyms  read as this type, never valid in a document (LK-14)
    """

    keyword: str
    link: Effect | None
    a: Effect | None
    standing: Standing
    synonyms: tuple[str, ...] = ()

    def on(self, element: str) -> Effect | None:
        """Say what it makes of an element of this name; None where it is not allowed."""
        return self.link if element == "link" else self.a


_H, _R, _A = Effect.HYPERLINK, Effect.RESOURCE, Effect.ANNOTATION

# Keyword, on link, on a and area, synonyms; text 003, link types, with the synonyms of each.
_CURRENT: Final = (
    ("alternate", _H, _H, ""),
    ("author", _H, _H, ""),
    ("bookmark", None, _H, ""),
    ("external", None, _H, ""),
    ("help", _H, _H, ""),
    ("icon", _R, None, ""),
    ("license", _H, _H, "copyright"),
    ("next", _H, _H, ""),
    ("nofollow", None, _A, ""),
    ("noreferrer", None, _A, ""),
    ("pingback", _R, None, ""),
    ("prefetch", _R, _R, ""),
    ("prev", _H, _H, "previous"),
    ("search", _H, _H, ""),
    ("stylesheet", _R, None, ""),
    ("tag", _H, _H, ""),
)
_OBSOLETE: Final = (
    ("archives", _H, _H, "archive"),
    ("first", _H, _H, "begin start"),
    ("index", _H, _H, "top contents toc"),
    ("last", _H, _H, "end"),
    ("sidebar", _H, _H, ""),
    ("up", _H, _H, ""),
)
_LIVING: Final = (
    ("canonical", _H, None, ""),
    ("compression-dictionary", _R, None, ""),
    ("dns-prefetch", _R, None, ""),
    ("expect", _R, None, ""),
    ("manifest", _R, None, ""),
    ("me", _H, _H, ""),
    ("modulepreload", _R, None, ""),
    ("noopener", None, _A, ""),
    ("opener", None, _A, ""),
    ("preconnect", _R, None, ""),
    ("preload", _R, None, ""),
    ("privacy-policy", _H, _H, ""),
    ("terms-of-service", _H, _H, ""),
    # May stand before icon, and means nothing there.
    ("shortcut", _A, None, ""),
)
# Without synonyms: on link, on a and area, keywords.
_PROPOSED: Final = (
    (_R, None, "apple-touch-icon apple-touch-icon-precomposed apple-touch-startup-image mask-icon"),
    (_R, None, "openid.delegate openid.server openid2.local_id openid2.provider"),
    (_R, None, "authorization_endpoint indieauth-metadata micropub microsub token_endpoint"),
    (_R, None, "edituri prerender wlwmanifest"),
    (_H, None, "amphtml image_src"),
    (_H, _H, "edit enclosure hub home in-reply-to latest-version payment"),
    (_H, _H, "memento original timegate timemap"),
    (_H, _H, "profile publisher self shortlink sitemap syndication webmention"),
    (None, _H, "acquaintance child co-resident co-worker colleague contact crush date friend"),
    (None, _H, "kin met muse neighbor parent sibling spouse sweetheart"),
    (None, _A, "sponsored ugc"),
)
_DISCONTINUED: Final = ((_R, None, "import subresource"),)


def _entries() -> Iterator[LinkType]:
    for standing, table in ((Standing.CURRENT, _CURRENT), (Standing.OBSOLETE, _OBSOLETE), (Standing.LIVING, _LIVING)):
        for keyword, link, a, synonyms in table:
            yield LinkType(keyword, link, a, standing, tuple(synonyms.split()))
    for standing, words in ((Standing.PROPOSED, _PROPOSED), (Standing.DISCONTINUED, _DISCONTINUED)):
        for link, a, keywords in words:
            yield from (LinkType(keyword, link, a, standing) for keyword in keywords.split())


REGISTRY: Final[Mapping[str, LinkType]] = MappingProxyType({each.keyword: each for each in _entries()})
"""Every link type by its keyword, in lower case."""

TEXT: Final[Mapping[str, LinkType]] = MappingProxyType(
    {word: each for word, each in REGISTRY.items() if each.standing in {Standing.CURRENT, Standing.OBSOLETE}}
)
"""Those of text 003 alone."""

SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {synonym: each.keyword for each in REGISTRY.values() for synonym in each.synonyms}
)
"""Keyword by synonym."""
