"""How a connection is set: what it keeps in memory, and how long its log may grow; how it is opened and closed."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.connection import Lane, SqliteDatabase, connect, open_lane, write_ahead
from tocsin.adapters.stores.sqlite.place import StoreFiles
from tocsin.errors import StoreError


def opened(path: Path, *, writes: bool) -> sqlite3.Connection:
    """A connection to this file."""
    return connect(str(path), busy=timedelta(), writes=writes)


def setting(db: sqlite3.Connection, name: str) -> Any:
    """What a connection is set to."""
    return db.execute(f"pragma {name}").fetchone()[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of one page."""
    with closing(opened(tmp_path / "tocsin.db", writes=True)) as db:
        db.execute("pragma page_size = 512")
        db.execute("create table t (x blob)")
    return tmp_path / "tocsin.db"


def test_the_log_of_a_small_store_is_short(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        assert setting(db, "wal_autocheckpoint") == 4000


def test_the_log_grows_with_the_store(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        db.execute("insert into t values (zeroblob(12000000))")

    with closing(opened(path, writes=True)) as db:
        assert setting(db, "wal_autocheckpoint") == setting(db, "page_count") // 4 > 4000


def test_a_log_that_has_grown_is_cut_back(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        assert setting(db, "journal_size_limit") == 2**28


def test_what_two_connections_keep_in_memory_is_a_few_megabytes(path: Path) -> None:
    with closing(opened(path, writes=True)) as writer, closing(opened(path, writes=False)) as reader:
        assert setting(writer, "cache_size") == setting(reader, "cache_size") == -8192


def test_what_writes_maps_nothing_whatever_is_asked_for(path: Path) -> None:
    with closing(connect(str(path), busy=timedelta(), writes=True, mapped=2**31 - 2**16)) as writer:
        assert setting(writer, "mmap_size") == 0


async def test_an_opening_that_is_given_up_leaves_no_thread(path: Path) -> None:
    """It would report its end to a loop that is closed by then."""
    before = set(threading.enumerate())
    async with asyncio.TaskGroup() as group:
        opening = group.create_task(Lane(str(path), busy=timedelta(), writes=False).open(), name="open")
        await asyncio.sleep(0)
        opening.cancel()

    left = [thread.name for thread in set(threading.enumerate()) - before if "_connection_worker" in thread.name]

    assert opening.cancelled()
    assert left == []


async def test_a_closed_store_says_so_to_readers_and_writers(tmp_path: Path) -> None:
    store = await open_store(f"sqlite:{tmp_path}/new.db", engine=True)
    await store.close()

    with pytest.raises(StoreError, match="was closed; open it again"):
        await store.page("https://site.example/")
    with pytest.raises(StoreError, match="was closed; open it again"):
        await store.set_channels(())


@pytest.fixture
async def database(path: Path) -> AsyncIterator[SqliteDatabase]:
    """The same database, as an open store has it."""
    with closing(opened(path, writes=True)) as db:
        write_ahead(db, timedelta())
    async with (
        open_lane(str(path), busy=timedelta(), writes=True) as writer,
        open_lane(str(path), busy=timedelta(), writes=False) as reader,
    ):
        await writer.run(lambda db: db.execute("insert into t values (x'00')"))
        yield SqliteDatabase(str(path), writer, reader, files=StoreFiles(str(path)), lock=None, busy=timedelta())


async def store_pages(database: SqliteDatabase, count: int) -> None:
    """Commit a value that fills this many pages of the database."""
    await database.write(lambda db: db.execute("insert into t values (zeroblob(?))", (508 * count,)))


async def test_a_log_is_copied_into_its_store_once_it_has_grown_by_some_thousand_pages(
    database: SqliteDatabase, path: Path
) -> None:
    before = path.stat().st_size
    await store_pages(database, 3900)
    await database.copy_log()
    assert path.stat().st_size == before

    await store_pages(database, 100)
    await database.copy_log()
    copied = path.stat().st_size
    assert copied > 4000 * 512

    # The log begins anew; it has to grow again.
    await store_pages(database, 3900)
    await database.copy_log()
    assert path.stat().st_size == copied


async def test_of_a_log_that_a_reader_still_needs_only_the_growth_counts(database: SqliteDatabase, path: Path) -> None:
    with closing(opened(path, writes=False)) as reader:
        await store_pages(database, 1000)
        reader.execute("begin")
        reader.execute("select count(*) from t").fetchone()
        await store_pages(database, 3500)
        await database.copy_log()
        copied = path.stat().st_size
        reader.execute("rollback")

        await store_pages(database, 500)
        await database.copy_log()

    assert 1000 * 512 < copied < 1500 * 512
    assert path.stat().st_size > 5000 * 512


async def test_a_commit_copies_no_log_that_is_copied_beside_it(database: SqliteDatabase, path: Path) -> None:
    await database.copy_log()
    before = path.stat().st_size

    await store_pages(database, 4000 * 3)
    assert path.stat().st_size == before

    # But where nothing copied it for long.
    await store_pages(database, 4000)
    assert path.stat().st_size > 4000 * 4 * 512


async def test_a_log_that_was_replaced_is_left_alone(database: SqliteDatabase, path: Path) -> None:
    await store_pages(database, 4500)
    log, before = path.with_name(f"{path.name}-wal"), path.stat().st_size
    shutil.copy(log, path.with_name("copy"))
    path.with_name("copy").replace(log)

    await database.copy_log()

    assert path.stat().st_size == before
