"""Figures of the store: that part of the port."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sqlite.connection import open_lane, snapshot
from tocsin.model import SinkFigures, StoreFigures

if TYPE_CHECKING:
    import sqlite3

    from tocsin.model import Instant

SQL = queries("figures")


class FigureRole(Role):
    """Implements ports.FigureStore."""

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        """Count what the store holds."""
        # What counts a million pages is no hurry, and nobody is to stand in line behind it.
        async with open_lane(self._options.path, busy=self._options.busy, writes=False) as lane:
            return await lane.run(partial(_read, path=self._options.path, now=now, after=after))


def _read(db: sqlite3.Connection, *, path: str, now: Instant, after: int | None) -> StoreFigures:
    with snapshot(db):
        position, text_bytes, sinks = db.execute(SQL["standing"]).fetchone()
        waiting, waiting_since = db.execute(SQL["renders"]).fetchone()
        asked, asked_since = db.execute(SQL["questions"]).fetchone()
        alerts = Counter(db.execute(SQL["alerts"], {"after": after}).fetchall()) if after is not None else {}
        return StoreFigures(
            at=now,
            pages=db.execute(SQL["pages"]).fetchone()[0],
            position=position,
            alerts=dict(alerts),
            sinks={name: _sink(db, name) for name in json.loads(sinks)},
            renders_waiting=waiting,
            renders_oldest_at=waiting_since,
            questions_open=asked,
            questions_oldest_at=asked_since,
            bytes=sum(_size(path + ending) for ending in ("", "-wal", "-shm")),
            snapshot_bytes=text_bytes,
            free_bytes=_free(path),
        )


def _sink(db: sqlite3.Connection, name: str) -> SinkFigures:
    waiting, first = db.execute(SQL["deliveries"], {"sink": name, "state": "waiting"}).fetchone()
    dead, _ = db.execute(SQL["deliveries"], {"sink": name, "state": "dead"}).fetchone()
    oldest = db.execute(SQL["published_at"], {"position": first}).fetchone() if waiting else None
    disabled, failures = db.execute(SQL["sink"], {"sink": name}).fetchone() or (0, 0)
    return SinkFigures(waiting, oldest[0] if oldest else None, dead, bool(disabled), bool(failures))


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except OSError:  # there is no log right after a checkpoint by the last that closes
        return 0


def _free(path: str) -> int | None:
    try:
        return shutil.disk_usage(Path(path).resolve().parent).free
    except OSError:
        return None
