"""What the roles of the store share: its connections, its options and the revision of its edits."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, TypeVar

from msgspec import Struct

from tocsin.adapters.stores.sql.codec import to_json
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sqlite.connection import MAPPED, MAPPED_OF_ENGINE, Lane, snapshot, transaction
from tocsin.adapters.stores.sqlite.viewing import Viewer

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable
    from datetime import timedelta

    from tocsin.adapters.stores.sqlite.place import EngineLock, StoreFiles
    from tocsin.settings import SignalSettings

T = TypeVar("T")

REVISIONS = queries("revisions")

LAST: Final = 1 << 62
"""Beyond every id and position."""


class Options(Struct, frozen=True):
    """How a store was opened; see `open_store`.

    files     of the store, as they were when it was opened
    lock      the engine's, if it was opened as the engine's own
    timer     seconds, of which the length of a step is known
    """

    path: str
    files: StoreFiles
    history: bool
    gather: timedelta
    storms: SignalSettings
    busy: timedelta
    lock: EngineLock | None = None
    timer: Callable[[], float] = time.monotonic


class Role:
    """A part of the store's port, over a connection that writes, one that reads, and one for people who look."""

    def __init__(self, writer: Lane, reader: Lane, options: Options) -> None:
        self._writer, self._reader, self._options = writer, reader, options
        mapped = MAPPED if options.lock is None else MAPPED_OF_ENGINE
        self._viewer = Viewer(options.path, options.busy, mapped)
        self._edited_here = True
        self._seen_version: int | None = None
        self._mode: str | None = None

    async def _write(self, work: Callable[[sqlite3.Connection], T], *, durable: bool = False) -> T:
        """Do this in one transaction."""

        def whole(db: sqlite3.Connection) -> T:
            with transaction(db, durable=durable):
                return work(db)

        return await self._writer.run(whole)

    async def _edit(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do this in one transaction that survives a loss of power, and let a running engine look again."""
        done = await self._write(work, durable=True)
        self._edited_here = True
        return done

    async def _read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read at one instant."""

        def whole(db: sqlite3.Connection) -> T:
            with snapshot(db):
                return work(db)

        return await self._reader.run(whole)

    async def _view(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read at one instant, for people: who checks goes on meanwhile, and they wait for none of that."""
        return await self._viewer.read(work)


def bounded(number: int) -> int:
    """Give a number that somebody typed as one that a column can hold: one beyond is as good as the last."""
    return max(-LAST, min(number, LAST))


def ids(values: Iterable[int | str]) -> str:
    """Write keys as the JSON array that `json_each` reads."""
    return to_json(list(values))


def touch_hosts(db: sqlite3.Connection, host_ids: Iterable[int]) -> None:
    """Give the store a new revision and stamp these hosts with it, so that a running engine looks at them again."""
    (revision,) = db.execute(REVISIONS["next"]).fetchone()
    db.execute(REVISIONS["stamp"], {"revision": revision, "hosts": ids(host_ids)})


def touch_all_hosts(db: sqlite3.Connection) -> None:
    """Give the store a new revision and stamp every host with it."""
    (revision,) = db.execute(REVISIONS["next"]).fetchone()
    db.execute(REVISIONS["stamp_all"], {"revision": revision})
