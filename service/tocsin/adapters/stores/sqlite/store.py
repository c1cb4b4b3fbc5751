"""The store on SQLite: its roles put together, opened, migrated, backed up and closed."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
from contextlib import AsyncExitStack, closing, contextmanager
from glob import escape
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from tocsin.adapters.stores.sql.invariants import breaches
from tocsin.adapters.stores.sql.role import Options, end_leases
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.stores.sqlite.connection import (
    MAPPED,
    MAPPED_OF_ENGINE,
    SqliteDatabase,
    connect,
    open_lane,
    snapshot,
    transaction,
    write_ahead,
)
from tocsin.adapters.stores.sqlite.place import (
    EngineLock,
    StoreFiles,
    demand_no_remains,
    make_file,
    reached,
    refuse_network,
    size_of,
    translated,
)
from tocsin.errors import StoreError, StoreOutdated, StoreTooNew
from tocsin.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from datetime import timedelta

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.adapters.stores.sqlite.connection import SqliteSession


# Numbered migrations, forward only; `PRAGMA user_version` is the number of the last one applied.


# Marks a file as a store of Tocsin ("Tocs").
APPLICATION_ID = 0x546F6373

# For indexes of a million rows; only while they are made.
_CACHE_KIB = 64 * 1024
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")


class Migration(Struct, frozen=True):
    """One step from a version of the schema to the next."""

    number: int
    name: str
    statements: tuple[str, ...]


def migrations() -> tuple[Migration, ...]:
    """Read the migrations that this program knows, in order."""
    files = sorted((shipped("migrations") / "sqlite").iterdir())
    return tuple(
        Migration(int(match[1]), match[2], tuple(_statements(path.read_text(encoding="utf-8"))))
        for path in files
        if (match := _FILE.fullmatch(path.name))
    )


def version_of(db: sqlite3.Connection, path: str) -> int:
    """Tell a store's version, 0 for an empty database; raises StoreError for a database of another program."""
    (tables,) = db.execute("select count(*) from sqlite_schema").fetchone()
    version: int = db.execute("pragma user_version").fetchone()[0]
    # Last: another process may make the store between these three, and its mark comes with its tables.
    (marked,) = db.execute("pragma application_id").fetchone()
    if marked != APPLICATION_ID and (version or tables or marked):
        raise StoreError(f"{path}: a database of another program; name another file in store.url")
    return version


def demand_current(db: sqlite3.Connection, path: str) -> None:
    """Raise StoreTooNew or StoreOutdated unless the store is of this program's version."""
    version, newest = version_of(db, path), migrations()[-1].number
    _refuse_newer(path, version, newest)
    if version < newest:
        raise StoreOutdated(
            f"{path}: the store is of version {version}, this program needs {newest}; run `tocsin store migrate`"
        )


def apply_migrations(db: sqlite3.Connection, path: str) -> Iterator[tuple[int, int]]:
    """Apply what is missing, a transaction each; yields (done, all) before the first and after each.

    A new store is made in one transaction: another process that opens it meanwhile finds nothing, or all of it.
    """
    known = migrations()
    version = version_of(db, path)
    _refuse_newer(path, version, known[-1].number)
    missing = [migration for migration in known if migration.number > version]
    yield 0, len(missing)
    done = 0
    for together in [missing] if version == 0 else [[migration] for migration in missing]:
        with _unreferenced(db), transaction(db, durable=True):
            for migration in together:
                # Another process may have been first while we waited for the lock.
                if version_of(db, path) < migration.number:
                    _apply(db, path, migration)
        done += len(together)
        yield done, len(missing)


def _apply(db: sqlite3.Connection, path: str, migration: Migration) -> None:
    for statement in migration.statements:
        db.execute(statement)
    _demand_references(db, path)
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {migration.number}")


@contextmanager
def _unreferenced(db: sqlite3.Connection) -> Iterator[None]:
    """Let tables be made anew, without what refers to them going with the old ones, and with room to sort in."""
    (cache,) = db.execute("pragma cache_size").fetchone()
    db.execute("pragma foreign_keys = off")
    db.execute(f"pragma cache_size = -{_CACHE_KIB}")
    try:
        yield
    finally:
        db.execute(f"pragma cache_size = {cache}")
        db.execute("pragma foreign_keys = on")


def _demand_references(db: sqlite3.Connection, path: str) -> None:
    """Raise StoreError if a row refers to one that is not there: the migration is undone."""
    broken = db.execute("pragma foreign_key_check").fetchone()
    if broken is not None:
        raise StoreError(
            f"{path}: table {broken[0]} refers to rows of {broken[2]} that are gone; nothing was migrated: "
            "`tocsin store check` of the version before says more, or restore a backup"
        )


def _refuse_newer(path: str, version: int, newest: int) -> None:
    if version > newest:
        raise StoreTooNew(
            f"{path}: the store is of version {version}, this program knows {newest}; "
            "update the program, or restore a backup made before the store was migrated"
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""


# A copy of a store as it was at one instant, made while others write; and the copy kept before a migration.


_STEP_PAGES = 500
_REPORT_S = 0.1


class _GivenUpError(Exception):
    """The caller stopped waiting for the copy."""


class Backup:
    """One copy in the making: `run` on a thread, `progress` from anywhere."""

    def __init__(self, source: str, target: str, busy: timedelta) -> None:
        self._source, self._target, self._busy = source, target, busy
        self._part = f"{target}.{os.getpid()}.part"
        self._stop = Event()
        self.progress = (0, 0)
        """(database pages done, all)"""

    def give_up(self) -> None:
        """Let `run` end soon, without a copy."""
        self._stop.set()

    def run(self) -> None:
        """Copy, then give the copy its name in one step. Raises StoreError, also for a target that is there."""
        if Path(self._target).exists():
            raise self._there()
        try:
            self._copy()
            self._name()
        except _GivenUpError:
            pass
        except OSError as exc:
            raise StoreError(f"{self._target}: {exc.strerror}; name a file in a folder that can be written") from exc
        finally:
            for ending in ("", "-journal", "-wal", "-shm"):
                Path(self._part + ending).unlink(missing_ok=True)

    def _copy(self) -> None:
        Path(self._part).touch(0o600)
        with (
            translated(self._source),
            closing(connect(self._source, busy=self._busy, writes=False)) as source,
            # Held from the first page to the last: without it, each commit of others would begin the copy anew.
            snapshot(source),
            translated(self._target),
            closing(sqlite3.connect(self._part)) as target,
        ):
            source.execute("select 1 from sqlite_schema").fetchone()
            source.backup(target, pages=_STEP_PAGES, progress=self._note)
            # One file, complete without a log until it is opened as a store.
            target.execute("pragma journal_mode = delete")
        with Path(self._part).open("rb") as copy:
            os.fsync(copy.fileno())

    def _note(self, _status: int, left: int, pages: int) -> None:
        self.progress = (pages - left, pages)
        if self._stop.is_set():
            raise _GivenUpError

    def _name(self) -> None:
        try:
            # Unlike a renaming, a link never takes the place of what is there.
            os.link(self._part, self._target)
        except FileExistsError:
            raise self._there() from None
        except OSError:  # a file system without links
            Path(self._part).rename(self._target)
        folder = os.open(Path(self._target).resolve().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _there(self) -> StoreError:
        return StoreError(f"{self._target}: file exists; choose another name (backups never overwrite)")


async def run_backup(copy: Backup) -> AsyncIterator[tuple[int, int]]:
    """Run a copy on a thread; yields (pages done, all). Where the caller stops listening, no copy is left."""
    running = asyncio.get_running_loop().run_in_executor(None, copy.run)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_REPORT_S)
            yield copy.progress
        running.result()
    finally:
        copy.give_up()
        await asyncio.wait({running})


_ROOM: Final = 1.1


def kept_name(path: str, version: int) -> str:
    """Name the copy of a store of this version: one of an earlier version where a migration was interrupted."""
    names = [f"{path}.before-{migrations()[-1].number}.v{before}" for before in range(1, version + 1)]
    return next((name for name in names if Path(name).exists()), names[-1])


def keep_before_migration(path: str, version: int, busy: timedelta) -> str | None:
    """Copy a store that is about to be migrated, once; returns the copy's name, or None where nothing is migrated.

    version  of its schema; 0 for one that is only being made
    Raises StoreError where there is no room for the copy: then nothing is migrated.
    """
    if not 0 < version < migrations()[-1].number:
        return None
    with reached(path):
        _sweep(path)
        target = kept_name(path, version)
        if Path(target).exists():
            return target
        needed = sum(file.stat().st_size for file in (Path(path), Path(f"{path}-wal")) if file.exists())
        free = shutil.disk_usage(Path(path).resolve().parent).free
    if free < needed * _ROOM:
        raise StoreError(
            f"{path}: a migration keeps a copy of the store as it was, and {needed / 1e6:,.0f} MB are not free; "
            "free some space, or back it up elsewhere and run: tocsin store migrate --no-backup"
        )
    Backup(path, target, busy).run()
    return target


def _sweep(path: str) -> None:
    """Remove what a copying left that was killed; under the engine lock there is no other one."""
    store = Path(path)
    for left in store.parent.glob(f"{escape(store.name)}.before-*.part*"):
        left.unlink(missing_ok=True)


class SqliteStore(SqlStore):
    """A store in one SQLite file; implements ports.Store. Made by `open_store`."""

    _database: SqliteDatabase

    def __init__(self, database: SqliteDatabase, options: Options, opened: AsyncExitStack) -> None:
        super().__init__(database, options)
        self._opened = opened

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        return run_backup(Backup(self._database.path, target, self._database.busy))

    async def check(self) -> list[str]:
        async with self._database.apart(one_instant=True) as read:
            return await read(lambda db: list(findings(db)))

    async def close(self) -> None:
        try:
            await self._database.close()
        finally:
            await self._opened.aclose()


def findings(db: SqlSession) -> Iterator[str]:
    """Say what is wrong with a store: its integrity, its references, and the program's own invariants."""
    for (word,) in db.execute("pragma integrity_check"):
        if word != "ok":
            yield f"integrity: {word}"
    for table, row_id, parent, _ in db.execute("pragma foreign_key_check"):
        yield f"table {table}, row {row_id}: what it refers to in {parent} is gone"
    yield from breaches(db, sqlite3.Error)


async def open_sqlite(
    path: str,
    *,
    engine: bool,
    create: bool,
    options: Options,
    busy: timedelta,
    on_migrating: Callable[[int, int, str], None],
) -> SqliteStore:
    """Open a store; see `open_store`."""
    _demand_place(path, create=create)
    async with AsyncExitStack() as opened:
        if engine and not size_of(path):
            # Whole before it is locked: an empty file beside a lock is a store that was lost.
            async with open_lane(path, busy=busy, writes=True) as first:
                await first.run(lambda db: _prepare(db, path, engine=False, busy=busy))
        mapped = MAPPED_OF_ENGINE if engine else MAPPED
        lock = EngineLock(path) if engine else None
        if lock is not None:
            opened.callback(lock.release)
        writer = await opened.enter_async_context(open_lane(path, busy=busy, writes=True))
        if engine:
            before, newest = await writer.run(lambda db: version_of(db, path)), migrations()[-1].number
            if 0 < before < newest:
                on_migrating(before, newest, kept_name(path, before))
        await writer.run(lambda db: _prepare(db, path, engine=engine, busy=busy))
        reader = await opened.enter_async_context(open_lane(path, busy=busy, writes=False, mapped=mapped))
        database = SqliteDatabase(path, writer, reader, files=StoreFiles(path), lock=lock, busy=busy)
        return SqliteStore(database, options, opened.pop_all())


async def migrate_sqlite(path: str, busy: timedelta, *, keep: bool) -> AsyncIterator[tuple[int, int]]:
    """Bring a store to this program's version; see `migrate`."""
    _demand_place(path, create=False)
    lock = EngineLock(path)
    try:
        async with open_lane(path, busy=busy, writes=True) as writer:
            if keep:
                await writer.run(lambda db: keep_before_migration(path, version_of(db, path), busy))
            steps = await writer.run(lambda db: apply_migrations(db, path))
            while (step := await writer.run(lambda _: next(steps, None))) is not None:
                yield step
    finally:
        lock.release()


def _demand_place(path: str, *, create: bool) -> None:
    """Raise StoreError unless a store is there, or can be made."""
    with reached(path):
        _demand_file(path, create=create)
    refuse_network(path)
    if create:
        make_file(path)


def _demand_file(path: str, *, create: bool) -> None:
    file = Path(path)
    if not file.parent.is_dir():
        raise StoreError(f"{path}: there is no folder {file.parent}; make it, or name another file in store.url")
    if file.is_dir():
        raise StoreError(f"{path}: a folder; name a file in store.url")
    demand_no_remains(path)
    if not create and not file.exists():
        raise StoreError(f"{path}: there is no store yet; `tocsin watch add URL` makes one, or name yours with --store")


def _prepare(db: SqliteSession, path: str, *, engine: bool, busy: timedelta) -> None:
    """Make a new store whole, bring an older one up to date as an engine may, and refuse the rest."""
    version = version_of(db, path)
    # Only now: a database of another program was left as it is.
    write_ahead(db, busy)
    if engine or version == 0:
        keep_before_migration(path, version, busy)
        for _ in apply_migrations(db, path):
            pass
    demand_current(db, path)
    if engine:
        end_leases(db)
