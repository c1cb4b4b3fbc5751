"""Keeping the store well: the care part of the port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.care.access import DAY_US
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import to_us

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant

SQL = queries("care")
# Clients follow their checks within minutes.
_REQUEST_DAYS = 7
_ACTIVITY_DAYS, _JOB_DAYS = 8, 30
_FORGOTTEN = (
    "states", "verdicts", "renderings", "alerts", "bundles", "silences", "rate_windows", "questions", "sightings",
    "storms", "requests", "hosts", "audit", "sessions", "answers", "jobs", "activity",
)  # fmt: skip


class CareRole(Role):
    """Implements ports.StoreCare."""

    async def begin_pruning(self, now: Instant, *, most: timedelta) -> Instant:
        def write(db: SqlSession) -> int:
            row = db.execute(SQL["begin_pruning"], {"now": now, "most": to_us(most)}).fetchone()
            return int(row[0])

        return await self._write(write)

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        return sum((await self.forget(now, history=history, limit=limit)).values())

    async def forget(self, now: Instant, *, history: timedelta, limit: int) -> dict[str, int]:
        place = {
            "before": now - to_us(history),
            "asked_before": now - min(to_us(history), _REQUEST_DAYS * DAY_US),
            "now": now,
            "day_before": now - DAY_US,
            "week_before": now - _ACTIVITY_DAYS * DAY_US,
            "month_before": now - _JOB_DAYS * DAY_US,
        }

        def write(db: SqlSession) -> dict[str, int]:
            forgotten: dict[str, int] = {}
            for what in _FORGOTTEN:
                if (left := limit - sum(forgotten.values())) > 0:
                    forgotten[what] = db.execute(SQL[f"forget_{what}"], {**place, "limit": left}).rowcount
            return forgotten

        return await self._write(write)
