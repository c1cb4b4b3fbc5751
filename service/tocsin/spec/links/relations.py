"""Link types: those that are known, what they make of an element, and where they are allowed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from tocsin.spec.html.microsyntax import SPACE, lower_ascii, split_tokens
from tocsin.spec.infrastructure.urls import is_absolute_url


class Effect(StrEnum):
    """The effect of a link type on an element with an href."""

    HYPERLINK = "hyperlink"
    RESOURCE = "external-resource"
    ANNOTATION = "annotation"


class Standing(StrEnum):
    """The source that defines a link type.

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

    link      its effect on a link element; None where it is not allowed
    a         its effect on an a or area element; None where it is not allowed
    synonyms  read as this type, never valid in a document (LK-14)
    """

    keyword: str
    link: Effect | None
    a: Effect | None
    standing: Standing
    synonyms: tuple[str, ...] = ()

    def on(self, element: str) -> Effect | None:
        """Return its effect on an element of this name; None where it is not allowed."""
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
    # Allowed before icon, without a meaning.
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


# Every link type by its keyword, in lower case.
REGISTRY: Final[Mapping[str, LinkType]] = MappingProxyType({each.keyword: each for each in _entries()})

# Those of text 003 alone.
TEXT: Final[Mapping[str, LinkType]] = MappingProxyType(
    {word: each for word, each in REGISTRY.items() if each.standing in {Standing.CURRENT, Standing.OBSOLETE}}
)

# Keyword by synonym.
SYNONYMS: Final[Mapping[str, str]] = MappingProxyType(
    {synonym: each.keyword for each in REGISTRY.values() for synonym in each.synonyms}
)


FEEDS: Final = frozenset({"application/rss+xml", "application/atom+xml"})


@dataclass(frozen=True, slots=True)
class MadeLink:
    """A link that an element makes.

    kind         HYPERLINK or RESOURCE
    types        its keywords, synonyms under their canonical name; none for the implied hyperlink of an a or area
    up           the number of levels that its target is above the page; 0 if it does not say
    feed         whether its target is a feed
    alternative  whether it is an alternative style sheet
    """

    kind: Effect
    types: tuple[str, ...]
    up: int = 0
    feed: bool = False
    alternative: bool = False


@dataclass(frozen=True, slots=True)
class Relations:
    """What an element with an href means by its rel and rev.

    links        in the order of their first keywords, an implied hyperlink last
    annotations  what modifies its hyperlinks
    unknown      keywords that mean nothing here, as compared
    not_allowed  known keywords that do not go with this element, and are ignored
    """

    links: tuple[MadeLink, ...]
    annotations: tuple[str, ...]
    unknown: tuple[str, ...]
    not_allowed: tuple[str, ...]


def split_relations(rel: str) -> list[str]:
    """Split a rel or rev into its keywords, in lower case but for those with a colon (LM-07, LK-12)."""
    return [token if ":" in token else lower_ascii(token) for token in split_tokens(rel)]


def canonical(keyword: str) -> str:
    """Return the keyword of a synonym, and any other keyword as it is (LK-14)."""
    return SYNONYMS.get(keyword, keyword)


def is_feed_type(media_type: str | None) -> bool:
    """Return whether a type attribute names a syndication feed (LK-15)."""
    return media_type is not None and lower_ascii(media_type.strip(SPACE)) in FEEDS


def classify(
    element: str,
    rel: str | None,
    rev: str | None = None,
    media_type: str | None = None,
    *,
    types: Mapping[str, LinkType] = TEXT,
) -> Relations:
    """Return the links that an element with an href makes.

    element     `link`, `a` or `area`
    media_type  the value of its type attribute
    types       the known ones: text 003's alone, or all of REGISTRY (LK-44)
    Source      text 003, links and link types (LK-01, LK-02, LK-12 to LK-38)
    """
    keywords = [canonical(keyword) for keyword in split_relations(rel or "")]
    ups = keywords.count("up")
    if "made" in split_relations(rev or ""):
        keywords.append("author")
    unique = dict.fromkeys(keywords)
    made: dict[str, MadeLink] = {}
    annotations, unknown, not_allowed = [], [], []
    for keyword in unique:
        known = types.get(keyword)
        effect = None if known is None else known.on(element)
        if known is None or (effect is None and keyword not in TEXT):  # parent is also a relation of text 001
            unknown.append(keyword)
        elif effect is None:
            not_allowed.append(keyword)
        elif effect is Effect.ANNOTATION:
            annotations.append(keyword)
        elif keyword in {"index", "up"} and ups:  # one link for both (LK-38)
            joint = tuple(word for word in unique if word in {"index", "up"})
            made.setdefault("up", MadeLink(effect, joint, up=ups))
        elif keyword != "alternate" or element != "link" or "stylesheet" not in unique:
            made[keyword] = MadeLink(
                effect,
                (keyword,),
                feed=keyword == "alternate" and is_feed_type(media_type),
                alternative=keyword == "stylesheet" and "alternate" in unique,
            )
    links = list(made.values())
    if element != "link" and not any(link.kind is Effect.HYPERLINK for link in links):
        links.append(MadeLink(Effect.HYPERLINK, ()))
    return Relations(tuple(links), tuple(annotations), tuple(unknown), tuple(not_allowed))


class RelProblem(NamedTuple):
    """A keyword that is not allowed at its place.

    code  `duplicate`, `synonym`, `not-allowed` or `unregistered`
    """

    code: Literal["duplicate", "synonym", "not-allowed", "unregistered"]
    keyword: str


def check_rel(element: str, rel: str, registry: Mapping[str, LinkType] = REGISTRY) -> list[RelProblem]:
    """Find the faults of the rel of an element, keyword by keyword.

    element   `link`, `a` or `area`
    registry  the types allowed beside those of text 003, whose entries override it
    Source    text 003, link types and RelExtensions (LK-13, LK-14, LK-40, LK-42)
    """
    problems: list[RelProblem] = []
    seen: set[str] = set()
    for keyword in split_relations(rel):
        if keyword in seen:
            if keyword != "up":
                problems.append(RelProblem("duplicate", keyword))
            continue
        seen.add(keyword)
        known = TEXT.get(keyword) or registry.get(keyword)
        if known is None:
            if ":" in keyword and is_absolute_url(keyword):
                continue
            is_synonym = keyword in SYNONYMS or any(keyword in each.synonyms for each in registry.values())
            problems.append(RelProblem("synonym" if is_synonym else "unregistered", keyword))
        elif known.standing is Standing.DISCONTINUED:
            problems.append(RelProblem("unregistered", keyword))
        elif known.on(element) is None:
            problems.append(RelProblem("not-allowed", keyword))
    return problems
