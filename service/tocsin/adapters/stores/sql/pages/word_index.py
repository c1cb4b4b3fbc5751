"""The words of pages kept as pages come, change and go, inside a transaction."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from tocsin.adapters.stores.sql.pages.words import (
    BLOCK_BITS,
    BLOCK_PAGES,
    BLOCK_ROWS,
    pack_block,
    repack,
    row_of,
    words_of_page,
)
from tocsin.adapters.stores.sql.role import ids
from tocsin.adapters.stores.sql.statements import queries

_Places: TypeAlias = defaultdict[str, set[int]]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.adapters.stores.sql.pages.words import Named
    from tocsin.adapters.stores.sql.session import Session

SQL = queries("words")


def kept_until(db: Session) -> int:
    """Give the id of the first page whose words are not kept yet."""
    until: int = db.execute(SQL["kept_until"]).fetchone()[0]
    return until


def keep_words(db: Session, last_id: int) -> None:
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


def misplaced(db: Session) -> Iterator[tuple[int, int]]:
    """Find the blocks whose words are not those of their pages: the first and last id of each."""
    for first in range(0, kept_until(db), BLOCK_PAGES):
        number = (first >> BLOCK_BITS) * BLOCK_ROWS
        pages = db.execute(SQL["in_block"], {"first": first, "end": first + BLOCK_PAGES})
        kept = db.execute(SQL["kept"], {"first": number, "last": number + BLOCK_ROWS - 1})
        if {number + row: entries for row, entries in pack_block(pages).items()} != dict(kept.fetchall()):
            yield first, first + BLOCK_PAGES - 1


def pages_named(db: Session, page_ids: Sequence[int]) -> list[Named]:
    """Read what the words of these pages are made of; of those whose words are kept."""
    return db.execute(SQL["named"], {"ids": ids(page_ids), "until": kept_until(db)}).fetchall()


def change_words(db: Session, before: Iterable[Named], after: Iterable[Named] = ()) -> None:
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
    for row_id, (less, more) in sorted(changes.items()):
        row = db.execute(SQL["one"], {"id": row_id}).fetchone()
        packed = repack(row[0] if row is not None else b"", less, more)
        db.execute(SQL["set" if packed else "drop"], {"id": row_id, "entries": packed})
