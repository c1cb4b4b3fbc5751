"""A backup while a thousand results a second are written: it opens, is sound, and shows one instant."""

from __future__ import annotations

import asyncio
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bench.measure import figure, run_child, settings
from benchmarks.bench.results import VERSION_FIELD, result_of
from benchmarks.bench.storing import add, all_tasks, claimed
from tocsin.adapters.stores import open_store
from tocsin.spec.topper.table import read_table

if TYPE_CHECKING:
    from benchmarks.bench.measure import Child, Figure, Sizes

TOGETHER = 100
_PER_SECOND = 10
"""Batches; each changes all the pages at once, so that any mixture of two versions shows in an export."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Back up under load, again and again."""
    took: list[float] = []
    rates: list[float] = []
    for _ in range(sizes.rounds):
        with tempfile.TemporaryDirectory() as name:
            child, rate = await _back_up(Path(name), sizes)
            took.append(child.wall_s)
            rates.append(rate)
    note = "opens, store check finds nothing, exports one instant"
    return [
        figure(f"backup of {sizes.stored:,} pages while results are written", took, "s", note=note),
        figure("… written meanwhile", rates, "1/s"),
    ]


async def _back_up(folder: Path, sizes: Sizes) -> tuple[Child, float]:
    configuration = str(settings(folder))
    copy = folder / "copy.db"
    written = 0
    async with await open_store(f"sqlite:{folder}/store.db", engine=True) as store:
        await add(store, sizes.stored, hot=0)
        claim = await claimed(store)
        tasks = (await all_tasks(store, claim, sizes.stored))[:TOGETHER]

        async def write() -> None:
            nonlocal written
            written = 0
            version = 0
            while True:
                version += 1
                await store.commit(claim, [result_of(task, version, changed=True, again=True) for task in tasks])
                written += len(tasks)
                await asyncio.sleep(1 / _PER_SECOND)

        async with asyncio.TaskGroup() as group:
            writing = group.create_task(write(), name="writing")
            await asyncio.sleep(sizes.backup_s)
            began, before = time.perf_counter(), written
            arguments = ("--config", configuration, "store", "backup", str(copy))
            child = await asyncio.to_thread(run_child, folder, *arguments)
            rate = (written - before) / (time.perf_counter() - began)
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
    if child.status:
        raise RuntimeError(f"backup ended with {child.status}: {child.said}")
    await asyncio.to_thread(_demand_sound, folder, copy, len(tasks))
    return child, rate


def _demand_sound(folder: Path, copy: Path, together: int) -> None:
    checked = run_child(folder, "--store", f"sqlite:{copy}", "store", "check")
    table = folder / "table.txt"
    exported = run_child(folder, "--store", f"sqlite:{copy}", "table", "export", str(table))
    if checked.status or exported.status:
        raise RuntimeError(f"the copy is not sound: {checked.said} {exported.said}")
    latest: dict[str, str | None] = {}
    with table.open("rb") as lines:
        for record in read_table(lines, file="table"):
            latest[record.url] = record.state.values[VERSION_FIELD]
    if len(latest) != together or len(set(latest.values())) != 1:
        raise RuntimeError(f"the copy shows {sorted(map(str, set(latest.values())))} of {len(latest)} pages")
