"""Long edits in short transactions, with room between them for whoever else writes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from tocsin.adapters.stores.sql.role import Role
from tocsin.adapters.stores.sqlite.connection import STEP_ROWS, sync_log, transaction
from tocsin.adapters.stores.sqlite.place import is_held

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Sequence

    from tocsin.adapters.stores.sql.role import Options
    from tocsin.adapters.stores.sqlite.connection import Lane
    from tocsin.ports.keeping import OnStep

T = TypeVar("T")

_LEAST_REST_S, _LONGEST_REST_S = 0.01, 0.5

HELD_S: Final = 0.1
"""What a step may hold the lock for: others that write wait so long, and notice nothing."""

LEAST_ROWS: Final = 16
"""A step has a price of its own: fewer rows would pay little else."""

FIRST_ROWS: Final = 100


class Pace:
    """How many rows a step of one kind of work has, which is learned from how long the steps before took."""

    def __init__(self) -> None:
        self.rows = FIRST_ROWS

    def learn(self, rows: int, held_s: float) -> None:
        """Take half after a step that was too long, twice as many after one that was whole and far shorter."""
        if held_s > HELD_S:
            self.rows = max(self.rows // 2, LEAST_ROWS)
        elif rows >= self.rows and held_s < HELD_S / 4:
            self.rows = min(self.rows * 2, STEP_ROWS)

    def pieces(self, rows: Sequence[T]) -> Iterator[Sequence[T]]:
        """Deal these out to steps, each as long as the pace is by then."""
        start = 0
        while piece := rows[start : start + self.rows]:
            yield piece
            start += len(piece)


class _Step(Generic[T]):
    """One transaction that survives a loss of power: what it did, once committed, and how long it had the lock."""

    def __init__(self, work: Callable[[sqlite3.Connection], T], timer: Callable[[], float]) -> None:
        self._work, self._timer = work, timer
        self.done: list[T] = []
        self.held_s = 0.0

    def run(self, db: sqlite3.Connection) -> None:
        """Do it."""
        with transaction(db):
            # From here on the lock is ours; the wait for it was somebody else's turn already.
            began_s = self._timer()
            done = self._work(db)
            # Committing is left out: now and then it copies the log into the store, with the lock free.
            self.held_s = self._timer() - began_s
        self.done.append(done)
        sync_log(db)


class SteppingRole(Role):
    """A part of the store's port that edits any number of pages, a step at a time.

    Where somebody else's engine holds the store, each step is followed by a rest as long as it held the lock: SQLite's
    has no queue, and whoever takes it again at once leaves the engine no turn.
    """

    def __init__(self, writer: Lane, reader: Lane, options: Options) -> None:
        super().__init__(writer, reader, options)
        self._paces: defaultdict[str, Pace] = defaultdict(Pace)

    async def _step(self, pace: Pace, work: Callable[[sqlite3.Connection], int], on_step: OnStep) -> int:
        """Do one step in a transaction of its own; returns what `work` does: how many rows it was about.

        Whoever is cancelled is told of the step under way before that is passed on.
        """
        step = _Step(work, self._options.timer)
        try:
            await self._edit_in(step)
        except asyncio.CancelledError:
            # What was begun goes on to its end; the connection does one thing after the other.
            await self._writer.run(lambda _: None)
            for pages in step.done:
                on_step(pages)
            raise
        on_step(step.done[0])
        pace.learn(step.done[0], step.held_s)
        await self._rest(step.held_s)
        return step.done[0]

    async def _in_turn(self, pace: Pace, rows: int, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do one step about so many rows that nobody is told of."""
        step = _Step(work, self._options.timer)
        await self._edit_in(step)
        pace.learn(rows, step.held_s)
        await self._rest(step.held_s)
        return step.done[0]

    async def _edit_in(self, step: _Step[Any]) -> None:
        await self._writer.run(step.run)
        self._edited_here = True

    async def _rest(self, held_s: float) -> None:
        if self._options.lock is None and await self._reader.run(lambda _: is_held(self._options.path)):
            await asyncio.sleep(min(max(held_s, _LEAST_REST_S), _LONGEST_REST_S))
