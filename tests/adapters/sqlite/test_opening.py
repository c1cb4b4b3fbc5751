"""Opening a store: what is made, what is refused, and in which words."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import stat
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tocsin.adapters.stores import migrate, open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.stores.sqlite.connection import SqliteDatabase
from tocsin.adapters.stores.sqlite.store import migrations
from tocsin.errors import StoreError, StoreLocked, StoreLost, StoreTooNew, UsageError
from tocsin.model import NewPage, PageFilter

PAGE = NewPage("https://one.example/", "https://one.example/", "one.example", 7)
NEWEST = migrations()[-1].number


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store lies."""
    return tmp_path / "tocsin.db"


def database_of(store: SqlStore) -> SqliteDatabase:
    """Reach the connections of a store."""
    database = store._database
    assert isinstance(database, SqliteDatabase)
    return database


async def opened(path: Path, **options: Any) -> None:
    """Open the store, and close it again."""
    async with await open_store(f"sqlite:{path}", **{"engine": False, **options}) as store:
        await store.count_pages(PageFilter())


def set_version(path: Path, version: int) -> None:
    """Let the store be of another version."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"pragma user_version = {version}")


async def test_a_store_is_made_by_the_first_who_writes(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        await store.add_pages([PAGE], 0)
        assert await store.check() == []
    # The list and its credentials are private (T64).
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_a_command_that_only_reads_makes_no_store(path: Path) -> None:
    with pytest.raises(StoreError, match=r"no store yet; `tocsin watch add URL` makes one"):
        await opened(path, create=False)

    assert not path.exists()


async def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no folder .*nowhere; make it"):
        await opened(tmp_path / "nowhere" / "tocsin.db")


async def test_a_folder_that_cannot_be_written_is_named_with_the_mend() -> None:
    # A folder in which nobody may make a file, whoever runs this.
    with pytest.raises(StoreError, match=r"/proc/tocsin\.db: .*; make the folder writable for this user"):
        await open_store("sqlite:/proc/tocsin.db", engine=False)


async def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="File name too long"):
        await opened(tmp_path / ("x" * 300))


async def test_a_folder_is_no_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="a folder; name a file"):
        await opened(tmp_path)


@pytest.mark.parametrize("url", ["tocsin.db", "mysql://localhost/tocsin", "sqlite:", ""])
async def test_another_kind_of_store_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="write sqlite:PATH"):
        await open_store(url, engine=False)


async def test_a_newer_store_is_refused_by_everybody(path: Path) -> None:
    await opened(path)
    set_version(path, NEWEST + 3)

    for engine in (True, False):
        with pytest.raises(StoreTooNew, match=f"version {NEWEST + 3}, this program knows {NEWEST}; update"):
            await opened(path, engine=engine)


async def test_several_commands_may_make_a_store_at_once(path: Path) -> None:
    stores = await asyncio.gather(*(open_store(f"sqlite:{path}", engine=False) for _ in range(8)))

    for store in stores:
        await store.close()


async def test_migrating_beside_an_engine_is_refused(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=True):
        with pytest.raises(StoreLocked):
            await anext(migrate(f"sqlite:{path}"))


async def test_a_database_of_another_program_is_left_alone(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("create table theirs (a)")
    before = path.read_bytes()

    for engine in (True, False):
        with pytest.raises(StoreError, match="a database of another program"):
            await opened(path, engine=engine)

    assert path.read_bytes() == before


async def test_what_is_no_database_is_said_to_be_none(path: Path) -> None:
    path.write_text("my diary, " * 1000)

    with pytest.raises(StoreError, match="not a database; name another file"):
        await opened(path)


async def test_a_damaged_store_is_said_to_be_damaged(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        await store.add_pages([PAGE], 0)
    whole = path.read_bytes()
    path.write_bytes(whole[:4096] + b"\xff" * (len(whole) - 4096))

    with pytest.raises(StoreError, match="damaged; restore a backup"):
        await opened(path)


async def test_a_writer_that_never_ends_is_named_as_the_reason(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False, busy=timedelta(milliseconds=20)) as store:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("begin immediate")

            with pytest.raises(StoreError, match="another process has kept it locked"):
                await store.add_pages([PAGE], 0)

        assert await store.add_pages([PAGE], 0) == [1]


async def test_a_full_disk_is_named_and_nothing_is_lost(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        await store.add_pages([PAGE], 0)
        # The driver's own limit stands in for the disk's.
        await database_of(store).writer.run(lambda db: db.execute("pragma max_page_count = 1"))
        many = [NewPage(f"https://one.example/{'x' * 500}{number}", "", "one.example", 7) for number in range(900)]

        with pytest.raises(StoreError, match="the disk is full; free some space"):
            await store.add_pages(many, 0)

        await database_of(store).writer.run(lambda db: db.execute("pragma max_page_count = 1000000"))
        assert await store.count_pages(PageFilter()) == 1
        assert len(await store.add_pages(many, 0)) == 900


async def test_a_store_that_cannot_be_written_is_said_to_be_read_only(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        await database_of(store).writer.run(lambda db: db.execute("pragma query_only = on"))

        with pytest.raises(StoreError, match="it cannot be written; make the file and its folder writable"):
            await store.add_pages([PAGE], 0)


async def test_a_reader_writes_nothing(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=False) as store:
        with pytest.raises(StoreError, match="cannot be written"):
            await database_of(store).reader.run(lambda db: db.execute("delete from pages"))


async def test_only_an_engine_maps_the_store_so_that_commands_take_no_memory_for_it(path: Path) -> None:
    async def mapped(*, engine: bool) -> list[int]:
        async with await open_store(f"sqlite:{path}", engine=engine) as store:
            reading: list[int] = await store._read(lambda db: db.execute("pragma mmap_size").fetchone())
            viewing: list[int] = await store._view(lambda db: db.execute("pragma mmap_size").fetchone())
            return [*reading, *viewing]

    assert await mapped(engine=False) == [0, 0]
    assert all(size > 2**30 for size in await mapped(engine=True))


async def test_nothing_is_written_to_a_store_after_its_file_was_removed(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        assert not await store.keep_place()
        path.unlink()

        with pytest.raises(StoreLost, match="moved or removed while in use"):
            await store.keep_place()
        with pytest.raises(StoreLost):
            await store.add_pages([PAGE], 0)


@pytest.mark.parametrize("ending", ["", "-wal"])
async def test_what_was_committed_is_in_the_stores_file_after_that_or_its_log_was_taken_away(
    path: Path, ending: str
) -> None:
    copy = path.with_name("copy.db")
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        await store.add_pages([PAGE], 0)
        path.with_name(f"{path.name}{ending}").rename(path.with_name("aside"))

        with pytest.raises(StoreLost):
            await store.keep_place()
        shutil.copy(path if ending else path.with_name("aside"), copy)

    async with await open_store(f"sqlite:{copy}", engine=True) as store:
        assert await store.count_pages(PageFilter()) == 1


async def test_a_lock_file_that_was_removed_is_made_anew_and_told(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        path.with_name(f"{path.name}.lock").unlink()

        assert await store.keep_place()
        assert await store.is_held()


async def test_a_store_reached_through_a_link_has_one_engine(path: Path) -> None:
    link = path.with_name("link.db")
    await opened(path)
    link.symlink_to(path)

    async with await open_store(f"sqlite:{link}", engine=True) as store:
        assert await store.is_held()
        assert path.with_name(f"{path.name}.lock").exists()
        with pytest.raises(StoreLocked):
            await opened(path, engine=True)


async def test_a_next_engine_need_not_wait_for_the_lease_of_one_that_is_gone(path: Path) -> None:
    hour = timedelta(hours=1)
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        before = await store.enter("engine", hour, {})
        # Without its lock another process is no engine, and waits.
        async with await open_store(f"sqlite:{path}", engine=False) as beside:
            assert await beside.enter("engine", hour, {}) is None

    async with await open_store(f"sqlite:{path}", engine=True) as store:
        after = await store.enter("engine", hour, {})

    assert before is not None
    assert after is not None


@pytest.mark.parametrize("engine", [True, False])
async def test_a_store_that_is_gone_is_not_begun_anew(path: Path, *, engine: bool) -> None:
    await opened(path, engine=True)
    path.write_bytes(b"")

    with pytest.raises(StoreError, match=r"the store is empty \(0 bytes\), but there was one: .*\.lock is beside it"):
        await opened(path, engine=engine)
    path.unlink()
    for create in (True, False):
        with pytest.raises(StoreError, match="the store is gone, but there was one"):
            await opened(path, engine=engine, create=create)

    assert not path.exists()


async def test_closing_twice_is_closing_once(path: Path) -> None:
    store = await open_store(f"sqlite:{path}", engine=True)
    await store.close()

    await store.close()

    await opened(path, engine=True)
