"""Copies that pages name: remembered, and offered for the pages that they are of, inside a transaction."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import KnownCopy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import CopyLink, Instant

SQL = queries("copies")
# Several pages may name one copy, which is offered once.
_READ_FOR_EACH = 10


def remember_copies(db: SqlSession, page_id: int, copies: Sequence[CopyLink], at: Instant) -> None:
    """Let these be all the copies that a page names."""
    db.execute(SQL["forget"], {"page": page_id})
    if copies:
        rows = [
            {
                "page": page_id,
                "target": copy.target,
                "url": copy.url,
                "datetime": copy.datetime,
                "made_at": copy.made_at,
                "rel": copy.rel,
                "kind": copy.kind,
                "at": at,
            }
            for copy in copies
        ]
        db.executemany(SQL["remember"], rows)


def copies_of(db: SqlSession, url: str, *, most: int) -> tuple[KnownCopy, ...]:
    """Return the known copies of a page, each once, the newest first."""
    rows = db.execute(SQL["of_page"], {"url": url, "limit": _READ_FOR_EACH * most})
    return tuple(_each_once(rows, most))


def copies_of_question(
    db: SqlSession, question: int, first_page_id: int | None, *, most: int, most_of_page: int
) -> list[KnownCopy]:
    """Return the known copies of the pages of a question: those of its sample page come first."""
    place = {"question": question, "first": first_page_id, "limit": _READ_FOR_EACH * most}
    return list(_each_once(db.execute(SQL["of_question"], place), most_of_page))[:most]


def _each_once(rows: Iterable[Sequence[str]], most_of_page: int) -> Iterator[KnownCopy]:
    seen: set[tuple[str, str]] = set()
    offered: Counter[str] = Counter()
    for row in rows:
        copy = KnownCopy(*row)
        if (copy.of, copy.url) not in seen and offered[copy.of] < most_of_page:
            seen.add((copy.of, copy.url))
            offered[copy.of] += 1
            yield copy
