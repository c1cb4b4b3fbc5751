"""Commands that find a store of an older version, as they do when cron runs them after an update."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.adapters.sqlite.older_stores import NEWEST, add_migrations, make_store
from tests.cli.calling import Installation
from tests.origin import Origin, Page
from tocsin.adapters.stores.sqlite.place import EngineLock
from tocsin.spec.topper.table import RECORD_0

OLD = NEWEST - 1


@pytest.fixture(autouse=True)
def _newer_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_migrations(tmp_path, monkeypatch)


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    async with Origin() as site:
        site.pages["/a"] = Page("<!doctype html><title>x</title>")
        yield site


def version_of(store: Path) -> int:
    with closing(sqlite3.connect(store)) as db:
        found: int = db.execute("pragma user_version").fetchone()[0]
    return found


async def test_a_check_brings_the_store_up_to_date_keeps_a_copy_and_says_so(
    installation: Installation, origin: Origin
) -> None:
    make_store(installation.folder / "tocsin.db", OLD, origin.url("/a"))

    first = await asyncio.to_thread(installation.call, "check")
    again = await asyncio.to_thread(installation.call, "check")

    kept = installation.folder / f"tocsin.db.before-{NEWEST}.v{OLD}"
    assert (first.status, [record["outcome"] for record in first.records]) == (0, ["first"])
    assert "the store was of an older version, and was migrated" in first.err
    assert f"A copy of the old store is kept as {kept}; delete it when you no longer need it." in first.err
    assert (version_of(installation.folder / "tocsin.db"), version_of(kept)) == (NEWEST, OLD)
    assert (again.status, "older version" in again.err) == (0, False)


async def test_more_pages_are_added_to_an_older_store(installation: Installation, origin: Origin) -> None:
    make_store(installation.folder / "tocsin.db", OLD, origin.url("/b"))

    answer = await asyncio.to_thread(installation.call, "watch", "add", "--no-check", origin.url("/a"))

    assert (answer.status, answer.records[0]["added"]) == (0, True)
    assert version_of(installation.folder / "tocsin.db") == NEWEST


def test_a_migration_that_was_killed_goes_on_and_keeps_no_second_copy(installation: Installation) -> None:
    store = installation.folder / "tocsin.db"
    make_store(store, OLD, "https://one.example/a")
    earlier = installation.folder / f"tocsin.db.before-{NEWEST}.v{OLD - 1}"
    make_store(earlier, OLD - 1, "https://one.example/a")
    (installation.folder / f"tocsin.db.before-{NEWEST}.v{OLD - 1}.4711.part").touch()

    answer = installation.call("store", "migrate")

    assert answer.status == 0
    assert version_of(store) == NEWEST
    assert list(installation.folder.glob("*.before-*")) == [earlier]


def test_an_import_of_a_table_says_that_it_migrates_from_which_version_to_which_and_where_the_copy_is(
    installation: Installation,
) -> None:
    make_store(installation.folder / "tocsin.db", OLD, "https://one.example/a")
    table = installation.write("states.txt", f"{RECORD_0}\n")

    answer = installation.call("table", "import", table)

    kept = installation.folder / f"tocsin.db.before-{NEWEST}.v{OLD}"
    assert (
        f"the store is migrated from version {OLD} to {NEWEST}; a copy of the old one is kept as {kept}" in answer.err
    )
    assert version_of(kept) == OLD


@pytest.mark.parametrize("command", ["watch list", "history https://one.example/a", "store prune --yes"])
def test_a_command_that_makes_no_store_leaves_an_older_one_as_it_is(installation: Installation, command: str) -> None:
    make_store(installation.folder / "tocsin.db", OLD, "https://one.example/a")

    answer = installation.call(*command.split())

    assert answer.status == 3
    assert f"the store is of version {OLD}, this program needs {NEWEST}; run `tocsin store migrate`" in answer.err
    assert version_of(installation.folder / "tocsin.db") == OLD


def test_an_older_store_that_an_engine_holds_is_left_to_it(installation: Installation) -> None:
    store = installation.folder / "tocsin.db"
    make_store(store, OLD, "https://one.example/a")
    lock = EngineLock(str(store))

    answer = installation.call("check")

    lock.release()
    assert answer.status == 3
    assert "is working on this store; stop it first, or leave the work to it" in answer.err
    assert version_of(store) == OLD
    assert not list(installation.folder.glob("*.before-*"))
