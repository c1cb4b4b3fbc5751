"""Pages found by words, from block to block, for as long as that is quick; inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tocsin.adapters.stores.sql.pages.word_index import SQL, kept_until
from tocsin.adapters.stores.sql.pages.words import BLOCK_BITS, BLOCK_ROWS, Beginning, words_of_page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.adapters.stores.sql.session import Session

Found = tuple[list[int], "int | None"]

LOOKED_AT: Final = 50_000
"""So many places are looked at for one part of a list; what was found by then is the part."""

_PRICE: Final = 20
"""As much as so many places, to look for one word in one block."""

_BYTES: Final = 40
"""As much as one place, to read what is kept there."""


class WordSearch:
    """Pages that have a word with each of these beginnings. Past `LOOKED_AT` it ends with the block that it is in."""

    def __init__(self, db: Session, beginnings: Sequence[str]) -> None:
        self._db = db
        # The longest is the rarest, as a rule: where it is nowhere in a block, nothing else is looked for there.
        self._beginnings = [Beginning(word) for word in sorted(beginnings, key=len, reverse=True)]
        self._looked_at = 0

    def before(self, page_id: int, limit: int) -> Found:
        """Find at most so many pages before this id, the latest first.

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
        """Count them up to so many; says whether these are all."""
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
        return [first + place for place in sorted(having, reverse=falls)]

    def _new(self, query: str, **place: int) -> Iterator[int]:
        """Find the pages that have all words among those whose words are not kept yet: less than a block."""
        word = self._beginnings[0].word
        values: dict[str, Any] = {**place, "like": f"%{word}%", "is_wide": not word.isascii()}
        for page_id, url, given, text in self._db.execute(SQL[query], values):
            words = words_of_page(url, given, text)
            if all(beginning.is_in(words) for beginning in self._beginnings):
                yield page_id
