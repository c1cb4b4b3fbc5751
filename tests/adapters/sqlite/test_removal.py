"""What goes with a page that is removed, in every table that has rows of pages."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.contract.desk import A, B, Desk

OUTLIVE = {"alerts", "deliveries", "gathered", "sightings"}
"""Alerts are delivered even if their page is gone; sightings of changes end by themselves."""
LATER = {"listings"}
"""The row stays until what the feed said of other pages is taken back."""
VALUES = {"INTEGER": 1, "TEXT": "{}", "BLOB": b"", "ANY": 1}
GIVEN: dict[str, dict[str, Any]] = {"standing_answers": {"scope": "page"}, "states": {"last_at": 1}}


def tables_of_pages(db: sqlite3.Connection) -> set[str]:
    """Name the tables with a column page_id."""
    return {
        name
        for (name,) in db.execute("select name from sqlite_schema where type = 'table'")
        if any(column[1] == "page_id" for column in db.execute(f"pragma table_info({name})"))
    }


def add_row(db: sqlite3.Connection, table: str, page_id: int) -> None:
    """Write a row of that page in which only what must be there is there."""
    row: dict[str, Any] = {}
    for _, name, kind, is_needed, default, key in db.execute(f"pragma table_info({table})").fetchall():
        if name == "page_id" or (name == "id" and key):
            row[name] = page_id
        elif is_needed and default is None:
            row[name] = VALUES[kind]
    row |= GIVEN.get(table, {})
    names, places = ", ".join(row), ", ".join(f":{name}" for name in row)
    db.execute(f"insert into {table} ({names}) values ({places})", row)  # noqa: S608 - names of the schema


@pytest.fixture
async def desk(tmp_path: Path) -> Desk:
    """A store with two pages."""
    desk = await Desk.at(tmp_path)
    await desk.watch(A, B)
    return desk


async def test_all_rows_of_a_removed_page_go_with_it_and_no_row_of_another(desk: Desk, tmp_path: Path) -> None:
    async with desk.store as store:
        with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db, db:
            tables = tables_of_pages(db) - OUTLIVE - LATER
            # Rows of item_changes refer to renderings.
            for table in sorted(tables, reverse=True):
                for page_id in (1, 2):
                    add_row(db, table, page_id)

        await store.remove_pages([1])

        with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db:
            left = {table: db.execute(f"select page_id from {table}").fetchall() for table in tables}  # noqa: S608 - as above
    assert len(left) > 10
    assert left == {table: [(2,)] for table in tables}
