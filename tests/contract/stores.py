"""The stores that the contract suite runs on, and how its tests reach each of them behind the port."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

import psycopg

from tests.postgres import postgres
from tocsin.adapters.stores.postgres.session import PostgresSession
from tocsin.adapters.stores.sql.session import SqlSession
from tocsin.adapters.stores.sqlite.connection import connect


class Look(Protocol):
    """Reads from a store: a query with question marks, and its values."""

    def __call__(self, query: str, /, *values: object) -> list[tuple[Any, ...]]: ...


class StoreBehind(Protocol):
    """A store as other programs reach it. Statements have question marks for their values."""

    kind: str
    url: str

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what another process would read now."""

    @contextmanager
    def reading(self) -> Iterator[Look]:
        """Lend one connection to many such reads: a new one for each takes longer than the read."""

    def alter(self, statement: str, *values: object) -> int:
        """Write to the store as no part of the program does; returns how many rows."""

    @contextmanager
    def session(self) -> Iterator[SqlSession]:
        """Lend a session of another process, as functions of the roles use it."""

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Keep every other connection from writing."""

    def remove(self) -> None:
        """Remove the store after the test."""


class SqliteFile:
    """A store on SQLite in a folder."""

    kind = "sqlite"

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tocsin.db"
        self.url = f"sqlite:{self.path}"

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self.reading() as look:
            return look(query, *values)

    @contextmanager
    def reading(self) -> Iterator[Look]:
        with closing(sqlite3.connect(self.path)) as db:
            yield lambda query, *values: db.execute(query, values).fetchall()

    def alter(self, statement: str, *values: object) -> int:
        with closing(sqlite3.connect(self.path)) as db, db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def session(self) -> Iterator[SqlSession]:
        with closing(connect(str(self.path), busy=timedelta(seconds=10), writes=True)) as db:
            yield db

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        with closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as db:
            db.execute("begin immediate")
            yield

    def remove(self) -> None:
        """Leave the file to the folder of the test."""


class PostgresDatabaseBehind:
    """A store on PostgreSQL, a database for each folder."""

    kind = "postgresql"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if folder not in _TAKEN:
            _TAKEN[folder] = postgres().take()
        self.url = _TAKEN[folder]

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self.reading() as look:
            return look(query, *values)

    @contextmanager
    def reading(self) -> Iterator[Look]:
        with psycopg.connect(self.url) as db:
            yield lambda query, *values: db.execute(_said(query), values or None).fetchall()

    def alter(self, statement: str, *values: object) -> int:
        with psycopg.connect(self.url) as db:
            return db.execute(_said(statement), values or None).rowcount

    @contextmanager
    def session(self) -> Iterator[SqlSession]:
        with psycopg.connect(self.url, autocommit=True) as db:
            yield PostgresSession(db)

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        with psycopg.connect(self.url) as db:
            db.execute("select pg_advisory_xact_lock((x'546f6373'::bigint << 32) + 'store'::regclass::oid::bigint)")
            yield

    def remove(self) -> None:
        postgres().give_back(_TAKEN.pop(self._folder))


def _said(statement: str) -> bytes:
    """Write parameters, and bytes, as PostgreSQL and its driver want them."""
    return re.sub(r"x'([0-9a-f]*)'", r"'\\x\1'::bytea", statement.replace("?", "%s")).encode()


_TAKEN: Final[dict[Path, str]] = {}
STORES: Final[dict[str, Callable[[Path], StoreBehind]]] = {"sqlite": SqliteFile, "postgresql": PostgresDatabaseBehind}
