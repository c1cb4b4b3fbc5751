"""The words that pages are found by, and how they are kept: pure.

All words of 4,096 pages are kept at once, in rows by a word's first two letters: one entry after the other, each a
sign, the word, a sign, and two bytes for each page that has it, or for the first and the last of a run. An expression
finds all that begins alike.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Named = tuple[int, str, str | None, str | None]

BLOCK_BITS: Final = 12
"""Pages are looked through 4,096 at a time: the number of one fits into two bytes of six bits."""

BLOCK_PAGES: Final = 1 << BLOCK_BITS

BLOCK_ROWS: Final = 37 * 37
"""So many rows a block has at most."""

MOST: Final = 64
"""Of a page's words so many count, from the first on."""

_LETTERS: Final = 37
_WORD: Final = re.compile(r"([^\W_]{1,24})[^\W_]*")
_ASCII_WORD: Final = re.compile(r"([a-z0-9]{1,24})[a-z0-9]*")
_SCHEME: Final = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_BEGINS, _ENDS, _TO = b"\x02", b"\x01", b"="
_RUN: Final = 4
_ENTRY: Final = re.compile(rb"\x02([^\x01]*)\x01([^\x02]*)")
# Six bits a byte, in a range that holds no sign.
_PLACES: Final = [bytes((64 | place >> 6, 64 | place & 63)) for place in range(BLOCK_PAGES)]
_ALL: Final = b"".join(_PLACES)


def words_in(text: str) -> list[str]:
    """Give the words of a text as they are compared: the first 24 of letters and digits in a row, each once."""
    if text.isascii():
        return list(dict.fromkeys(_ASCII_WORD.findall(text.lower())))
    return list(dict.fromkeys(_WORD.findall(unicodedata.normalize("NFKC", text).casefold())))


def words_of_page(url: str, given: str | None, text: str | None) -> list[str]:
    """Give the words that a page is found by: of its URL, of that as it was typed, and of the user's own text.

    given  None where it is the URL
    """
    if given is None and text is None:
        return words_in(_without_scheme(url))[:MOST]
    parts = [text, _without_scheme(given) if given else None, _without_scheme(url)]
    return words_in(" ".join(part for part in parts if part))[:MOST]


def words_asked(text: str) -> list[str]:
    """Give the words of a search: a URL among them counts without its scheme, as it does where it is watched."""
    return words_in(" ".join(_without_scheme(part) for part in text.split()))


def _without_scheme(url: str) -> str:
    _, separator, rest = url.partition("://")
    shown = rest if separator and _SCHEME.match(url) else url
    return unquote(shown, errors="ignore") if "%" in shown else shown


def row_of(word: str) -> int:
    """Give the number of the row of a block that keeps a word; words that begin with one letter are side by side."""
    return ord(word[0]) % _LETTERS * _LETTERS + (ord(word[1]) % _LETTERS if len(word) > 1 else 0)


def pack_block(pages: Iterable[Named]) -> dict[int, bytes]:
    """Give the rows of a block, by number, that keep the words of these pages: (id, URL, spelling, text) each."""
    words: defaultdict[str, list[int]] = defaultdict(list)
    for page_id, url, given, text in pages:
        place = page_id & (BLOCK_PAGES - 1)
        for word in words_of_page(url, given, text):
            words[word].append(place)
    rows: defaultdict[int, list[bytes]] = defaultdict(list)
    for word in sorted(words):
        rows[row_of(word)] += (_BEGINS, word.encode(), _ENDS, _pack(words[word]))
    return {number: b"".join(rows[number]) for number in sorted(rows)}


def repack(row: bytes, less: Mapping[str, set[int]], more: Mapping[str, set[int]]) -> bytes:
    """Give a row with pages taken out of some words, and put to others: places by word. What else it has stays."""
    kept: dict[bytes, bytes] = dict(_ENTRY.findall(row))
    for named in {*less, *more}:
        word = named.encode()
        entry = _changed(kept.pop(word, b""), less.get(named, ()), more.get(named, ()))
        if entry:
            kept[word] = entry
    # In UTF-8 words are in the order of their characters.
    return b"".join([b"\x02%b\x01%b" % (word, kept[word]) for word in sorted(kept)])


class Beginning:
    """What a word that is looked for begins with.

    first, last  the rows of a block that may keep it
    """

    def __init__(self, word: str) -> None:
        self.word = word
        self.first = row_of(word)
        self.last = self.first if len(word) > 1 else self.first + _LETTERS - 1
        self._entries = re.compile(rb"\x02" + re.escape(word.encode()) + rb"[^\x01]*\x01([^\x02]*)")

    def places(self, row: bytes) -> list[int]:
        """Give the places of all words that begin so; a page that has several is there several times."""
        return _unpack(self._entries.findall(row))

    def is_in(self, words: Iterable[str]) -> bool:
        """Tell whether one of these words begins so."""
        return any(word.startswith(self.word) for word in words)


def _pack(places: Sequence[int]) -> bytes:
    entry = b"".join([_PLACES[place] for place in places])
    return _shortened(entry) if len(places) >= _RUN else entry


def _shortened(entry: bytes) -> bytes:
    """Write at least four places, which stand one by one, as a run where they are one."""
    first, last = _numbers(entry[:2] + entry[-2:])
    return entry[:2] + _TO + entry[-2:] if last - first == len(entry) // 2 - 1 else entry


def _changed(entry: bytes, less: Iterable[int], more: Iterable[int]) -> bytes:
    """Take places out of an entry, and put others in; as numbers they would take a hundred times as long."""
    if entry[2:3] == _TO:
        first, last = _numbers(entry[:2] + entry[3:])
        entry = _ALL[2 * first : 2 * last + 2]
    codes = _codes(entry)
    for code in _codes(b"".join([_PLACES[place] for place in less])):
        at = bisect_left(codes, code)
        if at < len(codes) and codes[at] == code:
            del codes[at]
    for code in _codes(b"".join([_PLACES[place] for place in more])):
        at = bisect_left(codes, code)
        if at == len(codes) or codes[at] != code:
            codes.insert(at, code)
    spelled = _spelled(codes)
    return _shortened(spelled) if len(codes) >= _RUN else spelled


def _codes(entry: bytes) -> array[int]:
    """Read the two bytes of each place as a number that is in their order."""
    codes = array("H", entry)
    if sys.byteorder == "little":
        codes.byteswap()
    return codes


def _spelled(codes: array[int]) -> bytes:
    if sys.byteorder == "little":
        codes.byteswap()
    return codes.tobytes()


def _unpack(entries: Iterable[bytes]) -> list[int]:
    found: list[int] = []
    single: list[bytes] = []
    for entry in entries:
        if entry[2:3] == _TO:
            first, last = _numbers(entry[:2] + entry[3:])
            found.extend(range(first, last + 1))
        else:
            single.append(entry)
    found.extend(_numbers(b"".join(single)))
    return found


def _numbers(places: bytes) -> list[int]:
    return [(high & 63) << 6 | low & 63 for high, low in zip(places[::2], places[1::2], strict=True)]
