"""A store of the third version is taken over whole; what it knows of signals begins empty."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.adapters.test_sqlite_migration import insert
from tests.contract.desk import DAY, NOW, A, B, Desk, fields, url_of
from tocsin.adapters.stores import migrate, open_store
from tocsin.adapters.stores.sql.codec import write_fields
from tocsin.adapters.stores.sql.packing import pack_digest, url_key
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.migrations import _FUNCTIONS, APPLICATION_ID, migrations
from tocsin.model import Listing, PageKnowledge, SignalContext, Snapshot, VerdictRow

if TYPE_CHECKING:
    from pathlib import Path

THIRD = 3
KNOWN = PageKnowledge("1", {"etag": '"v1"'})


def make_third_version(path: Path) -> None:
    """A store as the third version of the schema has it: two pages, one of them with two states and a verdict."""
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db, transaction(db, durable=True):
        for name, takes, function in _FUNCTIONS:
            db.create_function(name, takes, function, deterministic=True)
        for migration in migrations()[:THIRD]:
            for statement in migration.statements:
                db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {THIRD}")
        insert(db, "hosts", id=1, name="one.example", shard=7)
        page = {"host_id": 1, "added_at": 0, "next_at": NOW, "next_why": "~24h"}
        seen = {"state_id": 2, "stored_at": 40, "storings": 3, "body_digest": pack_digest("2:" + "0f" * 16)}
        insert(db, "pages", id=1, key=url_key(A), url=A, flags=8, **page, **seen)
        insert(db, "pages", id=2, key=url_key(B), url=B, **page)
        states = {"page_id": 1, "in_table": 1}
        insert(db, "states", id=1, first_at=10, last_at=20, fields=write_fields(fields("1")), **states)
        insert(db, "states", id=2, first_at=30, fields=write_fields(fields("2")), **states)
        verdict = {"page_id": 1, "state_id": 2, "at": 30, "outcome": "major", "rule": "T44", "basis": "declared"}
        insert(db, "verdicts", id=1, data="{}", awareness=1, **verdict)
        insert(db, "renders", page_id=1, major=1, since=30)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store of the third version."""
    make_third_version(tmp_path / "tocsin.db")
    return tmp_path


async def test_a_store_of_the_third_version_is_sound_after_its_migration(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "tocsin.db")) as db:
        before = db.execute("pragma user_version").fetchone()

    steps = [step async for step in migrate(url_of(folder))]

    newer = len(migrations()) - THIRD
    assert (before, steps[0], steps[-1]) == ((THIRD,), (0, newer), (newer, newer))
    async with await open_store(url_of(folder), engine=False) as store:
        assert await store.check() == []


async def test_pages_states_and_what_waits_stay(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        task = await desk.task(A)
        job = await desk.job(A)

        assert task.state is not None
        assert (task.state.fields, task.state.storings, task.noindex) == (fields("2"), 3, True)
        assert (task.body_digest, task.beside, task.suspected) == ("2:" + "0f" * 16, None, False)
        assert [(verdict.id, "storm" in verdict.data) for verdict in job.verdicts] == [(1, False)]
        assert [run.fields for run in await desk.store.history(A, limit=9)] == [fields("2"), fields("1")]


async def test_signals_are_learnt_from_then_on_and_go_with_their_page(folder: Path) -> None:
    desk = await Desk.at(folder)
    async with desk.store:
        desk.now += DAY
        said = VerdictRow(desk.now, "minor", None, "S2", "inferred", {}, awareness=True, storm_key=b"key")
        text = Snapshot(b"digest", b"packed", desk.now)
        listing = Listing("feed", ((B, "2026-01-02"),))
        await desk.check(A, "2", verdict=said, known=KNOWN, snapshot=text, listing=listing)
        await desk.store.take_listings(desk.now)
        learnt = [(await desk.task(url)).beside for url in (A, B)]

        await desk.store.remove_pages([1, 2])
        await desk.store.take_listings(desk.now)

        assert learnt == [SignalContext(KNOWN), SignalContext(listed={"feed": "2026-01-02"})]
        assert await desk.store.check() == []
    with closing(sqlite3.connect(folder / "tocsin.db")) as db:
        tables = ("learnt", "snapshots", "texts", "listings", "verdicts", "states")
        left = {table: db.execute(f"select count(*) from {table}").fetchone()[0] for table in tables}  # noqa: S608 - names above
    assert left == dict.fromkeys(tables, 0)
