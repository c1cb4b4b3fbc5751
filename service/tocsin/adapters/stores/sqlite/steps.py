"""Long edits in short transactions, with room between them for whoever else writes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Generic, TypeVar

from tocsin.adapters.stores.sqlite.connection import transaction
from tocsin.adapters.stores.sqlite.place import is_held
from tocsin.adapters.stores.sqlite.role import Role

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

    from tocsin.ports.keeping import OnStep

T = TypeVar("T")

_LEAST_REST_S, _LONGEST_REST_S = 0.01, 0.5


class _Step(Generic[T]):
    """One transaction that survives a loss of power: what it did, once it is committed, and how long it worked."""

    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self._work = work
        self.done: list[T] = []
        self.worked_s = 0.0

    def run(self, db: sqlite3.Connection) -> None:
        """Do it."""
        with transaction(db, durable=True):
            # From here on the lock is ours; the wait for it was somebody else's turn already.
            began_s = time.monotonic()
            done = self._work(db)
            self.worked_s = time.monotonic() - began_s
        self.done.append(done)


class SteppingRole(Role):
    """A part of the store's port that edits any number of pages, a step at a time.

    Where somebody else's engine holds the store, each step is followed by a rest as long as it worked: SQLite's lock
    has no queue, and whoever takes it again at once leaves the engine no turn.
    """

    async def _step(self, work: Callable[[sqlite3.Connection], int], on_step: OnStep) -> int:
        """Do one step in a transaction of its own; returns what `work` does: how many pages it was about.

        Whoever is cancelled is told of the step under way before that is passed on.
        """
        step = _Step(work)
        try:
            await self._edit_in(step)
        except asyncio.CancelledError:
            # What was begun goes on to its end; the connection does one thing after the other.
            await self._writer.run(lambda _: None)
            for pages in step.done:
                on_step(pages)
            raise
        on_step(step.done[0])
        await self._rest(step.worked_s)
        return step.done[0]

    async def _in_turn(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do one step that nobody is told of."""
        step = _Step(work)
        await self._edit_in(step)
        await self._rest(step.worked_s)
        return step.done[0]

    async def _edit_in(self, step: _Step[T]) -> None:
        await self._writer.run(step.run)
        self._edited_here = True

    async def _rest(self, worked_s: float) -> None:
        if not self._options.engine and await self._reader.run(lambda _: is_held(self._options.path)):
            await asyncio.sleep(min(max(worked_s, _LEAST_REST_S), _LONGEST_REST_S))
