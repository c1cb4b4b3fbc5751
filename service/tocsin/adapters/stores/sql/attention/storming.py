"""Storms: told once, listed, and released into alerts of their pages; their part of the port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.attention.storms import SQL
from tocsin.adapters.stores.sql.awareness.outbox import publish
from tocsin.adapters.stores.sql.awareness.renders import want_render
from tocsin.adapters.stores.sql.codec import read_names, read_object, to_json_or_null
from tocsin.adapters.stores.sql.role import Role, bounded, ids
from tocsin.errors import UsageError
from tocsin.model import StormRow, StormVerdict
from tocsin.ports.keeping import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import AlertDraft, Instant, JsonObject
    from tocsin.ports.keeping import OnStep


class StormRole(Role):
    """Implements ports.StormStore."""

    async def storms_to_announce(self, now: Instant) -> list[StormRow]:
        """Storms whose gathering has ended and that nobody was told of; those without a page are forgotten instead."""
        storms = await self._storms("to_announce", {"now": now})
        empty = [{"storm": storm.id} for storm in storms if not storm.pages]
        if empty:
            await self._write(lambda db: db.executemany(SQL["close_empty"], empty))
        return [storm for storm in storms if storm.pages]

    async def announce_storm(
        self, storm_id: int, alert: AlertDraft, now: Instant, *, excerpt: JsonObject | None
    ) -> None:
        """Write a storm's alert and mark it as told; one that was released meanwhile is not told."""
        place = {"storm": storm_id, "now": now, "excerpt": to_json_or_null(excerpt)}

        def write(db: Session) -> None:
            if db.execute(SQL["announce"], place).rowcount:
                publish(db, [alert])

        await self._write(write, durable=True)

    async def storms(self, *, limit: int, before: int | None = None) -> list[StormRow]:
        """The latest storms, newest first; `before` is an id."""
        return await self._storms("storms", {"limit": limit, "before": before})

    async def storm(self, storm_id: int) -> StormRow | None:
        """One storm."""
        return next(iter(await self._storms("one_storm", {"storm": bounded(storm_id)})), None)

    async def storm_verdicts(self, storm_id: int, *, after: tuple[int, int], limit: int) -> list[StormVerdict]:
        """Its verdicts, in order of page and id, after this (page, id)."""
        place = {"storm": storm_id, "page": after[0], "after": after[1], "limit": limit}
        rows = await self._read(lambda db: db.execute(SQL["verdicts_of"], place).fetchall())
        return [
            StormVerdict(verdict_id, page_id, url, at, outcome, alert_id, bool(withheld))
            for verdict_id, page_id, url, at, outcome, alert_id, withheld in rows
        ]

    async def count_withheld(self, storm_id: int) -> int:
        """How many of its verdicts have no alert of their own, and none to come."""
        (count,) = await self._read(lambda db: db.execute(SQL["count_withheld"], {"storm": storm_id}).fetchone())
        return int(count)

    async def release_storm(self, storm_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Let each page of a storm have its alerts after all; returns how many pages. Raises UsageError."""
        after: int | None = 0

        def release(db: Session, *, limit: int) -> int:
            nonlocal after
            if not db.execute(SQL["release"], {"storm": storm_id, "now": now}).rowcount:
                raise UsageError(f"storm {storm_id}: there is none; `tocsin alerts storms` lists them")
            rows = db.execute(SQL["withheld"], {"storm": storm_id, "after": after, "limit": limit}).fetchall()
            db.execute(SQL["give_awareness"], {"storm": storm_id, "pages": ids(row[0] for row in rows)})
            for page_id, since, major in rows:
                want_render(db, page_id, since=since, major=bool(major))
            after = rows[-1][0] if len(rows) == limit else None
            return len(rows)

        pages, pace = 0, self._paces["release"]
        while after is not None:
            pages += await self._step(pace, partial(release, limit=pace.rows), on_step)
        return pages

    async def _storms(self, query: str, place: dict[str, Any]) -> list[StormRow]:
        rows = await self._read(lambda db: db.execute(SQL[query], place).fetchall())
        return [_to_storm(row) for row in rows]


def _to_storm(row: Sequence[Any]) -> StormRow:
    (
        storm_id, host, pages, sample, outcome, basis, excerpt, opened_at, first_at, latest_at,
        announce_at, announced_at, released_at,
    ) = row  # fmt: skip
    return StormRow(
        id=storm_id,
        host=host,
        pages=pages,
        sample=read_names(sample),
        outcome=outcome,
        basis=basis,
        excerpt=read_object(excerpt) if excerpt else None,
        opened_at=opened_at,
        first_at=first_at,
        latest_at=latest_at,
        announce_at=announce_at,
        announced_at=announced_at,
        released_at=released_at,
    )
