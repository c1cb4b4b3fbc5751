"""The words of pages kept as pages come, change and go, and looked through; inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.adapters.stores.sqlite.queries import queries
from tocsin.adapters.stores.sqlite.role import ids
from tocsin.adapters.stores.sqlite.words import (
    AFTER,
    BLOCK_BITS,
    BLOCK_PAGES,
    by_word,
    falling,
    pack_places,
    rising,
    unpack_places,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

    Named = tuple[int, str, str | None, str | None]

SQL = queries("words")

LOOKED_AT: Final = 40_000
"""So many words are looked at for one part of a list; what was found by then is the part."""


def pages_named(db: sqlite3.Connection, page_ids: Sequence[int]) -> list[Named]:
    """Read what these pages' words are made of."""
    return db.execute(SQL["named"], {"ids": ids(page_ids)}).fetchall()


def add_words(db: sqlite3.Connection, pages: Iterable[Named]) -> None:
    """Let these pages be found by their words."""
    found = sorted((block, word, pack_places(places)) for (block, word), places in by_word(pages).items())
    db.executemany(SQL["add"], found)


def drop_words(db: sqlite3.Connection, pages: Iterable[Named]) -> None:
    """Let these pages be found no longer."""
    for (block, word), places in by_word(pages).items():
        place = {"block": block, "word": word}
        row = db.execute(SQL["places"], place).fetchone()
        left = unpack_places(row[0]) & ~places if row is not None else 0
        if left:
            db.execute(SQL["set_places"], {**place, "pages": pack_places(left)})
        elif row is not None:
            db.execute(SQL["drop"], place)


class WordSearch:
    """Pages that have a word with each of these beginnings, from block to block, for as long as that is quick.

    `looked_at` counts the words that were gone through; past `LOOKED_AT` it ends with the block that it is in.
    """

    def __init__(self, db: sqlite3.Connection, beginnings: Sequence[str]) -> None:
        self._db = db
        # The longest is the rarest, as a rule: where it is nowhere in a block, nothing else is looked for there.
        self._beginnings = sorted(beginnings, key=len, reverse=True)
        self.looked_at = 0

    def before(self, page_id: int, limit: int) -> tuple[list[int], int | None]:
        """Find at most so many pages before this id, the latest first.

        Returns them, and the id that the search goes on before; None at its end.
        """
        found: list[int] = []
        block = self._edge("block_before", (page_id - 1) >> BLOCK_BITS)
        while block is not None and block >= 0:
            first = block << BLOCK_BITS
            for place in falling(self._in(block) & ((1 << max(0, min(page_id - first, BLOCK_PAGES))) - 1)):
                if len(found) == limit:
                    return found, found[-1]
                found.append(first + place)
            block = self._edge("block_before", block - 1)
            if self._is_enough and block is not None:
                return found, first
        return found, None

    def after(self, page_id: int, limit: int) -> tuple[list[int], int | None]:
        """The same after this id, in order of id."""
        found: list[int] = []
        block = self._edge("block_after", (page_id + 1) >> BLOCK_BITS)
        while block is not None:
            first = block << BLOCK_BITS
            for place in rising(self._in(block)):
                if first + place <= page_id:
                    continue
                if len(found) == limit:
                    return found, found[-1]
                found.append(first + place)
            block = self._edge("block_after", block + 1)
            if self._is_enough and block is not None:
                return found, first + BLOCK_PAGES - 1
        return found, None

    def count(self, most: int) -> tuple[int, bool]:
        """Count them up to so many; says whether these are all."""
        number, block = 0, self._edge("block_before", 1 << (63 - BLOCK_BITS))
        while block is not None and block >= 0:
            number += self._in(block).bit_count()
            block = self._edge("block_before", block - 1)
            if block is not None and (number >= most or self._is_enough):
                return min(number, most), False
        return min(number, most), number <= most

    @property
    def _is_enough(self) -> bool:
        return self.looked_at >= LOOKED_AT

    def _edge(self, query: str, block: int) -> int | None:
        edge: int | None = self._db.execute(SQL[query], {"block": block}).fetchone()[0]
        return edge

    def _in(self, block: int) -> int:
        """Give the places of a block that have all words."""
        places = (1 << BLOCK_PAGES) - 1
        for beginning in self._beginnings:
            rows = self._db.execute(SQL["beginning"], (block, beginning, beginning + AFTER)).fetchall()
            self.looked_at += len(rows) + 1
            having = 0
            for (packed,) in rows:
                having |= unpack_places(packed)
            places &= having
            if not places:
                break
        return places
