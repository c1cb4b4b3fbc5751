"""What a watched page takes on disk."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.results import result_of
from benchmarks.bench.size_stores import URL_BYTES, Shape, make_store, site_port
from benchmarks.bench.storing import BATCH, LATER, claimed
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.connection import connect

_PAGES_A_HOST = 10
_NAMED = 6
_HOSTS = 200


async def measure(sizes: Sizes) -> list[Figure]:
    """Make a store of each length, and look at its file; then store a further state for some of its pages."""
    lines = []
    for pages in sizes.watched:
        with tempfile.TemporaryDirectory() as name:
            path = await make_store(Shape.usual(pages), site_port(), Path(name))
            size, tables = _size(path), _tables(path, pages)
            values, changed = await _change(path)
            note = f"URL of {URL_BYTES} bytes, {values} bytes of values; {tables}".removesuffix("; ")
            what = f"disk of {pages:,} pages, each with its first state"
            lines.append(figure(what, [size / pages], "B/page", note=note, aim=Aim("<=", 600)))
            more = (_size(path) - size) / changed
            lines.append(figure("… of a further state with its verdict", [more], "B/state"))
    pages = sizes.watched[0]
    with tempfile.TemporaryDirectory() as name:
        path = await make_store(Shape.usual(pages)._replace(silent=True), site_port(), Path(name))
        what = f"disk of {pages:,} silent pages, each with its first state, without its text"
        lines.append(figure(what, [_size(path) / pages], "B/page", note=_tables(path, pages), aim=Aim("<=", 1400)))
    return lines


def _size(path: Path) -> int:
    """The size of the file after a checkpoint."""
    with closing(connect(str(path), busy=timedelta(seconds=10), writes=True)) as db:
        db.execute("pragma wal_checkpoint(truncate)")
    return path.stat().st_size


def _tables(path: Path, pages: int) -> str:
    """Name what takes the most, where SQLite was built to tell."""
    with closing(sqlite3.connect(path)) as db, suppress(sqlite3.OperationalError):
        rows = db.execute("select name, sum(pgsize) from dbstat group by name order by 2 desc limit ?", (_NAMED,))
        return ", ".join(f"{name} {size / pages:.0f}" for name, size in rows)
    return ""


async def _change(path: Path) -> tuple[int, int]:
    """Store another state for the pages of some hosts; returns the bytes of a state's values, and how many pages."""
    async with await open_store(f"sqlite:{path}", engine=True) as store:
        claim = await claimed(store)
        hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
        tasks = await store.due_pages(claim, hosts[:_HOSTS], LATER, per_host=_PAGES_A_HOST)
        results = [result_of(task, 1, changed=True) for task in tasks]
        for start in range(0, len(results), BATCH):
            await store.commit(claim, results[start : start + BATCH])
    states = [task.state for task in tasks if task.state is not None]
    return sum(len(value or "") for value in states[0].fields), len(tasks)
