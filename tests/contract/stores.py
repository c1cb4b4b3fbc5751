"""The stores that the contract suite runs on, and how its tests reach each of them behind the port."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final


class SqliteFile:
    """A store on SQLite in a folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "tocsin.db"
        self.url = f"sqlite:{self.path}"

    def look(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what another process would read now."""
        with closing(sqlite3.connect(self.path)) as db:
            return db.execute(query, values).fetchall()

    def alter(self, statement: str, *values: object) -> int:
        """Write to the store as no part of the program does; returns how many rows."""
        with closing(sqlite3.connect(self.path)) as db, db:
            return db.execute(statement, values).rowcount

    @contextmanager
    def write_lock(self) -> Iterator[None]:
        """Keep every other connection from writing."""
        with closing(sqlite3.connect(self.path, timeout=0, isolation_level=None)) as db:
            db.execute("begin immediate")
            yield


STORES: Final[dict[str, Callable[[Path], SqliteFile]]] = {"sqlite": SqliteFile}
