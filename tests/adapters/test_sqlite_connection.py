"""How a connection is set: what it keeps in memory, and how long its log may grow."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tocsin.adapters.stores.sqlite.connection import connect

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path


def opened(path: Path, *, writes: bool) -> sqlite3.Connection:
    """A connection to this file."""
    return connect(str(path), busy=timedelta(), writes=writes)


def setting(db: sqlite3.Connection, name: str) -> Any:
    """What a connection is set to."""
    return db.execute(f"pragma {name}").fetchone()[0]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database of one page."""
    with closing(opened(tmp_path / "tocsin.db", writes=True)) as db:
        db.execute("pragma page_size = 512")
        db.execute("create table t (x blob)")
    return tmp_path / "tocsin.db"


def test_the_log_of_a_small_store_is_short(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        assert setting(db, "wal_autocheckpoint") == 4000


def test_the_log_grows_with_the_store(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        db.execute("insert into t values (zeroblob(12000000))")

    with closing(opened(path, writes=True)) as db:
        assert setting(db, "wal_autocheckpoint") == setting(db, "page_count") // 4 > 4000


def test_a_log_that_has_grown_is_cut_back(path: Path) -> None:
    with closing(opened(path, writes=True)) as db:
        assert setting(db, "journal_size_limit") == 2**28


def test_what_two_connections_keep_in_memory_is_a_few_megabytes(path: Path) -> None:
    with closing(opened(path, writes=True)) as writer, closing(opened(path, writes=False)) as reader:
        assert setting(writer, "cache_size") == setting(reader, "cache_size") == -8192


def test_only_what_reads_maps_the_file(path: Path) -> None:
    with closing(opened(path, writes=True)) as writer, closing(opened(path, writes=False)) as reader:
        assert setting(writer, "mmap_size") == 0
        assert setting(reader, "mmap_size") > 2**30
