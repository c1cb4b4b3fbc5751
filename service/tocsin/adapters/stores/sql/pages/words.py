"""Pages found by words: how words are kept, followed and searched."""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import unquote

from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.statements import queries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession


if TYPE_CHECKING:
    Named = tuple[int, str, str | None, str | None, str | None]

# Pages are looked through 4,096 at a time: the number of one fits into two bytes of six bits.
BLOCK_BITS: Final = 12

BLOCK_PAGES: Final = 1 << BLOCK_BITS

# The most rows of a block.
BLOCK_ROWS: Final = 37 * 37

# How many of a page's words are kept, from the first on.
MOST: Final = 64

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


def words_of_page(url: str, given: str | None, text: str | None, title: str | None) -> list[str]:
    """Give the words that a page is found by: of the user's text, its title, and its URL, also as it was typed.

    given  None where it is the URL
    """
    if given is None and text is None and title is None:
        return words_in(_without_scheme(url))[:MOST]
    parts = [text, title, _without_scheme(given) if given else None, _without_scheme(url)]
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
    """Give the rows of a block, by number, that keep the words of pages: (id, URL, spelling, text, title) each."""
    words: defaultdict[str, list[int]] = defaultdict(list)
    for page_id, url, given, text, title in pages:
        place = page_id & (BLOCK_PAGES - 1)
        for word in words_of_page(url, given, text, title):
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
    """Write at least four single places as a run if they are consecutive."""
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


_Places: TypeAlias = defaultdict[str, set[int]]


SQL = queries("words")


def kept_until(db: SqlSession) -> int:
    """Give the id of the first page whose words are not kept yet."""
    until: int = db.execute(SQL["kept_until"]).fetchone()[0]
    return until


def keep_words(db: SqlSession, last_id: int) -> None:
    """Keep the words of the pages up to this one, the last one added, as far as they fill blocks."""
    until = kept_until(db)
    end = last_id + 1 >> BLOCK_BITS << BLOCK_BITS
    if until >= end:
        return
    for first in range(until, end, BLOCK_PAGES):
        pages = db.execute(SQL["in_block"], {"first": first, "end": first + BLOCK_PAGES})
        number = (first >> BLOCK_BITS) * BLOCK_ROWS
        db.executemany(SQL["keep"], [(number + row, entries) for row, entries in pack_block(pages).items()])
    db.execute(SQL["keep_until"], {"until": end})


def misplaced(db: SqlSession) -> Iterator[tuple[int, int]]:
    """Find the blocks whose words are not those of their pages: the first and last id of each."""
    for first in range(0, kept_until(db), BLOCK_PAGES):
        number = (first >> BLOCK_BITS) * BLOCK_ROWS
        pages = db.execute(SQL["in_block"], {"first": first, "end": first + BLOCK_PAGES})
        kept = db.execute(SQL["kept"], {"first": number, "last": number + BLOCK_ROWS - 1})
        if {number + row: entries for row, entries in pack_block(pages).items()} != dict(kept.fetchall()):
            yield first, first + BLOCK_PAGES - 1


def pages_named(db: SqlSession, page_ids: Sequence[int]) -> list[Named]:
    """Read what the words of these pages are made of; of those whose words are kept."""
    return db.execute(SQL["named"], {"ids": ids(page_ids), "until": kept_until(db)}).fetchall()


def change_words(db: SqlSession, before: Iterable[Named], after: Iterable[Named] = ()) -> None:
    """Let pages be found by other words than before, or by none."""
    had, has = ({page[0]: set(words_of_page(*page[1:])) for page in pages} for pages in (before, after))
    changes: defaultdict[int, tuple[_Places, _Places]] = defaultdict(lambda: (defaultdict(set), defaultdict(set)))
    for page_id in had.keys() | has.keys():
        number = (page_id >> BLOCK_BITS) * BLOCK_ROWS
        place = page_id & (BLOCK_PAGES - 1)
        words, others = had.get(page_id, set()), has.get(page_id, set())
        for word in words - others:
            changes[number + row_of(word)][0][word].add(place)
        for word in others - words:
            changes[number + row_of(word)][1][word].add(place)
    rows = dict(db.execute(SQL["these"], {"ids": ids(changes)}))
    packed = {row_id: repack(rows.get(row_id, b""), *changes[row_id]) for row_id in sorted(changes)}
    if kept := [row for row in packed.items() if row[1]]:
        db.executemany(SQL["set"], kept)
    if empty := [(row_id,) for row_id, entries in packed.items() if not entries]:
        db.executemany(SQL["drop"], empty)


def keep_titles(db: SqlSession, most: int) -> int:
    """Put the titles that at most `most` pages were given since among their words; returns how many pages."""
    page_ids = [row[0] for row in db.execute(SQL["retitled"], {"limit": most})]
    if page_ids:
        before = pages_named(db, page_ids)
        db.execute(SQL["keep_titles"], {"ids": ids(page_ids)})
        change_words(db, before, pages_named(db, page_ids))
    return len(page_ids)


Found = tuple[list[int], "int | None"]

# How many places are read for one page of a list, which then holds what was found so far.
LOOKED_AT: Final = 100_000

# The cost of looking for one word in one block, in places read.
_PRICE: Final = 20

# The bytes of a row that cost as much as one place.
_BYTES: Final = 40

# The cost of looking at a title that is not among the words yet, in places read, and of one that may have the words.
_TITLE_PRICE: Final = 4
_FOUND_PRICE: Final = 40


class WordSearch:
    """Pages that have a word with each of these beginnings. Past `LOOKED_AT` it ends with the block that it is in."""

    def __init__(self, db: SqlSession, beginnings: Sequence[str]) -> None:
        self._db = db
        # The longest is the rarest, as a rule: where it is nowhere in a block, nothing else is looked for there.
        self._beginnings = [Beginning(word) for word in sorted(beginnings, key=len, reverse=True)]
        self._looked_at = 0
        self._retitled: dict[int, int] | None = None

    def before(self, page_id: int, limit: int) -> Found:
        """Find at most `limit` pages before this id, the latest first.

        Returns them, and the id that the search goes on before; None at its end.
        """
        return self._some(self._falling(page_id), limit)

    def after(self, page_id: int, limit: int) -> Found:
        """The same after this id, in order of id."""
        return self._some(self._rising(page_id), limit)

    def _some(self, parts: Iterator[tuple[Iterable[int], int]], limit: int) -> Found:
        found: list[int] = []
        for part, edge in parts:
            for each in part:
                if len(found) == limit:
                    return found, found[-1]
                found.append(each)
            if self._looked_at >= LOOKED_AT:
                return found, edge
        return found, None

    def count(self, most: int) -> tuple[int, bool]:
        """Count them up to `most`; also returns whether these are all."""
        number = 0
        for part, _ in self._falling(1 << 61):
            number += sum(1 for _ in part)
            if number > most:
                return most, False
            if self._looked_at >= LOOKED_AT:
                return number, False
        return number, True

    def _falling(self, page_id: int) -> Iterator[tuple[Iterable[int], int]]:
        """Give the pages before this one, a part at a time, each with the id that all that follow are before."""
        until = kept_until(self._db)
        if page_id > until:
            yield self._new("new_before", until=until, before=page_id), until
        block = self._block("row_before", (min(page_id, until) - 1 >> BLOCK_BITS) + 1)
        while block is not None:
            first = block << BLOCK_BITS
            yield (each for each in self._kept(block, falls=True) if each < page_id), first
            block = self._block("row_before", block)

    def _rising(self, page_id: int) -> Iterator[tuple[Iterable[int], int]]:
        until = kept_until(self._db)
        block = self._block("row_after", page_id + 1 >> BLOCK_BITS)
        while block is not None:
            yield (each for each in self._kept(block) if each > page_id), (block + 1 << BLOCK_BITS) - 1
            block = self._block("row_after", block + 1)
        yield self._new("new_after", until=until, after=page_id), 1 << 61

    def _block(self, query: str, block: int) -> int | None:
        (row,) = self._db.execute(SQL[query], {"id": block * BLOCK_ROWS}).fetchone()
        return row // BLOCK_ROWS if row is not None else None

    def _kept(self, block: int, *, falls: bool = False) -> list[int]:
        """Find the pages of a block that have all words."""
        having: set[int] = set()
        number = block * BLOCK_ROWS
        for beginning in self._beginnings:
            place = {"first": number + beginning.first, "last": number + beginning.last}
            rows = [row for (row,) in self._db.execute(SQL["rows"], place)]
            places = [at for row in rows for at in beginning.places(row)]
            self._looked_at += len(places) + sum(map(len, rows)) // _BYTES + _PRICE
            having = set(places) if beginning is self._beginnings[0] else having.intersection(places)
            if not having:
                break
        first = block << BLOCK_BITS
        found = {first + place for place in having}
        if retitled := self._retitled_by_block.get(block):
            # Until its new title is among the words, such a page is found by the one before, too.
            few = list(self._new("retitled_in", first=first, end=first + BLOCK_PAGES))
            self._looked_at += retitled * _TITLE_PRICE + len(few) * _FOUND_PRICE
            found.update(few)
        return sorted(found, reverse=falls)

    @property
    def _retitled_by_block(self) -> dict[int, int]:
        """How many pages of each block have a title that is not among their words yet."""
        if self._retitled is None:
            self._retitled = dict(self._db.execute(SQL["retitled_by_block"]).fetchall())
        return self._retitled

    def _new(self, query: str, **place: int) -> Iterator[int]:
        """Find the pages that have all words among those of which some are not kept yet."""
        word = self._beginnings[0].word
        values: dict[str, Any] = {**place, "like": f"%{word}%", "is_wide": not word.isascii()}
        for page_id, *said in self._db.execute(SQL[query], values):
            words = words_of_page(*said)
            if all(beginning.is_in(words) for beginning in self._beginnings):
                yield page_id
