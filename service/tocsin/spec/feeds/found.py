"""What a feed says."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

MOST_ENTRIES: Final = 50_000
LONGEST_VALUE: Final = 8192
MOST_LETTERS_OF_URLS: Final = 16_000_000
"""Of all entries: what is written relatively may be as long as its base, each time."""
LONGEST_TEXT: Final = 20_000


class Entry(Struct, frozen=True, gc=False):
    """An entry of a feed.

    url    of its page, absolute; None if it names none
    date   when the page changed last, as written; when it was published, where nothing else is told
    title  white space folded, without markup; "" if there is none
    text   the longest that the feed gives of it, likewise
    """

    url: str | None
    date: str | None
    title: str
    text: str


class Feed(Struct, frozen=True, gc=False):
    """A feed.

    kind     "rss", "atom" or "json"
    entries  in the feed's order
    problem  why reading ended before the end; what came before stands
    """

    kind: str
    entries: tuple[Entry, ...]
    problem: str | None = None
