"""The connections of an open store: each on a thread of its own, doing one whole piece of work at a time."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import time
from bisect import bisect_left
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Self, TypeVar

import aiosqlite

from tocsin.adapters.stores.sql.statements import SQLITE
from tocsin.adapters.stores.sql.values import to_us, url_key
from tocsin.adapters.stores.sqlite.place import is_held, reached, size_of, translated
from tocsin.configuration.convert import parse_span
from tocsin.errors import StoreError
from tocsin.model import phase_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import EditStep, SnapshotReader, SqlSession
    from tocsin.adapters.stores.sqlite.place import EngineLock, StoreFiles
    from tocsin.errors import StoreLost


T = TypeVar("T")

_MORE_THAN_FITS = 2**63
_ROWS_AT_ONCE = 1000

# Of a large store each check writes other pages; the longer the log, the more of them are copied back once for many.
_CHECKPOINT_SHARE = 4
_CHECKPOINT_PAGES = range(4000, 32_000)
# With `copy_log` less is copied at a time, beside the writer, which copies what is left when the log has grown on.
COPY_PAGES = 4000
_BACKSTOP = 4
# After the log has grown over a long reading, or a migration.
_LOG_BYTES = 256 * 1024 * 1024
# What is read again and again is a small part; the rest is in the cache of the system, for all connections.
_CACHE_KIB = 8 * 1024
# Readers look into that cache without a copy, a quarter of what picking due pages costs. What writes does not: its
# pages are copied anyway. What is mapped counts as memory of the process: commands, which go through the list once, map
# nothing.
MAPPED_OF_ENGINE = 2**31 - 2**16
MAPPED = 0
# A service that is about to end waits no longer for others.
_SAVE_MS = 2000
_LOOK_AGAIN_S = 0.01
# Its `get` gives None for None without a call of Python.
_NULL: Final[dict[None, None]] = {}
_LOG_HEADER, _FRAME_HEADER = 32, 24  # bytes


class SqliteSession(sqlite3.Connection):
    """A connection as the roles use it; implements session.SqlSession."""

    dialect: Final = SQLITE


class Lane(aiosqlite.Connection):
    """A connection whose thread does whole functions, so that a transaction costs one hop between threads."""

    def __init__(self, path: str, *, busy: timedelta, writes: bool, mapped: int = MAPPED) -> None:
        super().__init__(partial(connect, path, busy=busy, writes=writes, mapped=mapped), iter_chunk_size=_ROWS_AT_ONCE)
        self.path = path
        self._lost: StoreLost | None = None

    async def open(self) -> Self:
        """Start the thread and connect; where that fails, or is given up, the thread has ended when this raises."""
        try:
            await self
        except (sqlite3.Error, asyncio.CancelledError):
            # It still reports its end to this loop, which must not be closed by then.
            await asyncio.to_thread(self._thread.join)
            raise
        return self

    async def run(self, work: Callable[[SqliteSession], T]) -> T:
        """Do this on the connection's thread.

        Cancelling the caller does not stop the work: it is done completely, or not at all.
        Raises StoreError for every error of SQLite, once the connection was closed, and after `give_up`.
        """
        if self._connection is None:
            raise StoreError(f"{self.path}: the store was closed; open it again")
        with translated(self.path):
            done: T = await self._execute(self._checked, work, self._conn)  # type: ignore[no-untyped-call]  # as aiosqlite has it
            return done

    def give_up(self, db: sqlite3.Connection, lost: StoreLost) -> None:
        """Refuse all further work, since the store's files are no longer there; called on the connection's thread."""
        self._lost = lost
        if lost.keeps_log:
            with suppress(sqlite3.Error):  # the log stays as it is; closing the connection tries once more
                save_log(db)

    def _checked(self, work: Callable[[SqliteSession], T], db: SqliteSession) -> T:
        if self._lost is not None:
            raise self._lost
        return work(db)


@asynccontextmanager
async def open_lane(path: str, *, busy: timedelta, writes: bool, mapped: int = MAPPED) -> AsyncIterator[Lane]:
    """Open a connection, for as long as the context lasts.

    busy    how long to wait for another process that writes
    writes  it may write; else every attempt to is refused
    mapped  how many bytes of the store it may look into without a copy, where it only reads
    """
    with translated(path):
        lane = await Lane(path, busy=busy, writes=writes, mapped=mapped).open()
    try:
        yield lane
    finally:
        with translated(path):
            await lane.close()


def connect(path: str, *, busy: timedelta, writes: bool, mapped: int = MAPPED, uri: bool = False) -> SqliteSession:
    """Open a connection as every part of the store wants it: transactions are begun by name, never by the driver.

    Statements may call three functions of ours: `span_us` reads a duration as settings write it ("6h"), in
    microseconds; `phase_of` and `url_key` are those of the model and of `packing`.
    """
    # For each of these values the driver takes 0.4 us to find out that it is written as it is. With an adapter, which
    # the whole process then has, it looks no further.
    sqlite3.register_adapter(type(None), _NULL.get)
    sqlite3.register_adapter(bytes, bytes)
    sqlite3.register_adapter(bool, int)
    db = sqlite3.connect(path, timeout=busy.total_seconds(), isolation_level=None, uri=uri, factory=SqliteSession)
    try:
        db.create_function("span_us", 1, _span_us, deterministic=True)
        db.create_function("url_key", 1, url_key, deterministic=True)
        db.create_function("phase_of", 1, phase_of, deterministic=True)
        db.execute("pragma foreign_keys = on")
        db.execute(f"pragma cache_size = -{_CACHE_KIB}")
        db.execute(f"pragma journal_size_limit = {_LOG_BYTES}")
        if writes:
            db.execute(f"pragma wal_autocheckpoint = {_log_pages(db)}")
        else:
            db.execute(f"pragma mmap_size = {mapped}")
            db.execute("pragma query_only = on")
    except sqlite3.Error:
        db.close()
        raise
    return db


def _log_pages(db: sqlite3.Connection) -> int:
    """Tell how many pages of log are gathered before they are copied into the store: a part of its size."""
    (pages,) = db.execute("pragma page_count").fetchone()
    least, most = _CHECKPOINT_PAGES.start, _CHECKPOINT_PAGES.stop
    return int(max(least, min(pages // _CHECKPOINT_SHARE, most)))


def _span_us(text: object) -> int | None:
    if not isinstance(text, str):
        return None
    try:
        found = to_us(parse_span(text))
    except ValueError:
        # The check of its own page reports it; other pages of the same statement are not affected.
        return None
    return found if found < _MORE_THAN_FITS else None


def write_ahead(db: sqlite3.Connection, busy: timedelta) -> None:
    """Let readers and one writer work side by side; the file keeps it for all who open it later.

    busy  how long to wait for others that open a new store at the same time
    """
    until_s = time.monotonic() + busy.total_seconds()
    while True:
        try:
            db.execute("pragma journal_mode = wal")
        except sqlite3.OperationalError as exc:
            # SQLite does not wait for this lock by itself; its timeout does not apply here.
            if exc.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= until_s:
                raise
            time.sleep(_LOOK_AGAIN_S)
        else:
            return


@contextmanager
def transaction(db: sqlite3.Connection, *, durable: bool = False) -> Iterator[None]:
    """Write in one transaction: all of it, or nothing.

    durable  it survives a loss of power, not only the end of the process
    """
    db.execute("pragma synchronous = full" if durable else "pragma synchronous = normal")
    db.execute("begin immediate")
    try:
        yield
        db.execute("commit")
    finally:
        if db.in_transaction:
            db.execute("rollback")


def sync_log(db: sqlite3.Connection) -> None:
    """Let what was committed survive a loss of power, while others write already: on a busy disk it takes a while.

    No lock of SQLite's lies on the log itself, so that closing it again lets go of none.
    """
    (_, _, path) = db.execute("pragma database_list").fetchone()
    with reached(path):
        log = os.open(f"{path}-wal", os.O_RDONLY)
        try:
            os.fsync(log)
        finally:
            os.close(log)


def save_log(db: sqlite3.Connection) -> None:
    """Copy what was committed from the log into the store's file, as far as no reader still needs what is there."""
    db.execute(f"pragma busy_timeout = {_SAVE_MS}")
    db.execute("pragma wal_checkpoint(truncate)").fetchall()


def log_frames(path: str) -> tuple[bytes, int]:
    """Count the pages in a store's log since it was last begun at its start, and tell what marks them as of this run.

    SQLite's own count is in the index of the log; closing that file would end the locks of this process.
    Source  https://www.sqlite.org/fileformat2.html#walformat
    """
    with reached(path), Path(f"{path}-wal").open("rb", buffering=0) as log:
        header = log.read(_LOG_HEADER)
        run, step = header[16:24], _FRAME_HEADER + int.from_bytes(header[8:12], "big")
        frames = range((os.fstat(log.fileno()).st_size - _LOG_HEADER) // step)

        def is_old(frame: int) -> bool:
            return os.pread(log.fileno(), 8, _LOG_HEADER + frame * step + 8) != run

        return run, bisect_left(frames, True, key=is_old)  # noqa: FBT003 - the value that is searched for


def _copy_log(db: SqliteSession) -> int:
    _, _, copied = db.execute("pragma wal_checkpoint(passive)").fetchone()
    return int(copied)


def _set_backstop(db: SqliteSession) -> None:
    (page_bytes,) = db.execute("pragma page_size").fetchone()
    db.execute(f"pragma wal_autocheckpoint = {min(_BACKSTOP * _log_pages(db), _LOG_BYTES // page_bytes)}")


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Read several things as they were at one instant."""
    db.execute("begin")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("rollback")


# The connections of an open store: for writing, for the engine's reading, for people, and for long readings.


_SHORTEST_REST_S, _LONGEST_REST_S = 0.01, 0.5


class SqliteDatabase:
    """Implements session.Database for one file.

    files  of the store, as they were when it was opened
    lock   the engine's, where an engine opened it
    busy   how long to wait for another process that writes
    """

    is_shared = False

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
        self._copied: tuple[bytes, int] | None = None

    async def write(self, work: Callable[[SqlSession], T], *, durable: bool = False, shared: bool = False) -> T:  # noqa: ARG002 - SQLite has one writer at a time
        """Run this in a writing transaction."""

        def whole(db: SqliteSession) -> T:
            with transaction(db, durable=durable):
                return work(db)

        return await self.writer.run(whole)

    async def keep(self, work: Callable[[SqlSession], T]) -> T:
        """Run this in a writing transaction, in its turn: a file has one writer."""
        return await self.write(work)

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

    def size(self, _db: SqlSession) -> tuple[int, int | None]:
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

    async def is_held(self) -> bool:
        """Tell whether an engine holds the store's lock."""
        return await self.reader.run(lambda _: is_held(self.path))

    async def follow(self, name: str, latest: Callable[[SqlSession], object], on_news: Callable[[], None]) -> None:
        """Return at once: there is one engine, which knows what it writes."""

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

    async def copy_log(self) -> None:
        """Copy what the log gained into the store, on a thread of its own, once it is much; others write meanwhile."""
        if self._copied is None:
            self._copied = b"", 0
            await self.writer.run(_set_backstop)
        run, copied = self._copied
        # A log that is no longer the one that was opened is left alone: `keep_place` reports it.
        now, frames = await self.reader.run(lambda _: (run, 0) if self._files.fault() else log_frames(self.path))
        if frames - (copied if now == run else 0) < COPY_PAGES:
            return
        async with open_lane(self.path, busy=self.busy, writes=True) as lane:
            self._copied = now, await lane.run(_copy_log)

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
