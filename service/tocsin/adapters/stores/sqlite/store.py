"""The store on SQLite: its roles put together, opened and closed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tocsin.adapters.stores.sql.claims import end_leases
from tocsin.adapters.stores.sql.role import Options, latest_revision
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.stores.sqlite.backup import Backup, keep_before_migration, kept_name, run_backup
from tocsin.adapters.stores.sqlite.connection import MAPPED, MAPPED_OF_ENGINE, open_lane, write_ahead
from tocsin.adapters.stores.sqlite.database import SqliteDatabase
from tocsin.adapters.stores.sqlite.faults import reached
from tocsin.adapters.stores.sqlite.invariants import findings, without_digest
from tocsin.adapters.stores.sqlite.migrations import apply_migrations, demand_current, migrations, version_of
from tocsin.adapters.stores.sqlite.place import (
    EngineLock,
    StoreFiles,
    demand_no_remains,
    is_held,
    make_file,
    refuse_network,
    size_of,
)
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from datetime import timedelta
    from types import TracebackType

    from tocsin.adapters.stores.sqlite.connection import SqliteSession
    from tocsin.settings import SignalSettings


class SqliteStore(SqlStore):
    """A store in one SQLite file; implements ports.Store. Made by `open_store`."""

    _database: SqliteDatabase

    def __init__(self, database: SqliteDatabase, options: Options, opened: AsyncExitStack) -> None:
        super().__init__(database, options)
        self._opened = opened

    async def keep_place(self) -> bool:
        return await self._database.keep_place()

    async def foreign_revision(self) -> int | None:
        return await self._database.foreign_revision(latest_revision)

    async def is_held(self) -> bool:
        return await self._database.reader.run(lambda _: is_held(self._database.path))

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        return run_backup(Backup(self._database.path, target, self._database.busy))

    async def check(self) -> list[str]:
        async with self._database.apart(one_instant=True) as read:
            return await read(lambda db: list(findings(db)))

    async def without_digest(self) -> dict[str, int]:
        return await self._view(without_digest)

    async def close(self) -> None:
        """Close the connections and give up the engine lock; closing twice is closing once."""
        try:
            await self._database.close()
        finally:
            await self._opened.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


async def open_sqlite(
    path: str,
    *,
    engine: bool,
    create: bool,
    history: bool,
    gather: timedelta,
    storms: SignalSettings,
    busy: timedelta,
    timer: Callable[[], float],
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
        return SqliteStore(database, Options(history, gather, storms, timer), opened.pop_all())


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
