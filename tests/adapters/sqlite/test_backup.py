"""Copies of a store on SQLite, and what reaches the disk when."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.contract.desk import A, Desk
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.store import Backup
from tocsin.errors import StoreError
from tocsin.model import PageFilter

YEAR = timedelta(days=365)


async def test_a_backup_that_is_given_up_leaves_nothing(desk: Desk, tmp_path: Path) -> None:
    await desk.watch(A)
    backup = Backup(str(tmp_path / "tocsin.db"), str(tmp_path / "copy.db"), timedelta(seconds=1))
    backup.give_up()

    backup.run()

    assert [path.name for path in tmp_path.iterdir() if "copy" in path.name] == []


async def test_a_backup_is_not_begun_anew_by_those_who_write_meanwhile(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(500)))
    monkeypatch.setattr("tocsin.adapters.stores.sqlite.store._STEP_PAGES", 1)
    steps = count()

    class Disturbed(Backup):
        def _note(self, status: int, left: int, pages: int) -> None:
            super()._note(status, left, pages)
            assert next(steps) <= pages
            desk.behind.alter("update pages set text = 'again' where id = 1")

    Disturbed(str(tmp_path / "tocsin.db"), str(tmp_path / "copy.db"), timedelta(seconds=5)).run()

    async with await open_store(f"sqlite:{tmp_path / 'copy.db'}", engine=False, create=False) as other:
        assert [page.text for page in await other.pages(PageFilter(urls=("https://h0.example/",)))] == [None]


async def test_T64_a_store_and_its_backup_are_for_their_owner_alone(desk: Desk, tmp_path: Path) -> None:
    await desk.backup(tmp_path / "copy.db")

    assert {path.name: path.stat().st_mode & 0o077 for path in tmp_path.iterdir() if ".db" in path.name} == {
        "tocsin.db": 0,
        "tocsin.db-wal": 0,
        "tocsin.db-shm": 0,
        "tocsin.db.lock": 0,
        "copy.db": 0,
    }


async def test_a_step_is_flushed_to_the_disk_once_others_may_write(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    (page_id,), flushed = await desk.watch(A), list[int]()

    def fsync(number: int) -> None:
        with desk.behind.write_lock():
            flushed.append(os.fstat(number).st_ino)

    monkeypatch.setattr("os.fsync", fsync)
    await desk.store.remove_pages([page_id])

    assert flushed == [(desk.folder / "tocsin.db-wal").stat().st_ino]


async def test_a_backup_is_a_store_like_the_original(desk: Desk, tmp_path: Path) -> None:
    await desk.watch(A)
    await desk.check(A, "1")

    steps = await desk.backup(tmp_path / "copy.db")

    assert steps[-1][0] == steps[-1][1] > 0
    async with await open_store(f"sqlite:{tmp_path / 'copy.db'}", engine=False, create=False) as other:
        assert await other.check() == []
        assert await other.page(A) == await desk.store.page(A)


async def test_a_backup_never_replaces_a_file(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")

    with pytest.raises(StoreError, match=r"precious\.txt: file exists"):
        await desk.backup(tmp_path / "precious.txt")

    assert (tmp_path / "precious.txt").read_text() == "mine"


async def test_a_backup_that_cannot_be_written_says_so(desk: Desk, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no folder/copy"):
        await desk.backup(tmp_path / "no folder" / "copy.db")


async def test_a_backup_is_of_one_instant_while_others_write(desk: Desk, tmp_path: Path) -> None:
    pages = [f"https://h{number}.example/" for number in range(200)]
    await desk.watch(*pages)
    tasks = await desk.due()
    stop = asyncio.Event()

    async def write() -> None:
        # Each batch stores one version for all pages: a torn copy would hold two.
        for version in count():
            if stop.is_set():
                return
            desk.now += 1
            results: list[Any] = [
                desk.result(task, f"{version}", verdict=None) for task in (await desk.due() if version else tasks)
            ]
            await desk.store.commit(desk.claim, results)

    async with asyncio.TaskGroup() as group:
        group.create_task(write(), name="writer")
        for number in range(5):
            await desk.backup(tmp_path / f"copy{number}.db")
        stop.set()

    for number in range(5):
        async with await open_store(f"sqlite:{tmp_path / f'copy{number}.db'}", engine=False) as other:
            assert await other.check() == []
            latest = {row.url: row.fields async for row in await other.table_rows()}
            assert len(set(latest.values())) <= 1
            assert len(latest) in (0, 200)
