"""What names a kind of page beside its text: marks in its code (`spec/words/marks.ini`), words of its last address."""

from __future__ import annotations

import re
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from tocsin.spec.words import read_lists, split_phrases, to_words


class ProductMark(NamedTuple):
    """A mark and the product that leaves it.

    needle  in lower case, as `PageView.code` writes attributes and scripts; or a header as "name: value"
    """

    needle: str
    product: str


# The marks of each list, in the order of the file.
MARKS: Final = {
    name: tuple(
        ProductMark(mark.replace("\\n", "\n").replace("\\s", " "), product)
        for product, text in entries.items()
        for mark in split_phrases(text)
    )
    for name, entries in read_lists("marks").items()
}

# How an attribute begins in the code, and where a page may write a mark in other bytes: as a character reference, or in
# another attribute.
_NAME = re.compile(r"^(?:[a-z]+\.)?(?:action|class|href|id|name|src)=")
_ELSEWHERE = re.compile(r"[&<>\"'\n\s]+")


def _to_needle(mark: str) -> bytes:
    """Return the longest piece of a mark that the bytes of a page contain if its code does."""
    pieces = [_NAME.sub("", piece) for piece in _ELSEWHERE.split(mark)]
    return max(pieces, key=len).encode()


# What the bytes of a page contain, in lower case, if its code has a mark of a list.
NEEDLES: Final = {name: tuple({_to_needle(mark.needle): None for mark in marks}) for name, marks in MARKS.items()}


def find_mark(name: str, code: str) -> ProductMark | None:
    """Return the first mark of a list that the code contains."""
    return next((mark for mark in MARKS[name] if mark.needle in code), None)


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
    # The whole query is decoded: a path in it is found under any name of a parameter.
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
