"""A stop of the service ends the reading of what people bring, however long it is."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.fakes import settle
from tests.server.rig import Rig
from tests.server.serving import PATIENCE_S
from tocsin.model import Scope
from tocsin.server.actions import Act
from tocsin.server.imports import ListToTake, start_import, start_table
from tocsin.server.jobs import Job, running_jobs
from tocsin.server.parts import Caller, Parts
from tocsin.spec.topper.table import RECORD_0

ME = Caller("me", Scope.ADMIN)


class Endless(io.RawIOBase):
    """A file without an end; `is_read` once it is read from."""

    def __init__(self, line: Callable[[int], bytes]) -> None:
        self._line, self._number = line, 0
        self._left = b""
        self._loop, self.is_read = asyncio.get_running_loop(), asyncio.Event()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, place: int, whence: int = 0, /) -> int:
        del whence
        return place

    def tell(self) -> int:
        return self._number

    def readinto(self, target: Any) -> int:
        self._loop.call_soon_threadsafe(self.is_read.set)
        if self.closed:
            raise ValueError("closed")
        while len(self._left) < len(target):
            self._left += self._line(self._number)
            self._number += 1
        piece, self._left = self._left[: len(target)], self._left[len(target) :]
        target[:] = piece
        return len(piece)


def comment(_: int) -> bytes:
    return b"# nothing to watch\n" * 50


def page(number: int) -> bytes:
    return b"https://example.org/%d\n" % number


def record(number: int) -> bytes:
    cells = " " * 4 * (RECORD_0.count("/tag"))
    return (
        f"{number} https://example.org/{number}{cells} 2026-05-01T12:00:00Z \n".encode()
        if number
        else RECORD_0.encode()
    )


@asynccontextmanager
async def threads() -> AsyncIterator[None]:
    """Demand that threads that were begun meanwhile end soon: the end of the process waits for them."""
    loop, begun = asyncio.get_running_loop(), ThreadPoolExecutor()
    loop.set_default_executor(begun)
    yield
    loop.set_default_executor(ThreadPoolExecutor())
    async with asyncio.timeout(PATIENCE_S):
        await asyncio.to_thread(begun.shutdown)


@pytest.mark.parametrize("line", [comment, page])
async def test_a_stop_ends_a_list_that_is_only_looked_at(rig: Rig, line: Callable[[int], bytes]) -> None:
    parts: Parts = rig.app.state.parts
    endless = Endless(line)
    file = io.BufferedReader(endless)
    async with asyncio.timeout(2 * PATIENCE_S), threads(), running_jobs(parts) as jobs:
        job = await start_import(parts, Act(jobs, ME), ListToTake(file, dry_run=True))
        await endless.is_read.wait()

    row = await parts.store.job(job.row.id)
    assert row is not None
    assert row.state == "interrupted"


async def test_a_stop_ends_a_table_that_is_counted(rig: Rig) -> None:
    parts: Parts = rig.app.state.parts
    endless = Endless(record)
    file = io.BufferedReader(endless)
    async with asyncio.timeout(2 * PATIENCE_S), threads(), running_jobs(parts) as jobs:
        asking = asyncio.gather(start_table(parts, Act(jobs, ME), file, replace=False))
        await endless.is_read.wait()
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    assert file.closed


async def first_step(job: Job) -> None:
    while not job.row.done:
        await settle(1)


async def test_a_cancelled_import_says_how_many_pages_it_added(rig: Rig) -> None:
    parts: Parts = rig.app.state.parts
    file = io.BufferedReader(Endless(page))
    async with asyncio.timeout(2 * PATIENCE_S), threads(), running_jobs(parts) as jobs:
        job = await start_import(parts, Act(jobs, ME), ListToTake(file))
        await first_step(job)
        await jobs.cancel(job.row.id)

    row, added = await parts.store.job(job.row.id), await parts.store.last_page_id()
    audited = (await parts.store.audit(limit=1)).rows[0]
    assert row is not None
    assert row.result is not None
    assert (row.state, row.done, row.result["added"]) == ("cancelled", added, added)
    assert added > 0
    assert (audited.what, audited.detail["added"]) == ("pages.import", added)
