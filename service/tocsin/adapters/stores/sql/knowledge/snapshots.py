"""Texts of pages: kept with the results of checks, read to show differences, and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.role import Role, ids
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.model import SnapshotRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, Snapshot

SQL = queries("snapshots")


def keep_snapshots(db: SqlSession, rows: Sequence[tuple[int, Snapshot]]) -> None:
    """Keep texts of pages, inside a transaction: the page's id and its text each.

    A text that its page has already is not repeated. One without any bytes says that none of its page may be kept.
    """
    for page_id, kept in rows:
        place = {"page": page_id, "at": kept.at, "digest": kept.digest, "packed": kept.packed}
        if not kept.packed:
            db.execute(SQL["forget_page"], place)
            continue
        last = db.execute(SQL["last_digest"], place).fetchone()
        if last is None or last[0] != kept.digest:
            db.execute(SQL["keep_text"], place)
            db.execute(SQL["keep"], place)


class SnapshotRole(Role):
    """Implements ports.SnapshotStore, and what ports.RenderStore asks of texts."""

    async def snapshots(self, url: str, *, limit: int) -> list[SnapshotRow]:
        rows = await self._read(lambda db: db.execute(SQL["of_page"], {"url": url, "limit": limit}).fetchall())
        return [SnapshotRow(*row) for row in rows]

    async def snapshot_text(self, snapshot_id: int) -> bytes | None:
        row = await self._read(lambda db: db.execute(SQL["text_of"], {"id": snapshot_id}).fetchone())
        return row[0] if row is not None else None

    async def latest_text(self, page_id: int) -> bytes | None:
        row = await self._read(lambda db: db.execute(SQL["latest_of"], {"page": page_id}).fetchone())
        return row[0] if row is not None else None

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        rows = await self._read(lambda db: db.execute(SQL["around"], {"page": page_id, "at": at}).fetchall())
        if len(rows) < 2 or rows[0][0] != at:  # noqa: PLR2004 - two texts make a difference
            return None
        (_, latest), (_, before) = rows
        return before, latest

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        place = {"before": now - to_us(keep), "per_page": per_page, "limit": limit}
        # All pages are gone through while others may write.
        found = await self._read(lambda db: find_prunable(db, place))
        return await self._write(lambda db: _drop(db, found)) if found else 0

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        if await self._read(_total) <= total:
            return 0
        return await self._write(lambda db: fit(db, total=total, limit=limit))


def find_prunable(db: SqlSession, place: dict[str, int]) -> list[int]:
    """Find snapshots that are too old, or too many of their page: at most `limit` of them.

    place  limit; before, an instant; per_page
    """
    pages = [row[0] for row in db.execute(SQL["crowded"], place)]
    return [row[0] for row in db.execute(SQL["prunable"], {**place, "pages": ids(pages)})] if pages else []


def fit(db: SqlSession, *, total: int, limit: int) -> int:
    """Forget the oldest texts, inside a transaction, until all fit; returns how many went."""
    oldest = [row[0] for row in db.execute(SQL["oldest"], {"limit": limit})]
    # One after the other: a text that others have, too, makes no room.
    for forgotten, snapshot_id in enumerate(oldest):
        if _total(db) <= total:
            return forgotten
        _drop(db, [snapshot_id])
    return len(oldest)


def _drop(db: SqlSession, found: Sequence[int]) -> int:
    return db.execute(SQL["drop"], {"ids": ids(found)}).rowcount


def _total(db: SqlSession) -> int:
    total: int = db.execute(SQL["total"]).fetchone()[0]
    return total
