"""The connection that people look through: opened when first used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

from tocsin.adapters.stores.sqlite.connection import Lane, snapshot
from tocsin.adapters.stores.sqlite.faults import translated
from tocsin.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable
    from datetime import timedelta

T = TypeVar("T")


class Viewer:
    """A connection of their own for those who look, so that they wait for nobody who checks, nor the reverse."""

    def __init__(self, path: str, busy: timedelta, mapped: int) -> None:
        self._path, self._busy, self._mapped = path, busy, mapped
        self._lane: Lane | None = None
        self._is_closed = False
        self._opening = asyncio.Lock()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read at one instant."""

        def whole(db: sqlite3.Connection) -> T:
            with snapshot(db):
                return work(db)

        lane = self._lane or await self._open()
        return await lane.run(whole)

    async def _open(self) -> Lane:
        async with self._opening:
            if self._is_closed:
                raise StoreError(f"{self._path}: the store was closed; open it again")
            if self._lane is None:
                with translated(self._path):
                    self._lane = await Lane(self._path, busy=self._busy, writes=False, mapped=self._mapped).open()
            return self._lane

    async def close(self) -> None:
        """Close it, if it was opened."""
        async with self._opening:
            self._is_closed = True
            lane, self._lane = self._lane, None
            if lane is not None:
                with translated(self._path):
                    await lane.close()
