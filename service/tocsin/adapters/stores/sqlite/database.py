"""The connections of an open store: for writing, for the engine's reading, for people, and for long readings."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from tocsin.adapters.stores.sqlite.connection import (
    MAPPED,
    MAPPED_OF_ENGINE,
    Lane,
    open_lane,
    snapshot,
    sync_log,
    transaction,
)
from tocsin.adapters.stores.sqlite.faults import translated
from tocsin.adapters.stores.sqlite.place import is_held, size_of
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import EditStep, SnapshotReader, SqlSession
    from tocsin.adapters.stores.sqlite.connection import SqliteSession
    from tocsin.adapters.stores.sqlite.place import EngineLock, StoreFiles

T = TypeVar("T")

_SHORTEST_REST_S, _LONGEST_REST_S = 0.01, 0.5


class SqliteDatabase:
    """Implements session.Database for one file.

    files  of the store, as they were when it was opened
    lock   the engine's, where an engine opened it
    busy   how long to wait for another process that writes
    """

    def __init__(
        self, path: str, writer: Lane, reader: Lane, *, files: StoreFiles, lock: EngineLock | None, busy: timedelta
    ) -> None:
        self.path, self.busy = path, busy
        self.writer, self.reader = writer, reader
        self._files, self._lock = files, lock
        self._viewer: Lane | None = None
        self._opening = asyncio.Lock()
        self._is_closed = False
        self._edited_here = True
        self._seen_version: int | None = None

    async def write(self, work: Callable[[SqlSession], T], *, durable: bool = False) -> T:
        """Run this in a writing transaction."""

        def whole(db: SqliteSession) -> T:
            with transaction(db, durable=durable):
                return work(db)

        return await self.writer.run(whole)

    async def edit(self, work: Callable[[SqlSession], T]) -> T:
        """Run this in a durable transaction that a running engine notices."""
        done = await self.write(work, durable=True)
        self._edited_here = True
        return done

    async def edit_step(self, step: EditStep) -> None:
        """Run a step of a long edit; it reaches the disk when other processes may write again."""

        def whole(db: SqliteSession) -> None:
            with transaction(db):
                step.run(db)
            step.committed()
            sync_log(db)

        await self.writer.run(whole)
        self._edited_here = True

    async def rest(self, held_s: float) -> None:
        """Where another process is the engine, rest as long as the step held the lock.

        SQLite's lock has no queue: without a rest the next step would take it again before the engine wakes up.
        """
        if self._lock is None and await self.reader.run(lambda _: is_held(self.path)):
            await asyncio.sleep(min(max(held_s, _SHORTEST_REST_S), _LONGEST_REST_S))

    async def drain(self) -> None:
        """Wait for the work that was handed to the writing connection before; it does one piece after the other."""
        await self.writer.run(lambda _: None)

    async def read(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot."""
        return await self.reader.run(partial(_on_snapshot, work=work))

    async def view(self, work: Callable[[SqlSession], T]) -> T:
        """Run this on one snapshot, through the connection for people."""
        viewer = self._viewer or await self._open_viewer()
        return await viewer.run(partial(_on_snapshot, work=work))

    async def _open_viewer(self) -> Lane:
        async with self._opening:
            if self._is_closed:
                raise StoreError(f"{self.path}: the store was closed; open it again")
            if self._viewer is None:
                mapped = MAPPED if self._lock is None else MAPPED_OF_ENGINE
                with translated(self.path):
                    self._viewer = await Lane(self.path, busy=self.busy, writes=False, mapped=mapped).open()
            return self._viewer

    @asynccontextmanager
    async def apart(self, *, one_instant: bool = False) -> AsyncIterator[SnapshotReader]:
        """Open a connection for long readings."""
        async with open_lane(self.path, busy=self.busy, writes=False) as lane:
            if one_instant:
                # Closing the connection ends the transaction.
                await lane.run(lambda db: db.execute("begin"))
                yield lane.run
            else:
                yield lambda work: lane.run(partial(_on_snapshot, work=work))

    def size(self) -> tuple[int, int | None]:
        """Tell how many bytes the store and its log take, and how many are free on their disk."""
        taken = sum(size_of(self.path + ending) for ending in ("", "-wal", "-shm"))
        try:
            return taken, shutil.disk_usage(Path(self.path).resolve().parent).free
        except OSError:
            return taken, None

    async def foreign_revision(self, latest: Callable[[SqlSession], int]) -> int | None:
        """Read the store's revision if there was an edit since the last call, or no call yet; else None.

        latest  reads the revision
        """
        seen = self._seen_version

        def look(db: SqliteSession) -> tuple[int, int | None]:
            version: int = db.execute("pragma data_version").fetchone()[0]
            return version, None if version == seen else latest(db)

        version, revision = await self.writer.run(look)
        # The version counts commits of other connections only.
        edited, self._edited_here = self._edited_here, False
        if version == seen and not edited:
            return None
        self._seen_version = version
        return await self.read(latest) if revision is None else revision

    async def keep_place(self) -> bool:
        """Raise StoreLost unless the store's files are those that were opened; then nothing is written any more.

        Returns whether the engine's lock file was gone and was made anew.
        """
        return await self.writer.run(self._keep_place)

    def _keep_place(self, db: SqliteSession) -> bool:
        lost = self._files.fault()
        if lost is not None:
            self.writer.give_up(db, lost)
            raise lost
        return self._lock is not None and self._lock.renew()

    async def close(self) -> None:
        """Close the connection for people; the others belong to the caller that opened them."""
        async with self._opening:
            self._is_closed = True
            viewer, self._viewer = self._viewer, None
            if viewer is not None:
                with translated(self.path):
                    await viewer.close()


def _on_snapshot(db: SqliteSession, *, work: Callable[[SqlSession], T]) -> T:
    with snapshot(db):
        return work(db)
