"""Figures of the store, and what happened in spans of five minutes."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from msgspec import convert, structs

from tocsin.adapters.stores.sql.care.access import DAY_US
from tocsin.adapters.stores.sql.role import NODES, Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_object, to_json, to_us
from tocsin.model import ActivityRow, ChannelFigures, Findings, StoreFigures
from tocsin.model.nodes import node_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant


ACTIVITY = queries("activity")
SQL = queries("figures")
_WEEK_US = 7 * DAY_US


class FigureRole(Role):
    """Implements ports.FigureStore."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        async with self._database.apart() as read:
            return await read(partial(_read, size=self._database.size, now=now, after=after))

    async def keep_findings(self, findings: Findings) -> None:
        # Which alerts were new is of interest to the leader alone, and has no keys that JSON could have.
        found = structs.replace(findings, figures=structs.replace(findings.figures, alerts={}))
        place = {"value": to_json(found)}
        await self._write(lambda db: db.execute(ACTIVITY["keep_findings"], place).close())

    async def findings(self) -> Findings | None:
        row = await self._view(lambda db: db.execute(ACTIVITY["findings"]).fetchone())
        return None if row is None else convert(read_object(row[0]), Findings)

    async def activity(self, since: Instant) -> list[ActivityRow]:
        rows = await self._view(lambda db: db.execute(ACTIVITY["since"], {"since": since}).fetchall())
        return [
            ActivityRow(at, read_object(outcomes), alerts, rendered, received, saved, read_object(delays), *delivered)
            for at, outcomes, alerts, rendered, received, saved, delays, *delivered in rows
        ]

    async def note_activity(self, row: ActivityRow) -> None:
        def write(db: SqlSession) -> None:
            before = db.execute(ACTIVITY["at"], {"at": row.at}).fetchone()
            outcomes, delays = (
                Counter(new) + Counter(read_object(old))
                for new, old in zip((row.outcomes, row.delays), before or ("{}", "{}"), strict=True)
            )
            values = {
                "at": row.at,
                "outcomes": to_json(dict(outcomes)),
                "alerts": row.alerts,
                "rendered": row.rendered,
                "wire_bytes": row.wire_bytes,
                "saved_bytes": row.saved_bytes,
                "delays": to_json(dict(delays)),
                "delivered": row.delivered,
                "late": row.late,
            }
            db.execute(ACTIVITY["note"], values)

        await self._write(write)

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        await self._write(lambda db: db.execute(ACTIVITY["prune"], {"before": now - to_us(keep)}))


def _read(
    db: SqlSession, *, size: Callable[[SqlSession], tuple[int, int | None]], now: Instant, after: int | None
) -> StoreFigures:
    taken, free = size(db)
    position, text_bytes, channels = db.execute(SQL["standing"]).fetchone()
    waiting, waiting_since = db.execute(SQL["renders"]).fetchone()
    asked, asked_since = db.execute(SQL["questions"]).fetchone()
    states = (node_state(float(row[2]), draining=bool(row[3])) for row in db.execute(NODES["nodes"]))
    nodes: Counter[str] = Counter(states)
    alerts = Counter(db.execute(SQL["alerts"], {"after": after}).fetchall()) if after is not None else {}
    return StoreFigures(
        at=now,
        pages=db.execute(SQL["pages"]).fetchone()[0],
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
        unrouted=db.execute(SQL["unrouted"], {"since": now - _WEEK_US}).fetchone()[0],
        nodes=dict(nodes),
        parts_alone=db.execute(NODES["parts_alone"]).fetchone()[0] if nodes else 0,
    )


def _channel(db: SqlSession, name: str) -> ChannelFigures:
    waiting, first = db.execute(SQL["deliveries"], {"channel": name, "state": "waiting"}).fetchone()
    dead, _ = db.execute(SQL["deliveries"], {"channel": name, "state": "dead"}).fetchone()
    oldest = db.execute(SQL["published_at"], {"position": first}).fetchone() if waiting else None
    disabled, failures = db.execute(SQL["channel"], {"channel": name}).fetchone() or (0, 0)
    bundles = {state: (number, alerts) for state, number, alerts in db.execute(SQL["bundles"], {"channel": name})}
    (due_at,) = db.execute(SQL["digest_due_at"], {"channel": name}).fetchone()
    return ChannelFigures(
        waiting,
        oldest[0] if oldest else None,
        dead + bundles.get("dead", (0, 0))[1],
        bool(disabled),
        bool(failures),
        gathered=sum(alerts for state, (_, alerts) in bundles.items() if state in {"open", "sealed"}),
        silenced=db.execute(SQL["silenced"], {"channel": name}).fetchone()[0],
        bundles={state: number for state, (number, _) in bundles.items()},
        digest_due_at=due_at,
    )
