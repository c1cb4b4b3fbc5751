"""Connections: each on a thread of its own, doing one whole piece of work at a time."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, Self, TypeVar

import aiosqlite

from tocsin.adapters.stores.sql.schedule import to_us
from tocsin.adapters.stores.sql.statements import SQLITE
from tocsin.adapters.stores.sql.values import url_key
from tocsin.adapters.stores.sqlite.faults import reached, translated
from tocsin.configuration.spans import parse_span
from tocsin.errors import StoreError
from tocsin.model import phase_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import timedelta

    from tocsin.errors import StoreLost

T = TypeVar("T")

_MORE_THAN_FITS = 2**63
_ROWS_AT_ONCE = 1000

# Of a large store each check writes other pages; the longer the log, the more of them are copied back once for many.
_CHECKPOINT_SHARE = 4
_CHECKPOINT_PAGES = range(4000, 32_000)
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


@contextmanager
def snapshot(db: sqlite3.Connection) -> Iterator[None]:
    """Read several things as they were at one instant."""
    db.execute("begin")
    try:
        yield
    finally:
        if db.in_transaction:
            db.execute("rollback")
