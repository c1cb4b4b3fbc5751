"""A store of the second version is taken over whole, with rows of every kind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from tests.contract.desk import NOW, Desk, new_page, url_of
from tocsin.adapters.stores import migrate, open_store
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.migrations import APPLICATION_ID, migrations
from tocsin.errors import StoreError
from tocsin.model import CheckReport, PageFilter, Validators

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

CHECKED, FAILED, NEW, OFF = (f"https://one.example/{name}" for name in ("checked", "failed", "new", "off"))
REPORT = CheckReport(
    CHECKED, "minor", changed=("created",), rule="T47", declares=("created", "topper"), status=200,
    final_url="https://two.example/", attempts=1, bytes=900, elapsed_ms=12,
)  # fmt: skip
TROUBLE = CheckReport(FAILED, "unreachable", attempts=3, error=("connect", "refused"), next_try=NOW)
BEFORE = ("1", *(None,) * 11)
LATEST = ("2", *(None,) * 8, "true", None, None)
DIGEST = "2:" + "0123456789abcdef" * 2
NEWER = migrations()[2:]

_PAGES: dict[str, dict[str, Any]] = {
    CHECKED: {
        "next_at": NOW + 5, "next_why": "every 24h, at its own time", "state_id": 2, "stored_at": 40, "storings": 3,
        "last_set_at": 40, "last_checked_at": 41, "last_changed_at": 30,
        "last_report": msgspec.json.encode(REPORT).decode(),
        "outcome": "minor", "etag": '"v2"', "validators_hop": CHECKED, "body_digest": DIGEST, "body_bytes": 900,
        "saved_bytes": 70, "flags": 8, "text": "mine", "given": "https://ONE.example/checked",
    },
    FAILED: {
        "next_at": NOW + 9, "next_why": "held: tried again", "last_checked_at": 50, "outcome": "unreachable",
        "last_report": msgspec.json.encode(TROUBLE).decode(), "question_id": 1, "last_modified": "yesterday",
        "validators_hop": "https://two.example/", "body_digest": "1:abc", "request_id": 1, "settings": '{"every":"6h"}',
    },
    NEW: {"next_at": NOW, "next_why": "first check", "paused": 1},
    OFF: {"next_why": "off", "rule_id": 1, "rule": '{"kind":"again"}'},
}  # fmt: skip


def make_second_version(path: Path) -> None:
    """A store as the second version of the schema has it."""
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db, transaction(db, durable=True):
        for migration in migrations()[:2]:
            for statement in migration.statements:
                db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute("pragma user_version = 2")
        insert(db, "hosts", id=1, name="one.example", shard=7)
        insert(db, "hosts", id=2, name="gone.example", shard=8)
        for number, (url, columns) in enumerate(_PAGES.items(), 1):
            insert(db, "pages", id=number, url=url, host_id=1, added_at=0, **columns)
        # A page that was removed: its id is never used again.
        insert(db, "pages", id=99, url="https://gone.example/", host_id=2, added_at=0)
        db.execute("delete from pages where id = 99")
        record = {"page_id": 1, "in_table": 1}
        insert(
            db, "states", id=1, first_at=10, last_at=20, storings=2, fields=json.dumps(BEFORE), table_from=10, **record
        )
        insert(db, "states", id=2, first_at=30, last_at=30, fields=json.dumps(LATEST), table_from=40, **record)
        verdict = {"page_id": 1, "state_id": 2, "at": 30, "outcome": "minor", "rule": "T47", "basis": "declared"}
        insert(db, "verdicts", id=1, data="{}", awareness=1, **verdict)
        insert(db, "renders", page_id=1, major=0, since=30)
        insert(db, "renderings", page_id=1, started_at=5, rendering="{}")
        insert(db, "copies", page_id=1, target=FAILED, url="https://copy.example/", kind="mset", seen_at=5)
        question = {"host_id": 1, "cause": "connect", "during": "check", "attempts": "[]", "first_page_id": 2}
        insert(db, "questions", id=1, opened_at=50, announce_at=60, **question)
        insert(db, "rules", id=1, scope="page", page_id=4, instruction='{"kind":"again"}', created_at=1)
        insert(db, "requests", id=1, created_at=50, pages=1)


def insert(db: sqlite3.Connection, table: str, **columns: Any) -> None:
    """Write a row."""
    names, places = ", ".join(columns), ", ".join(f":{name}" for name in columns)
    db.execute(f"insert into {table} ({names}) values ({places})", columns)  # noqa: S608 - names of this file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store of the second version."""
    make_second_version(tmp_path / "tocsin.db")
    return tmp_path


async def test_a_store_of_the_second_version_is_sound_after_its_migration(folder: Path) -> None:
    steps = [step async for step in migrate(url_of(folder))]

    assert steps == [(done, len(NEWER)) for done in range(len(NEWER) + 1)]
    async with await open_store(url_of(folder), engine=False) as store:
        assert await store.check() == []


async def test_what_is_known_of_pages_stays(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        rows = {row.url: row for row in await desk.store.pages(PageFilter())}
        checked, failed = rows[CHECKED], rows[FAILED]

        assert list(rows) == list(_PAGES)
        assert checked.last_report == msgspec.json.decode(msgspec.json.encode(REPORT))
        assert failed.last_report == msgspec.json.decode(msgspec.json.encode(TROUBLE))
        assert (checked.next_why, failed.next_why) == ("every 24h, at its own time", "held: tried again")
        assert (checked.fields, checked.stored_at, checked.text) == (LATEST, 40, "mine")
        assert (checked.given, checked.noindex, checked.saved_bytes) == ("https://ONE.example/checked", True, 70)
        assert (failed.settings, failed.question_id) == ({"every": "6h"}, 1)
        assert (rows[NEW].paused, rows[OFF].next_why) == (True, "off")
        assert [row.url for row in await desk.store.pages(PageFilter(outcome="minor"))] == [CHECKED]


async def test_what_checks_compare_with_stays(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        tasks = {task.url: task for task in await desk.store.due_pages(desk.claim, [1], NOW + 10, per_host=9)}
        checked, failed = tasks[CHECKED], tasks[FAILED]

        assert set(tasks) == {CHECKED, FAILED}
        assert checked.state is not None
        assert (checked.state.fields, checked.state.first_at, checked.state.last_at) == (LATEST, 30, 40)
        assert checked.validators == Validators('"v2"', None, CHECKED)
        assert failed.validators == Validators(None, "yesterday", "https://two.example/")
        assert (checked.body_digest, failed.body_digest) == (DIGEST, "1:abc")


async def test_history_and_table_stay(folder: Path) -> None:
    async with await open_store(url_of(folder), engine=True) as store:
        history = await store.history(CHECKED, limit=9)
        table = [(row.stored_at, row.fields[0]) async for row in await store.table_rows()]

        assert [(run.first_at, run.last_at, run.storings) for run in history] == [(30, 40, 3), (10, 20, 2)]
        assert len(history[0].verdicts) == 1
        assert table == [(10, "1"), (20, "1"), (40, "2")]


def counts(folder: Path, tables: Iterable[str]) -> list[int]:
    """How many rows these tables have."""
    with closing(sqlite3.connect(folder / "tocsin.db")) as db:
        return [db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables]  # noqa: S608 - names below


async def test_what_hangs_on_pages_is_still_theirs_and_goes_with_them(folder: Path) -> None:
    tables = ("verdicts", "renders", "renderings", "copies", "rules", "states")
    async with await open_store(url_of(folder), engine=True) as store:
        before = counts(folder, tables)

        await store.remove_pages([1, 2, 3, 4])

        assert before == [1, 1, 1, 1, 1, 2]
        assert counts(folder, tables) == [0] * 6
        assert await store.check() == []


async def test_ids_of_pages_that_were_removed_are_not_used_again(folder: Path) -> None:
    async with await open_store(url_of(folder), engine=True) as store:
        assert await store.add_pages([new_page("https://three.example/")], NOW) == [100]


def hosts_of(folder: Path) -> set[str]:
    """The hosts that are known."""
    with closing(sqlite3.connect(folder / "tocsin.db")) as db:
        return {name for (name,) in db.execute("select name from hosts")}


async def test_T64_a_host_that_nothing_was_watched_of_is_forgotten(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        await desk.watch("https://left.example/")
        await desk.store.remove_pages([100])
        await desk.store.prune(NOW, history=timedelta(days=30), limit=1000)

    assert hosts_of(folder) == {"one.example"}


async def test_a_host_that_is_watched_again_is_kept(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        await desk.watch("https://gone.example/again")
        await desk.store.prune(NOW, history=timedelta(days=30), limit=1000)

    assert hosts_of(folder) == {"one.example", "gone.example"}


async def test_a_store_whose_rows_refer_to_nothing_is_left_as_it_is(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "tocsin.db")) as db, db:
        db.execute("update verdicts set page_id = 77")

    with pytest.raises(StoreError, match=r"table verdicts refers to rows of pages that are gone; nothing was migrated"):
        await open_store(url_of(folder), engine=True)

    with closing(sqlite3.connect(folder / "tocsin.db")) as db:
        assert db.execute("pragma user_version").fetchone() == (2,)
        assert db.execute("select count(*) from pages").fetchone() == (4,)


async def test_two_pages_of_one_key_are_told_apart(tmp_path: Path) -> None:
    desk = await Desk.at(tmp_path)
    async with desk.store:
        await desk.watch(CHECKED, FAILED)
        with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db, db:
            db.execute("update pages set key = (select key from pages where id = 2)")

        assert (await desk.page(FAILED)).id == 2
        assert await desk.store.add_pages([new_page(FAILED)], NOW) == [None]
