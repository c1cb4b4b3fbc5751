"""Keeping the store well: what is deleted after its time, and the figures of what is left."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.care.access import DAY_US
from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json, to_us
from tocsin.model import ActivityRow, ChannelFigures, StoreFigures

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant


SQL = queries("care")
ACTIVITY = queries("activity")
FIGURES = queries("figures")
# Clients follow their checks within minutes.
_REQUEST_DAYS = 7
_ACTIVITY_DAYS, _JOB_DAYS = 8, 30
_WEEK_US = 7 * DAY_US
_FORGOTTEN = (
    "states", "verdicts", "renderings", "alerts", "bundles", "silences", "rate_windows", "questions", "sightings",
    "storms", "requests", "hosts", "audit", "sessions", "answers", "jobs", "activity",
)  # fmt: skip


class CareRole(Role):
    """Implements ports.StoreCare."""

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


class FigureRole(Role):
    """Implements ports.FigureStore."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        async with self._database.apart() as read:
            return await read(partial(_read, size=self._database.size, now=now, after=after))

    async def activity(self, since: Instant) -> list[ActivityRow]:
        rows = await self._view(lambda db: db.execute(ACTIVITY["since"], {"since": since}).fetchall())
        return [ActivityRow(at, read_object(outcomes), *rest) for at, outcomes, *rest in rows]

    async def note_activity(self, row: ActivityRow) -> None:
        def write(db: SqlSession) -> None:
            before = db.execute(ACTIVITY["at"], {"at": row.at}).fetchone()
            outcomes = Counter(row.outcomes) + Counter(read_object(before[0]) if before is not None else {})
            values = {
                "at": row.at,
                "outcomes": to_json(dict(outcomes)),
                "alerts": row.alerts,
                "rendered": row.rendered,
                "wire_bytes": row.wire_bytes,
                "saved_bytes": row.saved_bytes,
            }
            db.execute(ACTIVITY["note"], values)

        await self._write(write)

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        await self._write(lambda db: db.execute(ACTIVITY["prune"], {"before": now - to_us(keep)}))


def _read(
    db: SqlSession, *, size: Callable[[], tuple[int, int | None]], now: Instant, after: int | None
) -> StoreFigures:
    taken, free = size()
    position, text_bytes, channels = db.execute(FIGURES["standing"]).fetchone()
    waiting, waiting_since = db.execute(FIGURES["renders"]).fetchone()
    asked, asked_since = db.execute(FIGURES["questions"]).fetchone()
    alerts = Counter(db.execute(FIGURES["alerts"], {"after": after}).fetchall()) if after is not None else {}
    return StoreFigures(
        at=now,
        pages=db.execute(FIGURES["pages"]).fetchone()[0],
        position=position,
        alerts=dict(alerts),
        channels={name: _channel(db, name) for name in json.loads(channels)},
        renders_waiting=waiting,
        renders_oldest_at=waiting_since,
        questions_open=asked,
        questions_oldest_at=asked_since,
        bytes=taken,
        snapshot_bytes=text_bytes,
        free_bytes=free,
        unrouted=db.execute(FIGURES["unrouted"], {"since": now - _WEEK_US}).fetchone()[0],
    )


def _channel(db: SqlSession, name: str) -> ChannelFigures:
    waiting, first = db.execute(FIGURES["deliveries"], {"channel": name, "state": "waiting"}).fetchone()
    dead, _ = db.execute(FIGURES["deliveries"], {"channel": name, "state": "dead"}).fetchone()
    oldest = db.execute(FIGURES["published_at"], {"position": first}).fetchone() if waiting else None
    disabled, failures = db.execute(FIGURES["channel"], {"channel": name}).fetchone() or (0, 0)
    bundles = {state: (number, alerts) for state, number, alerts in db.execute(FIGURES["bundles"], {"channel": name})}
    (due_at,) = db.execute(FIGURES["digest_due_at"], {"channel": name}).fetchone()
    return ChannelFigures(
        waiting,
        oldest[0] if oldest else None,
        dead + bundles.get("dead", (0, 0))[1],
        bool(disabled),
        bool(failures),
        gathered=sum(alerts for state, (_, alerts) in bundles.items() if state in {"open", "sealed"}),
        silenced=db.execute(FIGURES["silenced"], {"channel": name}).fetchone()[0],
        bundles={state: number for state, (number, _) in bundles.items()},
        digest_due_at=due_at,
    )
