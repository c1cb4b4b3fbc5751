"""A store of the fourth version is taken over whole: what it has is in the lists, is counted, and is found by words."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.adapters.test_sqlite_migration import insert
from tests.contract.desk import DAY, NOW, C, Desk, fields, url_of
from tocsin.adapters.stores import migrate, open_store
from tocsin.adapters.stores.sql.codec import write_fields
from tocsin.adapters.stores.sql.packing import pack_outcome, url_key
from tocsin.adapters.stores.sql.pages.words import BLOCK_PAGES
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.migrations import _FUNCTIONS, APPLICATION_ID, migrations
from tocsin.errors import StoreOutdated
from tocsin.events import CHANGED, OUTAGE_BEGAN
from tocsin.model import AlertQuery, BoundedCount, PageQuery, View

if TYPE_CHECKING:
    from pathlib import Path

FOURTH = 4
MANY = BLOCK_PAGES + 100
GONE = range(20, 40)


def url(number: int) -> str:
    """The URL of a page."""
    return f"https://one.example/page{number}z"


def make_fourth_version(path: Path) -> None:
    """A store as the fourth version of the schema has it: pages of every list, more than a block, some removed."""
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db, transaction(db, durable=True):
        for name, takes, function in _FUNCTIONS:
            db.create_function(name, takes, function, deterministic=True)
        for migration in migrations()[:FOURTH]:
            for statement in migration.statements:
                db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {FOURTH}")
        insert(db, "hosts", id=1, name="one.example", shard=7)
        insert(db, "groups", id=2, name="mine")
        for number in range(1, MANY + 1):
            if number not in GONE:
                page = {"host_id": 1, "added_at": 0, "next_at": NOW, "group_id": 1 + number % 2}
                insert(db, "pages", id=number, key=url_key(url(number)), url=url(number), **page)
        states = {"last_at": None, "in_table": 1}
        insert(db, "states", id=1, page_id=1, first_at=10, fields=write_fields(fields("1")), **states)
        insert(db, "states", id=2, page_id=2, first_at=10, fields=write_fields(fields()), **states)
        db.execute("update pages set state_id = id, stored_at = 10, outcome = 0, last_changed_at = 5 where id < 3")
        cause = {"cause": "connect", "opened_at": 0, "announce_at": 0, "during": "check", "attempts": "[]"}
        insert(db, "questions", id=1, host_id=1, **cause)
        db.execute("update pages set outcome = ?, question_id = 1 where id in (3, 4)", (pack_outcome("unreachable"),))
        db.execute("update pages set paused = 1, text = 'Custard' where id = 5")
        db.execute("update pages set next_at = null, next_why = 'off' where id = 6")
        data = {"outcome": "major", "page": {"group": "mine"}}
        for position, (kind, event) in enumerate(((CHANGED, {"data": data}), (OUTAGE_BEGAN, {"data": {}})), 1):
            alert = {"id": str(position), "position": position, "type": kind, "created_at": position, "page_id": None}
            insert(db, "alerts", event=json.dumps(event), **alert)
        db.execute("update store set position = 2")


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    """A store of the fourth version, opened by an engine of this one."""
    make_fourth_version(tmp_path / "tocsin.db")
    return await Desk.at(tmp_path)


async def test_a_store_of_the_fourth_version_is_taken_over(desk: Desk) -> None:
    store = desk.store
    async with store:
        tallies = {view: (await store.tally_pages(PageQuery(view))).number for view in View}
        groups = [(row.name, row.pages) for row in await store.group_rows()]
        found = [
            [row.id for row in (await store.browse_pages(PageQuery(words=words))).rows]
            for words in ("page7z", f"page{MANY}", "CUST", "page20z")
        ]
        kinds = [(await store.tally_alerts(AlertQuery(kind=kind))).number for kind in ("changed", "outage")]
        unseen = await store.tally_alerts(AlertQuery(unseen=True))
        of_group = (await store.browse_alerts(AlertQuery(group="mine"))).rows
        (question,) = (await store.browse_questions()).rows

        assert await store.check() == []

    all_of_them = MANY - len(GONE)
    assert tallies == {
        View.ALL: all_of_them, View.CHANGED: 2, View.PROBLEMS: 2, View.ASKED: 2, View.NEW: all_of_them - 4,
        View.DECLARING: 1, View.PAUSED: 1, View.OFF: 1,
    }  # fmt: skip
    assert groups == [("main", all_of_them // 2), ("mine", all_of_them // 2)]
    assert found == [[7], [MANY], [5], []]
    assert (kinds, unseen, [row.position for row in of_group], question.pages) == ([1, 1], BoundedCount(0), [1], 2)


async def test_what_is_added_and_told_after_the_migration_is_listed_with_the_rest(desk: Desk) -> None:
    async with desk.store as store:
        await store.remove_pages([7])
        (page_id,) = await desk.watch(C)
        await desk.check(C, "1")
        desk.now += DAY
        await desk.check(C)

        assert page_id == MANY + 1
        assert (await store.browse_pages(PageQuery(words="page7z"))).rows == ()
        assert (await store.tally_pages(PageQuery(View.DECLARING))).number == 1
        assert await store.check() == []


async def test_a_command_of_this_version_refuses_it_until_it_is_migrated(tmp_path: Path) -> None:
    make_fourth_version(tmp_path / "tocsin.db")
    with pytest.raises(StoreOutdated, match="of version 4, this program needs"):
        await open_store(url_of(tmp_path), engine=False)

    steps = [step async for step in migrate(url_of(tmp_path))]

    newer = len(migrations()) - FOURTH
    assert steps[-1] == (newer, newer)
    with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db:
        assert db.execute("pragma user_version").fetchone() == (len(migrations()),)
