"""Long edits in short transactions, with room between them for whoever else writes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from tocsin.adapters.stores.sqlite.place import is_held
from tocsin.adapters.stores.sqlite.role import Role

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from tocsin.ports.keeping import OnStep

_LEAST_REST_S, _LONGEST_REST_S = 0.01, 0.5


class SteppingRole(Role):
    """A part of the store's port that edits any number of pages, a step at a time."""

    async def _step(self, work: Callable[[sqlite3.Connection], int], on_step: OnStep) -> int:
        """Do one step in a transaction of its own; returns what `work` does: how many pages it was about.

        Where an engine of another process holds the store, rests afterwards for as long as it worked: SQLite's lock
        has no queue, and whoever takes it again at once leaves the engine no turn.
        Whoever is cancelled is told of the step under way before that is passed on.
        """
        worked_s = 0.0

        def timed(db: sqlite3.Connection) -> int:
            # From here on the lock is ours; the wait for it was somebody else's turn already.
            nonlocal worked_s
            began_s = time.monotonic()
            pages = work(db)
            worked_s = time.monotonic() - began_s
            return pages

        running = asyncio.ensure_future(self._edit(timed))
        try:
            done = await asyncio.shield(running)
        except asyncio.CancelledError:
            on_step(await running)
            raise
        on_step(done)
        if await self._reader.run(lambda _: is_held(self._options.path)):
            await asyncio.sleep(min(max(worked_s, _LEAST_REST_S), _LONGEST_REST_S))
        return done
