"""Where a request ended, compared with where it was sent: hosts and paths whose words name the kind of page there."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from tocsin.spec.words import read_lists, to_words

_LONGEST = 8192
_LABEL_PARTS = re.compile(r"[.-]")
_DEEP = re.compile(r"/[^/]")

# Words in hosts and paths of pages of a kind, by that kind.
PLACES: Final = {kind: to_words(entries) for kind, entries in read_lists("places").items()}


class Landing(Struct, frozen=True):
    """The URL that a request ended at.

    moved    its host or path differs from the requested one
    new      words of its host and path that the requested URL does not have
    asked    words of the requested URL
    host     of the final URL
    is_root  the request ended at the root of a host, and a deeper path was requested
    abroad   the request ended at another host
    returns  the final query contains the requested path, as gates have it that lead back
    """

    moved: bool
    new: frozenset[str]
    asked: frozenset[str]
    host: str
    is_root: bool
    abroad: bool
    returns: bool

    def leads_to(self, kind: str) -> str | None:
        """Return a word of a kind of place that the request was redirected to; None if there is none."""
        found = self.new & PLACES[kind]
        return min(found) if self.moved and found else None

    def was_asked(self, kind: str) -> bool:
        """Return whether the requested URL is itself such a place."""
        return not self.asked.isdisjoint(PLACES[kind])


def read_landing(url: str, final_url: str) -> Landing:
    """Compare the final URL of a request with the requested one; a text that is not a URL has no words."""
    host, path = _split(url)
    final_host, final_path = _split(final_url)
    asked = _words(host, path)
    is_deep = _DEEP.search(path) is not None
    moved = bool(final_host) and (_bare(host), path) != (_bare(final_host), final_path)
    return Landing(
        moved=moved,
        new=_words(final_host, final_path) - asked,
        asked=asked,
        host=final_host,
        is_root=moved and is_deep and final_path in {"", "/"},
        abroad=moved and _bare(host) != _bare(final_host),
        returns=moved and is_deep and not final_path.endswith(path) and path in _query(final_url),
    )


def _split(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url[:_LONGEST])
        return (parts.hostname or "").lower(), parts.path.lower()
    except ValueError:
        return "", ""


def _query(url: str) -> str:
    # The whole query is decoded: a path in it is found whatever the parameter is called.
    return unquote(url[:_LONGEST].partition("?")[2]).lower()


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _words(host: str, path: str) -> frozenset[str]:
    """Return the words of the host, and the steps of the path with and without their endings."""
    words = set(_LABEL_PARTS.split(host))
    for step in path.split("/"):
        name = step.partition(";")[0]
        words |= {name, name.partition(".")[0]}
    words.discard("")
    return frozenset(words)
