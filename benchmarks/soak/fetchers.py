"""The fetcher processes of a service under test: found, killed beside it, and gone when it is."""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

NUMBERS = (1, 2, 0)
"""How many a service has, one number after the other."""
_GONE_WITHIN_S = 60.0
_LOOK_S = 0.05


def fetchers_of(pid: int) -> list[int]:
    """List the fetcher processes that a service has started and that live."""
    found: list[int] = []
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (thread / "children").read_text("ascii").split())
    return found


class Casualties:
    """Kills fetchers of one service at random times, and sees that none outlives it.

    on_killed  called when all that a killed one has asked for was taken up, and before another takes its place
    killed     how many were killed
    """

    def __init__(self, process: Process, chance: Random, on_killed: Callable[[], None]) -> None:
        self._process, self._chance, self._on_killed = process, chance, on_killed
        self._seen: set[int] = set()
        self.killed = 0

    async def run(self) -> None:
        """Watch and kill, until cancelled."""
        while True:
            await asyncio.sleep(self._chance.uniform(0.2, 4.0))
            living = fetchers_of(self._process.pid)
            self._seen.update(living)
            if living:
                with suppress(ProcessLookupError):
                    os.kill(self._chance.choice(living), signal.SIGKILL)
                    self.killed += 1
                    await asyncio.sleep(_LOOK_S)
                    self._on_killed()

    async def left_behind(self) -> list[int]:
        """List the fetchers that go on although their service is dead."""
        for _ in range(round(_GONE_WITHIN_S / _LOOK_S)):
            if not (left := [pid for pid in self._seen if _is_fetcher(pid)]):
                return []
            await asyncio.sleep(_LOOK_S)
        return left


def _is_fetcher(pid: int) -> bool:
    with suppress(OSError):
        return b"tocsin.app.fetcher" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
