"""Stores of earlier versions, and a program that knows migrations made up for tests."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from tocsin.adapters.stores.sql.values import row_digest, url_key
from tocsin.adapters.stores.sqlite.connection import connect, transaction
from tocsin.adapters.stores.sqlite.store import APPLICATION_ID, migrations
from tocsin.shipped import shipped

# The version of this program, and that of the made-up one.
FIRST = migrations()[-1].number
NEWEST = FIRST + 2

_MADE_UP = {
    # Rows of item_changes refer to renderings: they must outlive the old table.
    f"{FIRST + 1:04}_renderings.sql": """
        create table renderings_new (
          id integer primary key, page_id integer not null references pages (id) on delete cascade,
          started_at integer not null, rendering text not null, digest integer, seconds integer
        ) strict;
        insert into renderings_new select *, null from renderings;
        drop table renderings;
        alter table renderings_new rename to renderings;
        create index renderings_by_page on renderings (page_id, id);
        """,
    f"{FIRST + 2:04}_more.sql": "-- One thing more; and a text.\ncreate table more (a any) strict;\n",
}


def add_migrations(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the program know the made-up migrations; returns the folder that they are in."""
    known = folder / "shipped" / "sqlite"
    shutil.copytree(shipped("migrations") / "sqlite", known)
    for name, script in _MADE_UP.items():
        (known / name).write_text(script, "utf-8")
    monkeypatch.setattr("tocsin.adapters.stores.sqlite.store.shipped", lambda _: known.parent)
    return known


def make_store(path: Path, version: int, *urls: str) -> None:
    """Make a store of that version with these pages; the first one has a note, settings and a rendering."""
    with closing(connect(str(path), busy=timedelta(), writes=True)) as db, transaction(db, durable=True):
        for migration in migrations()[:version]:
            for statement in migration.statements:
                db.execute(statement)
        db.execute(f"pragma application_id = {APPLICATION_ID}")
        db.execute(f"pragma user_version = {version}")
        _fill(db, urls)


def _fill(db: sqlite3.Connection, urls: tuple[str, ...]) -> None:
    host = urls[0].split("/")[2].partition(":")[0]
    db.execute("insert into hosts (id, name, shard) values (1, ?, 7)", (host,))
    db.executemany(
        "insert into pages (id, url, key, host_id, added_at, next_at, next_why, room)"
        "values (?, ?, ?, 1, 0, 0, 'first check', zeroblob(64))",
        [(number, url, url_key(url)) for number, url in enumerate(urls, 1)],
    )
    db.execute("""update pages set text = 'mine', settings = '{"tell":"major"}' where id = 1""")
    db.execute("update groups set pages = ? where id = 1", (len(urls),))
    row = (1, 7, "{}")
    db.execute(
        "insert into renderings (id, page_id, started_at, rendering, digest) values (3, ?, ?, ?, ?)",
        (*row, row_digest(*row)),
    )
    db.execute("insert into item_changes (id, page_id, at, changes) values (3, 1, 7, '{\"changes\":[]}')")
