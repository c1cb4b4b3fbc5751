"""The store on SQLite: its roles put together, opened and closed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from tocsin.adapters.stores.sql.attention.attention import AttentionRole
from tocsin.adapters.stores.sql.attention.question_lists import QuestionListRole
from tocsin.adapters.stores.sql.attention.storming import StormRole
from tocsin.adapters.stores.sql.awareness.alert_lists import AlertListRole
from tocsin.adapters.stores.sql.awareness.alerts import AlertRole
from tocsin.adapters.stores.sql.awareness.render_queue import RenderRole
from tocsin.adapters.stores.sql.care.access import AccessRole
from tocsin.adapters.stores.sql.care.activity import ActivityRole
from tocsin.adapters.stores.sql.care.care import CareRole
from tocsin.adapters.stores.sql.care.figures import FigureRole
from tocsin.adapters.stores.sql.care.jobs import JobRole
from tocsin.adapters.stores.sql.care.table import TableRole
from tocsin.adapters.stores.sql.checking.rounds import RoundRole
from tocsin.adapters.stores.sql.checking.work import WorkRole
from tocsin.adapters.stores.sql.claims import end_leases
from tocsin.adapters.stores.sql.knowledge.items import ItemRole
from tocsin.adapters.stores.sql.knowledge.signals import SignalRole
from tocsin.adapters.stores.sql.knowledge.snapshots import SnapshotRole
from tocsin.adapters.stores.sql.pages.browsing import BrowseRole
from tocsin.adapters.stores.sql.pages.watchlist import WatchRole
from tocsin.adapters.stores.sql.role import Options
from tocsin.adapters.stores.sqlite.connection import MAPPED, MAPPED_OF_ENGINE, Lane, open_lane, write_ahead
from tocsin.adapters.stores.sqlite.faults import reached
from tocsin.adapters.stores.sqlite.keep import keep_before_migration, kept_name
from tocsin.adapters.stores.sqlite.migrations import apply_migrations, demand_current, migrations, version_of
from tocsin.adapters.stores.sqlite.place import (
    EngineLock,
    StoreFiles,
    demand_no_remains,
    make_file,
    refuse_network,
    size_of,
)
from tocsin.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator, Callable
    from datetime import timedelta
    from types import TracebackType

    from tocsin.settings import SignalSettings


class SqliteStore(
    WorkRole,
    RenderRole,
    AttentionRole,
    AlertRole,
    WatchRole,
    RoundRole,
    SignalRole,
    StormRole,
    SnapshotRole,
    ItemRole,
    TableRole,
    CareRole,
    BrowseRole,
    AlertListRole,
    QuestionListRole,
    ActivityRole,
    AccessRole,
    JobRole,
    FigureRole,
):
    """A store in one SQLite file; implements ports.Store. Made by `open_store`.

    It writes through one connection and reads through another, each on a thread of its own; whoever looks at lists has
    a third one.
    """

    def __init__(self, writer: Lane, reader: Lane, options: Options, opened: AsyncExitStack) -> None:
        super().__init__(writer, reader, options)
        self._opened = opened

    async def close(self) -> None:
        """Close the connections and give up the engine lock; twice is once."""
        try:
            await self._viewer.close()
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
        options = Options(path, StoreFiles(path), history, gather, storms, busy, lock, timer)
        return SqliteStore(writer, reader, options, opened.pop_all())


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


def _prepare(db: sqlite3.Connection, path: str, *, engine: bool, busy: timedelta) -> None:
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
