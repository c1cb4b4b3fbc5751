"""How many fetcher processes are started, and when they load the program."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Literal

import pytest

from tocsin.adapters.processes.starting import EarlyStarter, LocalFetcher, LocalStarter
from tocsin.app.executing import WORTH_A_PROCESS, fetchers_of
from tocsin.errors import StoreLocked
from tocsin.settings import FetchSettings, Settings


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


def settings(fetchers: Literal["auto"] | int) -> Settings:
    return Settings(fetch=FetchSettings(fetchers=fetchers))


@pytest.mark.parametrize(("cores", "fetchers"), [(1, 1), (2, 1), (3, 2), (8, 7)])
def test_as_many_as_there_are_cores_to_spare_at_least_one(
    monkeypatch: pytest.MonkeyPatch, cores: int, fetchers: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(cores)), raising=False)

    assert fetchers_of(settings("auto")) == fetchers


def test_a_one_shot_check_of_few_pages_starts_none() -> None:
    assert fetchers_of(settings("auto"), pages=WORTH_A_PROCESS - 1) == 0
    assert fetchers_of(settings("auto"), pages=WORTH_A_PROCESS) >= 1


@pytest.mark.parametrize("number", [0, 1, 5])
def test_a_number_that_was_set_holds_always(number: int) -> None:
    assert fetchers_of(settings(number)) == number
    assert fetchers_of(settings(number), pages=1) == number
