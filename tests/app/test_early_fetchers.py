"""Fetcher processes that load their program while ours is loaded, and each no more than its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tocsin.adapters.processes.starting import EarlyStarter, LocalFetcher, LocalStarter
from tocsin.errors import StoreLocked


class NotedStarter(LocalStarter):
    """Notes each process that it has started."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[LocalFetcher] = []

    async def start(self) -> LocalFetcher:
        """Start one."""
        process = await super().start()
        self.started.append(process)
        return process


async def test_what_was_started_early_is_given_first_and_then_others_are_started() -> None:
    noted = NotedStarter()
    starter = EarlyStarter(noted)

    async with starter.ahead(1):
        early = list(noted.started)
        given = [await starter.start(), await starter.start()]

    assert len(early) == 1
    assert given == noted.started
    assert given[0] is early[0]
    assert all(process.resident_bytes() for process in given)
    for process in given:
        await process.end(0)


async def test_what_was_started_early_and_is_not_needed_is_ended() -> None:
    noted = NotedStarter()

    with pytest.raises(StoreLocked):
        async with EarlyStarter(noted).ahead(2):
            raise StoreLocked("tocsin.db", None)

    assert [process.resident_bytes() for process in noted.started] == [None, None]


@pytest.mark.parametrize(
    ("program", "without"),
    [
        ("tocsin.app.fetcher", {"aiohttp", "aiosqlite", "sqlite3", "click", "tocsin.engine.scheduling.scheduler"}),
        ("tocsin.app.service", {"aiohttp", "aiosqlite", "turbohtml", "tocsin.app.assembly"}),
        ("tocsin.app.assembly", {"aiohttp", "click", "tocsin.adapters.http.fetcher"}),
    ],
)
def test_what_a_program_does_not_need_at_its_start_is_not_loaded(program: str, without: set[str]) -> None:
    look = f"import sys, {program}; print(*sys.modules)"

    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, check=True, text=True).stdout.split()

    assert without.intersection(loaded) == set()
    assert program in loaded
