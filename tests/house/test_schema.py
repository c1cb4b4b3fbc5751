"""The schema that migrations add up to, as a file that shows each change of it in review."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.adapters.stores.sqlite.store import apply_migrations, migrations

GOLDEN = Path(__file__).with_name("sqlite_schema.sql")


def schema() -> str:
    """What a store holds after all migrations: every table and index, by name."""
    with closing(connect(":memory:", busy=timedelta(), writes=True)) as db:
        list(apply_migrations(db, ":memory:"))
        rows = db.execute("select sql from sqlite_schema where sql is not null order by type desc, name")
        return "".join(f"{sql};\n" for (sql,) in rows)


def test_the_schema_is_the_sum_of_the_migrations() -> None:
    assert schema() == GOLDEN.read_text("utf-8"), f"meant? then write the new one: python -m {__name__}"


def test_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in migrations()] == list(range(1, len(migrations()) + 1))


def test_every_table_is_strict() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        list(apply_migrations(db, ":memory:"))
        tables = db.execute("select name, strict from pragma_table_list where name not like 'sqlite_%'").fetchall()

    assert {name for name, strict in tables if not strict} == set()


if __name__ == "__main__":
    GOLDEN.write_text(schema(), "utf-8")
