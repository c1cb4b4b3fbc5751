"""Stores: where pages, states, questions and alerts are kept."""

from __future__ import annotations

import asyncio
import json
import os
import time
from contextlib import suppress
from datetime import timedelta
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.errors import StoreError, UsageError
from tocsin.settings import SignalSettings, StoreSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from types import ModuleType

    from tocsin.adapters.stores.postgres.server import ServerFacts
    from tocsin.adapters.stores.sql.store import SqlStore
    from tocsin.adapters.stores.sqlite.restore import Verified
    from tocsin.model import Instant

_TELL_S = 0.1
GATHER = timedelta(seconds=60)
STORMS = SignalSettings()
PARTS = StoreSettings().parts
BUSY = timedelta(seconds=10)


class Migrating(Struct, frozen=True):
    """A store that is about to be brought from one version to another; `copy` is where it is kept as it was."""

    before: int
    after: int
    copy: str


class Restored(Struct, frozen=True):
    """How far a restoring is; with `verified`, what was restored, and where the store before it is now."""

    done: int
    total: int
    verified: Verified | None = None
    aside: str | None = None


class CopyProgress(Struct, frozen=True):
    """How far a copying is; with `tables`, how many rows of each were copied.

    replaced  rows with a text in which U+0000 became U+FFFD
    """

    stage: str
    done: int
    total: int
    tables: dict[str, int] = {}
    replaced: int = 0


async def open_store(
    url: str,
    *,
    engine: bool,
    password: str = "",
    create: bool = True,
    parts: int = PARTS,
    history: bool = True,
    gather: timedelta = GATHER,
    storms: SignalSettings = STORMS,
    busy: timedelta = BUSY,
    timer: Callable[[], float] = time.monotonic,
    pictures: str = "",
    on_migrating: Callable[[Migrating], None] = lambda _: None,
) -> SqlStore:
    """Open a store; close it, or use it as an async context manager.

    url      "sqlite:PATH", "postgresql://USER@HOST:PORT/DATABASE"
    password  of the user of PostgreSQL
    engine   hold the engine lock, and apply missing migrations
    create   make the store where there is none; else that is an error
    parts    that the hosts of a new store are divided into, on PostgreSQL; one file is one part
    history  keep what is pruned from the table, until its retention ends
    gather   how long failures of one host and cause are gathered into one question
    storms   when the same change on many pages of a host is told once
    busy     how long to wait for another process that writes
    timer    seconds, by which long edits keep their steps short
    pictures  folder of the pictures of pages; "": beside the file, and none on PostgreSQL
    on_migrating  is told before missing migrations are applied
    Raises StoreLocked, StoreTooNew, StoreOutdated, StoreError; UsageError for another kind of URL.
    """
    from tocsin.adapters.stores.sql.role import Options  # noqa: PLC0415 - roles are loaded by those who need them

    folder = Path(pictures) if pictures else None
    if is_postgres(url):
        opened: SqlStore = await _postgres().open_postgres(
            url,
            password=password,
            engine=engine,
            create=create,
            parts=parts,
            options=Options(history, gather, storms, timer, folder),
            busy=busy,
            on_migrating=lambda before, after: on_migrating(Migrating(before, after, "")),
        )
        return opened
    from tocsin.adapters.stores.sqlite.store import open_sqlite  # noqa: PLC0415 - drivers are loaded by those who need them

    return await open_sqlite(
        _path_of(url),
        engine=engine,
        create=create,
        options=Options(history, gather, storms, timer, folder or Path(f"{_path_of(url)}.pictures")),
        busy=busy,
        on_migrating=lambda before, after, copy: on_migrating(Migrating(before, after, copy)),
    )


async def migrate(url: str, *, password: str = "", keep: bool = True) -> AsyncIterator[tuple[int, int]]:
    """Bring a store to this program's version; holds the engine lock meanwhile. Yields (steps done, all).

    keep  a copy of the store as it was, beside it (`kept_copies`); there is none of a store on PostgreSQL
    """
    if is_postgres(url):
        async for step in _postgres().migrate_postgres(url, BUSY, password=password):
            yield step
        return
    from tocsin.adapters.stores.sqlite.store import migrate_sqlite  # noqa: PLC0415 - as above

    async for step in migrate_sqlite(_path_of(url), BUSY, keep=keep):
        yield step


async def restore(url: str, source: str, *, replace: bool) -> AsyncIterator[Restored]:
    """Put a backup in the place of a store, or where there is none; holds the engine lock meanwhile.

    source   the backup: verified first, brought to this program's version, and verified again
    replace  a store that is there is kept aside, under another name; without, it is an error that there is one
    Yields the progress; the last one says what was restored. A caller that stops listening leaves everything as it was.
    Raises StoreLocked, StoreTooNew, StoreError.
    """
    if is_postgres(url):
        raise UsageError(
            "a store on PostgreSQL is restored by the tools of PostgreSQL, such as: pg_restore --dbname=URL FILE"
        )
    from tocsin.adapters.stores.sqlite.restore import Restore  # noqa: PLC0415 - as above

    work = Restore(source, _path_of(url), BUSY, replace=replace)
    running = asyncio.get_running_loop().run_in_executor(None, work.run)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_TELL_S)
            yield Restored(*work.progress)
        running.result()
    finally:
        work.give_up()
        await asyncio.wait({running})
    if work.verified is not None:
        done, total = work.progress
        yield Restored(done, total, work.verified, work.aside)


async def copy_store(
    source: str, target: str, *, password: str = "", parts: int = PARTS
) -> AsyncIterator[CopyProgress]:
    """Copy a whole store from SQLite into an empty database of PostgreSQL, or back into a new file.

    password  of PostgreSQL's user
    parts     that a new store on PostgreSQL is made with
    Yields the progress; the last one has what was copied. A caller that stops listening leaves the target empty.
    Raises StoreError, StoreLocked where an engine works on the source; UsageError for two stores of one kind.
    """
    if is_postgres(source) == is_postgres(target):
        raise UsageError(
            "one of the two must be sqlite:PATH and the other postgresql://…; see: tocsin store copy --help"
        )
    postgres = _postgres()
    from tocsin.adapters.stores.copying import StoreCopier  # noqa: PLC0415 - it needs both drivers

    path, conninfo = (_path_of(target), source) if is_postgres(source) else (_path_of(source), target)
    place = postgres.PostgresPlace(conninfo, BUSY, password=password)
    work = StoreCopier(path, place, BUSY, parts=parts, back=is_postgres(source))
    running = asyncio.get_running_loop().run_in_executor(None, work.run)
    try:
        while not running.done():
            await asyncio.wait({running}, timeout=_TELL_S)
            yield CopyProgress(work.stage, *work.progress)
        running.result()
    finally:
        work.give_up()
        await asyncio.wait({running})
    yield CopyProgress(work.stage, *work.progress, work.tables, work.replaced)


def kept_copies(url: str) -> list[Path]:
    """Find what was kept beside a store: copies from before migrations, and stores that a backup replaced."""
    if is_postgres(url):
        return []
    store = Path(_path_of(url))
    kept = (
        *store.parent.glob(f"{escape(store.name)}.before-*.v*"),
        *store.parent.glob(f"{escape(store.name)}.replaced-*"),
    )
    return sorted(file for file in kept if not file.name.endswith(("-wal", "-shm")) and ".part" not in file.name)


def demand_no_remains(url: str) -> None:
    """Raise StoreError if this store is gone, or its file is empty, and what lies beside shows that there was one."""
    from tocsin.adapters.stores.sqlite import place  # noqa: PLC0415 - as above

    place.demand_no_remains(_path_of(url))


def note_backup(url: str, file: str, at: Instant) -> None:
    """Record beside a store when it was backed up last, and where to; does nothing if that cannot be written."""
    with suppress(OSError):
        Path(_last_backup(url)).write_text(json.dumps({"at": at, "file": file}), encoding="utf-8")


def last_backup(url: str) -> tuple[Instant, str] | None:
    """Return when a store was backed up last, and where to; None if that is not known."""
    try:
        found = json.loads(Path(_last_backup(url)).read_text("utf-8"))
        return int(found["at"]), str(found["file"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _last_backup(url: str) -> str:
    return f"{_path_of(url)}.backup"


async def verify(path: str) -> Verified:
    """Read a backup whole, changing nothing. Raises StoreTooNew, StoreError for what is no backup of a store."""
    from tocsin.adapters.stores.sqlite.restore import verify as read  # noqa: PLC0415 - as above

    return await asyncio.to_thread(read, path, BUSY)


def is_postgres(url: str) -> bool:
    """Tell whether a store is in a PostgreSQL database."""
    return url.startswith(("postgresql://", "postgres://"))


def server_facts(url: str, *, password: str = "") -> ServerFacts:
    """Look at how the PostgreSQL server of a store is set up; raises StoreError where it cannot be used at all."""
    place = _postgres().PostgresPlace(url, BUSY, password=password)
    from tocsin.adapters.stores.postgres.server import examine_server  # noqa: PLC0415 - as above

    return examine_server(place)


def is_there(url: str, *, password: str = "") -> bool:
    """Tell whether there is more than the name of a store; raises StoreError where that cannot be told."""
    if is_postgres(url):
        return bool(_postgres().has_store(url, BUSY, password=password))
    path = Path(_path_of(url))
    # After a crash all that was written may still be in the log beside it.
    return any(file.is_file() and file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")))


def _postgres() -> ModuleType:
    """Load the driver of PostgreSQL; raises StoreError where it is not installed."""
    try:
        from tocsin.adapters.stores.postgres import store  # noqa: PLC0415 - drivers are loaded by those who need them
    except ImportError as exc:
        raise StoreError(
            f"store.url: PostgreSQL needs psycopg, which cannot be loaded ({exc}); "
            "install it: pip install 'tocsin[postgresql]'"
        ) from exc
    return store


def _path_of(url: str) -> str:
    scheme, _, path = url.partition(":")
    if scheme != "sqlite" or not path:
        raise UsageError(f"store.url: unknown kind of store {url!r}; write sqlite:PATH (sqlite:tocsin.db)")
    # SQLite puts its log beside the file that a link leads to, and so do we with the lock.
    return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114 - for a name that no file can have, too
