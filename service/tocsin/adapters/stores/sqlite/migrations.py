"""Numbered migrations, forward only; `PRAGMA user_version` is the number of the last one applied."""

from __future__ import annotations

import re
import sqlite3
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.adapters.stores.sqlite.connection import transaction
from tocsin.errors import StoreError, StoreOutdated, StoreTooNew
from tocsin.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterator

# Marks a file as a store of Tocsin ("Tocs").
APPLICATION_ID = 0x546F6373

# For indexes of a million rows; only while they are made.
_CACHE_KIB = 64 * 1024
_FILE = re.compile(r"(\d{4})_(\w+)\.sql")


class Migration(Struct, frozen=True):
    """One step from a version of the schema to the next."""

    number: int
    name: str
    statements: tuple[str, ...]


def migrations() -> tuple[Migration, ...]:
    """Read the migrations that this program knows, in order."""
    files = sorted((shipped("migrations") / "sqlite").iterdir())
    return tuple(
        Migration(int(match[1]), match[2], tuple(_statements(path.read_text(encoding="utf-8"))))
        for path in files
        if (match := _FILE.fullmatch(path.name))
    )


def version_of(db: sqlite3.Connection, path: str) -> int:
    """Tell a store's version, 0 for an empty database; raises StoreError for a database of another program."""
    version: int = db.execute("pragma user_version").fetchone()[0]
    (marked,) = db.execute("pragma application_id").fetchone()
    (tables,) = db.execute("select count(*) from sqlite_schema").fetchone()
    if marked != APPLICATION_ID and (version or tables or marked):
        raise StoreError(f"{path}: a database of another program; name another file in store.url")
    return version


def demand_current(db: sqlite3.Connection, path: str) -> None:
    """Raise StoreTooNew or StoreOutdated unless the store is of this program's version."""
    version, newest = version_of(db, path), migrations()[-1].number
    _refuse_newer(path, version, newest)
    if version < newest:
        raise StoreOutdated(
            f"{path}: the store is of version {version}, this program needs {newest}; run `tocsin store migrate`"
        )


def apply_migrations(db: sqlite3.Connection, path: str) -> Iterator[tuple[int, int]]:
    """Apply what is missing, a transaction each; yields (done, all) before the first and after each.

    A new store is made in one transaction: another process that opens it meanwhile finds nothing, or all of it.
    """
    known = migrations()
    version = version_of(db, path)
    _refuse_newer(path, version, known[-1].number)
    missing = [migration for migration in known if migration.number > version]
    yield 0, len(missing)
    done = 0
    for together in [missing] if version == 0 else [[migration] for migration in missing]:
        with _unreferenced(db), transaction(db, durable=True):
            for migration in together:
                # Another process may have been first while we waited for the lock.
                if version_of(db, path) < migration.number:
                    _apply(db, path, migration)
        done += len(together)
        yield done, len(missing)


def _apply(db: sqlite3.Connection, path: str, migration: Migration) -> None:
    for statement in migration.statements:
        db.execute(statement)
    _demand_references(db, path)
    db.execute(f"pragma application_id = {APPLICATION_ID}")
    db.execute(f"pragma user_version = {migration.number}")


@contextmanager
def _unreferenced(db: sqlite3.Connection) -> Iterator[None]:
    """Let tables be made anew, without what refers to them going with the old ones, and with room to sort in."""
    (cache,) = db.execute("pragma cache_size").fetchone()
    db.execute("pragma foreign_keys = off")
    db.execute(f"pragma cache_size = -{_CACHE_KIB}")
    try:
        yield
    finally:
        db.execute(f"pragma cache_size = {cache}")
        db.execute("pragma foreign_keys = on")


def _demand_references(db: sqlite3.Connection, path: str) -> None:
    """Raise StoreError if a row refers to one that is not there: the migration is undone."""
    broken = db.execute("pragma foreign_key_check").fetchone()
    if broken is not None:
        raise StoreError(
            f"{path}: table {broken[0]} refers to rows of {broken[2]} that are gone; nothing was migrated: "
            "`tocsin store check` of the version before says more, or restore a backup"
        )


def _refuse_newer(path: str, version: int, newest: int) -> None:
    if version > newest:
        raise StoreTooNew(
            f"{path}: the store is of version {version}, this program knows {newest}; "
            "update the program, or restore a backup made before the store was migrated"
        )


def _statements(script: str) -> Iterator[str]:
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement.strip()
            statement = ""
