"""A store of the fifth version is taken over whole; its pages have no items until something reads them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.adapters.old_stores import make_store
from tests.adapters.test_sqlite_migration import insert
from tests.contract.desk import HOUR, A, B, Desk, fields
from tocsin.adapters.stores.sql.codec import write_fields
from tocsin.model import PageItems, PageQuery, View
from tocsin.spec.microdata.reading.packing import pack
from tocsin.spec.microdata.values import Microdata

if TYPE_CHECKING:
    from pathlib import Path

FIFTH = 5


def make_fifth_version(folder: Path) -> Path:
    """A store as the fifth version of the schema has it: two pages, one of them rendered and edited."""
    path = folder / "tocsin.db"
    make_store(path, FIFTH, A, B)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        insert(db, "renderings", id=3, page_id=1, started_at=7, rendering="{}")
        insert(db, "edits", page_id=1, revision=2)
    return path


async def test_a_store_of_the_fifth_version_keeps_what_it_has(tmp_path: Path) -> None:
    make_fifth_version(tmp_path)

    desk = await Desk.at(tmp_path)
    async with desk.store as store:
        (rendering,) = (await store.renderings_of(1)).rows

        assert (rendering.id, rendering.items) == (3, None)
        assert [await store.latest_items(page_id) for page_id in (1, 2)] == [None, None]
        assert [await store.items_before(page_id) for page_id in (1, 2)] == [None, None]
        assert await store.check() == []


async def test_items_are_kept_after_the_migration_and_all_goes_with_its_page(tmp_path: Path) -> None:
    path = make_fifth_version(tmp_path)
    desk = await Desk.at(tmp_path)
    async with desk.store as store:
        await desk.check(A, "1")
        desk.now += HOUR
        await desk.check(A, "2")
        found = pack(Microdata(A, None, (), ()))
        items = PageItems(desk.now, found.digest, found.packed, 0)
        await desk.render(A, items=items, changes={"changes": []})
        assert len((await store.item_changes(1)).rows) == 1

        await store.remove_pages([1])

        assert await store.check() == []
    with closing(sqlite3.connect(path)) as db:
        tables = ("items", "item_changes", "renderings", "edits", "states")
        assert [db.execute(f"select count(*) from {table}").fetchone() for table in tables] == [(0,)] * len(tables)  # noqa: S608 - names of this file


async def test_T53_what_declares_something_is_listed_as_before_and_has_no_flag_for_it(
    tmp_path: Path,
) -> None:
    path = make_fifth_version(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        values = {"first_at": 10, "fields": write_fields(fields("1"))}
        insert(db, "states", id=7, page_id=2, last_at=None, in_table=1, **values)
        db.execute("update pages set state_id = 7, stored_at = 10, storings = 1, flags = 128 | 8 where id = 2")

    desk = await Desk.at(tmp_path)
    async with desk.store as store:
        assert [page.url for page in (await store.browse_pages(PageQuery(View.DECLARING))).rows] == [B]
        assert await store.check() == []
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select flags from pages order by id").fetchall() == [(0,), (8,)]


async def test_a_page_without_items_has_no_row_that_says_so(tmp_path: Path) -> None:
    path = make_fifth_version(tmp_path)
    desk = await Desk.at(tmp_path)
    async with desk.store:
        found = pack(Microdata(A, None, (), ()))
        await desk.check(A, "1", items=PageItems(desk.now, found.digest, found.packed, 0))
        await desk.check(A, "1")

    with closing(sqlite3.connect(path)) as db:
        assert db.execute("select count(*) from items").fetchone() == (0,)
