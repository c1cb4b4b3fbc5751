"""Directives to robots in a page's meta elements and X-Robots-Tag headers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from tocsin.spec.html.microsyntax import SPACE, lower_ascii

# The meta name that speaks to every robot.
ROBOTS = "robots"

# Terms without a value. The text lists all, index, nofollow and noindex; the others came later (LM-47, LM-48).
KNOWN_TERMS = frozenset(
    {
        "all",
        "follow",
        "index",
        "indexifembedded",
        "noarchive",
        "nocache",
        "nofollow",
        "noimageindex",
        "noindex",
        "none",
        "nositelinkssearchbox",
        "nosnippet",
        "notranslate",
    }
)

# Terms that are followed by a colon and a value.
VALUED_TERMS = frozenset({"max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"})

_NO_INDEX = frozenset({"noindex", "none"})
_NO_FOLLOW = frozenset({"nofollow", "none"})
_NO_ARCHIVE = frozenset({"noarchive", "nocache"})
_EVERYONE = frozenset({"*", ROBOTS})
# A product token, perhaps with its version; a date's "05 Nov 1994 08" before a colon is none.
_ADDRESSEE = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]++)(?:/[!#$%&'*+.^_`|~0-9A-Za-z-]*+)?")


class Directives(Struct, frozen=True, gc=False):
    """What a page asks of robots; by default everything is allowed.

    index    whether the page's text may be searched, kept and handed on (LM-45)
    follow   whether its links may be offered (LM-46)
    archive  whether a copy of it may be kept
    terms    every term that speaks to us, as `split_terms` gives them, each once, in order, unknown ones too
    """

    index: bool = True
    follow: bool = True
    archive: bool = True
    terms: tuple[str, ...] = ()


_ALLOWED = Directives()


def read_directives(
    metas: Iterable[tuple[str | None, str | None]], x_robots_tag: Iterable[str], agent: str
) -> Directives:
    """Read a page's directives to robots; of several that apply, the most restrictive wins (LM-49).

    metas         name and content of the page's meta elements; all but those named robots, or like us, are ignored
    x_robots_tag  the values of its X-Robots-Tag headers; a term after `name:` speaks to that robot alone, as do
                  the terms after it until another name
    agent         our product token, compared without regard to case
    Source        text 001, META robots, with FOLLOW and NONE as everyone uses them (LM-44 to LM-49)
    """
    us = frozenset({ROBOTS, lower_ascii(agent)})
    terms: dict[str, None] = {}
    for name, content in metas:
        if name is not None and content is not None and lower_ascii(name) in us:
            terms.update(dict.fromkeys(split_terms(content)))
    for value in x_robots_tag:
        terms.update(dict.fromkeys(_terms_for(us | _EVERYONE, value)))
    if not terms:
        return _ALLOWED
    return Directives(
        index=terms.keys().isdisjoint(_NO_INDEX),
        follow=terms.keys().isdisjoint(_NO_FOLLOW),
        archive=terms.keys().isdisjoint(_NO_ARCHIVE),
        terms=tuple(terms),
    )


def split_terms(content: str) -> list[str]:
    """Split the content of a robots meta element: at each comma, trimmed, in lower case, without empty terms."""
    terms = (lower_ascii(term.strip(SPACE)) for term in content.split(","))
    return [term for term in terms if term]


def name_of(term: str) -> str:
    """Return the name of a term of `split_terms`: the part before its colon, if it has one."""
    return term.partition(":")[0].rstrip(SPACE)


def _terms_for(addressees: frozenset[str], value: str) -> Iterable[str]:
    """Return the terms of one header that address one of these robots; terms without a name address all."""
    ours = True
    for term in split_terms(value):
        name, colon, rest = term.partition(":")
        addressee = _ADDRESSEE.fullmatch(name.rstrip(SPACE)) if colon else None
        if addressee is None or addressee[1] in VALUED_TERMS:
            said = term
        else:
            ours = addressee[1] in addressees
            said = rest.strip(SPACE)
        if ours and said:
            yield said
