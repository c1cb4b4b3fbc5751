"""Fetcher processes that are started before they are asked for."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.ports.processes import FetcherProcess, FetcherStarter


class EarlyStarter:
    """Implements `ports.FetcherStarter`: the first processes load their program while ours is still made ready.

    starter  starts them
    """

    def __init__(self, starter: FetcherStarter) -> None:
        self._starter = starter
        self._started: list[FetcherProcess] = []

    @asynccontextmanager
    async def ahead(self, count: int) -> AsyncIterator[None]:
        """Start so many now; those that nobody has asked for at the end are ended. Raises ProcessError."""
        try:
            for _ in range(count):
                self._started.append(await self._starter.start())
            yield
        finally:
            for process in self._started:
                await process.end(0)
            self._started.clear()

    async def start(self) -> FetcherProcess:
        """Give one that was started, or start one; raises ProcessError."""
        return self._started.pop() if self._started else await self._starter.start()
