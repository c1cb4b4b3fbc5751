"""The meta elements of a page, as every reader of it sees them."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

MOST_TAGS: Final = 1_000_000
"""A page of more is too complex (CI-08): each element of a parsed page costs about 100 bytes."""
MOST_METAS: Final = 131_072
"""A page of more is too complex: each of these is kept, for three times as much."""


class Meta(Struct, frozen=True, gc=False):
    """One meta element: the attributes that say what it declares. Made by the dozen for each page.

    None where one is absent, or has no value, which is the same (T12).
    """

    name: str | None = None
    http_equiv: str | None = None
    property: str | None = None
    content: str | None = None
    charset: str | None = None


class Reading(Struct, frozen=True, gc=False):
    """What was read of a page.

    metas     in tree order
    problems  what was wrong with the page, in words for its reader
    is_ascii  all that was looked at is ASCII, so that most encodings make the same of it
    """

    metas: tuple[Meta, ...]
    problems: tuple[str, ...] = ()
    is_ascii: bool = False


class WholePage(Struct, frozen=True, gc=False):
    """What a rendering reads of a page: its title beside its meta elements.

    title  white space folded; None if there is none, or nothing in it
    """

    title: str | None
    metas: tuple[Meta, ...]
    problems: tuple[str, ...] = ()
