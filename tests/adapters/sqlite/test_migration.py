"""Migrations of a store: what they keep, and when nothing is migrated."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sqlite.older_stores import FIRST, NEWEST, add_migrations, make_store
from tocsin.adapters.stores import migrate, open_store
from tocsin.adapters.stores.sqlite.store import apply_migrations
from tocsin.errors import StoreError, StoreOutdated
from tocsin.model import PageFilter

A, B = "https://one.example/a", "https://one.example/b"


@pytest.fixture
def known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the migrations that the program knows."""
    return add_migrations(tmp_path, monkeypatch)


@pytest.fixture
def path(known: Path, tmp_path: Path) -> Path:
    """A store of the first version; the program is of the third."""
    assert known.is_dir()
    store = tmp_path / "tocsin.db"
    make_store(store, FIRST, A, B)
    return store


def ask(path: Path, statement: str) -> list[tuple[Any, ...]]:
    """Ask the store beside the program."""
    with closing(sqlite3.connect(path)) as db, db:
        return db.execute(statement).fetchall()


async def test_an_older_store_is_left_to_migrate_by_commands(path: Path) -> None:
    wanted = f"version {FIRST}, this program needs {NEWEST}; run `tocsin store migrate`"
    with pytest.raises(StoreOutdated, match=wanted):
        await open_store(f"sqlite:{path}", engine=False)

    assert ask(path, "pragma user_version") == [(FIRST,)]


async def test_an_older_store_is_brought_up_to_date_by_an_engine_with_all_that_it_has(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        pages = [(row.url, row.text, row.settings) for row in await store.pages(PageFilter())]

        assert pages == [(A, "mine", {"tell": "major"}), (B, None, {})]
        assert await store.check() == []
    assert ask(path, "pragma user_version") == [(NEWEST,)]


async def test_migrating_reports_its_progress_and_is_done_once(path: Path) -> None:
    first = [step async for step in migrate(f"sqlite:{path}")]
    again = [step async for step in migrate(f"sqlite:{path}")]

    assert (first, again) == ([(0, 2), (1, 2), (2, 2)], [(0, 0)])


async def test_rows_that_refer_to_a_table_made_anew_are_kept_and_still_go_with_it(path: Path) -> None:
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        kept = ask(path, "select id, page_id, seconds from renderings"), ask(path, "select id from item_changes")

        await store.remove_pages([1])

    assert kept == ([(3, 1, None)], [(3,)])
    assert (ask(path, "select * from renderings"), ask(path, "select * from item_changes")) == ([], [])


async def test_a_migration_that_fails_undoes_itself_and_keeps_those_before_it(path: Path, known: Path) -> None:
    (known / f"{NEWEST:04}_more.sql").write_text("create table more (a);\ninsert into no_such_table values (1);\n")

    with pytest.raises(StoreError):
        await open_store(f"sqlite:{path}", engine=True)

    assert ask(path, "pragma user_version") == [(NEWEST - 1,)]
    assert ask(path, "select count(*) from sqlite_schema where name = 'more'") == [(0,)]


async def test_a_store_whose_rows_refer_to_nothing_is_left_as_it_is(path: Path) -> None:
    ask(path, "update renderings set page_id = 77")

    message = r"table renderings refers to rows of pages that are gone; nothing was migrated"
    with pytest.raises(StoreError, match=message):
        await open_store(f"sqlite:{path}", engine=True)

    assert ask(path, "pragma user_version") == [(FIRST,)]
    assert ask(path, "select page_id from renderings") == [(77,)]


@pytest.mark.usefixtures("known")
def test_a_new_store_is_made_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as maker:
        found = [ask(path, "pragma user_version") for _ in apply_migrations(maker, str(path))]

    assert found == [[(0,)], [(NEWEST,)]]
