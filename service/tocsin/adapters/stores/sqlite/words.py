"""The words that pages are found by, and which pages of a block have one: pure."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

BLOCK_BITS: Final = 12
"""Pages are looked through 4,096 at a time: so many are one number of so many bits."""

BLOCK_PAGES: Final = 1 << BLOCK_BITS

LONGEST: Final = 24
"""Of a longer word its beginning counts."""

MOST: Final = 64
"""Of a page's words so many count, from the first on."""

AFTER: Final = "\U0010ffff"
"""A word and this lies behind all words that begin with the word."""

_BITMAP_BYTES: Final = BLOCK_PAGES // 8
_WORD: Final = re.compile(r"[^\W_]+")
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def words_in(text: str) -> list[str]:
    """Give the words of a text as they are compared: runs of letters and digits, whatever their case, each once."""
    folded = text.casefold() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    return list(dict.fromkeys(word[:LONGEST] for word in _WORD.findall(folded)))


def words_of_page(url: str, given: str | None, text: str | None) -> list[str]:
    """Give the words that a page is found by: of its URL, of that as it was typed, and of the user's own text.

    given  None where it is the URL
    """
    parts = [part for part in (text, _without_scheme(given), _without_scheme(url)) if part]
    return words_in(" ".join(parts))[:MOST]


def words_asked(text: str) -> list[str]:
    """Give the words of a search: a URL among them counts without its scheme, as it does where it is watched."""
    return words_in(" ".join(_without_scheme(part) or "" for part in text.split()))


def _without_scheme(url: str | None) -> str | None:
    if url is None:
        return None
    _, separator, rest = url.partition("://")
    shown = rest if separator and _SCHEME.match(url) else url
    return unquote(shown, errors="ignore") if "%" in shown else shown


def by_word(pages: Iterable[tuple[int, str, str | None, str | None]]) -> dict[tuple[int, str], int]:
    """Give the places of these pages (id, URL, spelling, text) by block and word."""
    found: dict[tuple[int, str], int] = {}
    for page_id, url, given, text in pages:
        block, place = page_id >> BLOCK_BITS, 1 << (page_id & (BLOCK_PAGES - 1))
        for word in words_of_page(url, given, text):
            key = block, word
            found[key] = found.get(key, 0) | place
    return found


def pack_places(places: int) -> bytes:
    """Write which pages of a block have a word, given as a number of a bit each: two bytes a page, or all as bits."""
    if places.bit_count() * 2 >= _BITMAP_BYTES:
        return places.to_bytes(_BITMAP_BYTES, "little")
    return b"".join(place.to_bytes(2, "big") for place in rising(places))


def unpack_places(packed: bytes) -> int:
    """Read what `pack_places` wrote."""
    if len(packed) == _BITMAP_BYTES:
        return int.from_bytes(packed, "little")
    places = 0
    for start in range(0, len(packed), 2):
        places |= 1 << (packed[start] << 8 | packed[start + 1])
    return places


def rising(places: int) -> Iterator[int]:
    """Give the places of a block one after the other."""
    while places:
        lowest = places & -places
        yield lowest.bit_length() - 1
        places ^= lowest


def falling(places: int) -> Iterator[int]:
    """The same from the last one down."""
    while places:
        highest = places.bit_length() - 1
        yield highest
        places ^= 1 << highest


def join_places(before: bytes, more: bytes) -> bytes:
    """Put two of what `pack_places` wrote together."""
    return pack_places(unpack_places(before) | unpack_places(more))


class BlockWords:
    """All words of a block's pages, as an aggregate function of SQL: for stores made before there were any."""

    def __init__(self) -> None:
        self._pages: list[tuple[int, str, str | None, str | None]] = []

    def step(self, page_id: int, url: str, given: str | None, text: str | None, /) -> None:
        """Take a page."""
        self._pages.append((page_id, url, given, text))

    def finalize(self) -> str:
        """Give JSON {word: packed places, as hexadecimal digits}, in order of the words."""
        found = {word: pack_places(places).hex() for (_, word), places in by_word(self._pages).items()}
        return json.dumps(found, ensure_ascii=False, sort_keys=True)
