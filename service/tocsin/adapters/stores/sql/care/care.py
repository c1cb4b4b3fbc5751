"""Keeping the store well: the care part of the port."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.care.jobs import DAY_US
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sqlite.backup import Backup
from tocsin.adapters.stores.sqlite.connection import open_lane, snapshot
from tocsin.adapters.stores.sqlite.invariants import findings, without_digest
from tocsin.adapters.stores.sqlite.place import is_held

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator
    from datetime import timedelta

    from tocsin.model import Instant

SQL = queries("care")
_TELL_S = 0.1
_ACTIVITY_DAYS, _JOB_DAYS = 8, 30
_FORGOTTEN = (
    "states", "verdicts", "renderings", "alerts", "questions", "sightings", "storms", "requests", "hosts",
    "audit", "sessions", "answers", "jobs", "activity",
)  # fmt: skip


class CareRole(Role):
    """Implements ports.StoreCare."""

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        """Copy the store as it was at one instant; yields (pages done, all)."""
        return self._backup(Backup(self._options.path, target, self._options.busy))

    async def _backup(self, copy: Backup) -> AsyncIterator[tuple[int, int]]:
        running = asyncio.get_running_loop().run_in_executor(None, copy.run)
        try:
            while not running.done():
                await asyncio.wait({running}, timeout=_TELL_S)
                yield copy.progress
            running.result()
        finally:
            copy.give_up()
            await asyncio.wait({running})

    async def check(self) -> list[str]:
        """What is wrong with the store, a sentence each; empty if nothing is."""

        def read(db: sqlite3.Connection) -> list[str]:
            with snapshot(db):
                return list(findings(db))

        async with open_lane(self._options.path, busy=self._options.busy, writes=False) as lane:
            return await lane.run(read)

    async def without_digest(self) -> dict[str, int]:
        """How many rows of which table were written before rows had digests."""
        return await self._view(without_digest)

    async def is_held(self) -> bool:
        """Whether an engine, of this process or another one, holds the store."""
        return await self._reader.run(lambda _: is_held(self._options.path))

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Forget what is older than this, at most `limit` rows; returns how many."""
        return sum((await self.forget(now, history=history, limit=limit)).values())

    async def forget(self, now: Instant, *, history: timedelta, limit: int) -> dict[str, int]:
        """The same; returns how many of each kind."""
        place = {
            "before": now - to_us(history),
            "now": now,
            "day_before": now - DAY_US,
            "week_before": now - _ACTIVITY_DAYS * DAY_US,
            "month_before": now - _JOB_DAYS * DAY_US,
        }

        def write(db: sqlite3.Connection) -> dict[str, int]:
            forgotten: dict[str, int] = {}
            for what in _FORGOTTEN:
                if (left := limit - sum(forgotten.values())) > 0:
                    forgotten[what] = db.execute(SQL[f"forget_{what}"], {**place, "limit": left}).rowcount
            return forgotten

        return await self._write(write)
