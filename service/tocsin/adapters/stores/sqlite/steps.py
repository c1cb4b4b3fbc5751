"""Long edits in short transactions, with room between them for whoever else writes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from tocsin.adapters.stores.sqlite.place import is_held
from tocsin.adapters.stores.sqlite.role import Role

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from tocsin.ports.keeping import OnStep

T = TypeVar("T")

_LEAST_REST_S, _LONGEST_REST_S = 0.01, 0.5


class SteppingRole(Role):
    """A part of the store's port that edits any number of pages, a step at a time.

    Where somebody else's engine holds the store, each step is followed by a rest as long as it worked: SQLite's lock
    has no queue, and whoever takes it again at once leaves the engine no turn.
    """

    async def _step(self, work: Callable[[sqlite3.Connection], int], on_step: OnStep) -> int:
        """Do one step in a transaction of its own; returns what `work` does: how many pages it was about.

        Whoever is cancelled is told of the step under way before that is passed on.
        """
        running = asyncio.ensure_future(self._timed(work))
        try:
            done, worked_s = await asyncio.shield(running)
        except asyncio.CancelledError:
            on_step((await running)[0])
            raise
        on_step(done)
        await self._rest(worked_s)
        return done

    async def _in_turn(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do one step that nobody is told of."""
        done, worked_s = await self._timed(work)
        await self._rest(worked_s)
        return done

    async def _timed(self, work: Callable[[sqlite3.Connection], T]) -> tuple[T, float]:
        worked_s = 0.0

        def timed(db: sqlite3.Connection) -> T:
            # From here on the lock is ours; the wait for it was somebody else's turn already.
            nonlocal worked_s
            began_s = time.monotonic()
            done = work(db)
            worked_s = time.monotonic() - began_s
            return done

        return await self._edit(timed), worked_s

    async def _rest(self, worked_s: float) -> None:
        if not self._options.engine and await self._reader.run(lambda _: is_held(self._options.path)):
            await asyncio.sleep(min(max(worked_s, _LEAST_REST_S), _LONGEST_REST_S))
