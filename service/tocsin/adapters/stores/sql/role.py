"""What all roles share: their database, steps of long edits, the revision that tells the engine of edits, parts."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from msgspec import Struct

from tocsin.adapters.stores.sql.owed import Routes
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import to_json
from tocsin.errors import StaleClaim
from tocsin.model import SHARDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import timedelta
    from pathlib import Path

    from tocsin.adapters.stores.sql.session import Database, SqlSession
    from tocsin.model import Claim, Instant, NamedLease
    from tocsin.ports.pages import OnStep
    from tocsin.settings import SignalSettings


T = TypeVar("T")

NODES = queries("nodes")
REVISIONS = queries("revisions")

# Beyond every id and position.
LAST: Final = 1 << 62

# The most rows that one transaction of a command touches.
STEP_ROWS: Final = 1000

# How long a step may hold the write lock: other writers wait this long unnoticed.
HELD_S: Final = 0.1

# A step costs something by itself: with fewer rows that would be most of its cost.
LEAST_ROWS: Final = 16
FIRST_ROWS: Final = 100


class Options(Struct, frozen=True):
    """How a store was opened; see `open_store`.

    timer  seconds, by which the length of a step is measured
    pictures  folder of the pictures of pages; None: none are kept
    """

    history: bool
    gather: timedelta
    storms: SignalSettings
    timer: Callable[[], float] = time.monotonic
    pictures: Path | None = None


class Pace:
    """How many rows a step of one kind of edit has, learned from the time that the steps before took."""

    def __init__(self) -> None:
        self.rows = FIRST_ROWS

    def learn(self, rows: int, held_s: float) -> None:
        """Halve the rows after a step that was too long; double them after a full one that was far shorter."""
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


class TimedStep(Generic[T]):
    """One step of a long edit; implements session.EditStep; `results` holds what it returned once it is committed."""

    def __init__(self, work: Callable[[SqlSession], T], timer: Callable[[], float]) -> None:
        self._work, self._timer = work, timer
        self._done: list[T] = []
        self.results: list[T] = []
        self.held_s = 0.0

    def run(self, db: SqlSession) -> None:
        """Do the work."""
        # The wait for the lock is over by now; committing is not counted either, since others may write meanwhile.
        began_s = self._timer()
        self._done.append(self._work(db))
        self.held_s = self._timer() - began_s

    def committed(self) -> None:
        """Note that the work is stored."""
        self.results = self._done


class Role:
    """A part of the store: its methods are those of the port that it names; they are described there."""

    def __init__(self, database: Database, options: Options) -> None:
        self._database, self._options = database, options
        self._read, self._view = database.read, database.view
        # Under which everything is written; None: nothing has to be held.
        self.under_lease: NamedLease | None = None
        self._paces: defaultdict[str, Pace] = defaultdict(Pace)

    @cached_property
    def _routes(self) -> Routes:
        """The routes in force, for the roles that write alerts."""
        return Routes()

    async def _write(self, work: Callable[[SqlSession], T], *, durable: bool = False, shared: bool = False) -> T:
        return await self._database.write(fenced(self.under_lease, work), durable=durable, shared=shared)

    async def _edit(self, work: Callable[[SqlSession], T]) -> T:
        return await self._database.edit(fenced(self.under_lease, work))

    async def _write_under(
        self, lease: NamedLease | None, work: Callable[[SqlSession], T], *, durable: bool = False
    ) -> T:
        """Write beside others if this lease is still in force; None: nothing has to be. Raises StaleClaim."""
        return await self._write(fenced(lease, work), durable=durable, shared=True)

    async def _step(self, pace: Pace, work: Callable[[SqlSession], int], on_step: OnStep) -> int:
        """Do one step; returns what `work` returns: how many rows it was about.

        A caller that cancels is told of the step under way before the cancellation is passed on.
        """
        step = TimedStep(fenced(self.under_lease, work), self._options.timer)
        try:
            await self._database.edit_step(step)
        except asyncio.CancelledError:
            await self._database.drain()
            for pages in step.results:
                on_step(pages)
            raise
        (rows,) = step.results
        on_step(rows)
        pace.learn(rows, step.held_s)
        await self._database.rest(step.held_s)
        return rows

    async def _in_turn(self, pace: Pace, rows: int, work: Callable[[SqlSession], T]) -> T:
        """Do one step about this many rows; returns what `work` returns."""
        step = TimedStep(fenced(self.under_lease, work), self._options.timer)
        await self._database.edit_step(step)
        pace.learn(rows, step.held_s)
        await self._database.rest(step.held_s)
        return step.results[0]


def bounded(number: int) -> int:
    """Clamp a number that a user typed to what a column can hold: one beyond it finds as little as the last."""
    return max(-LAST, min(number, LAST))


def first_since(db: SqlSession, following: str, at: Instant, last: int) -> int:
    """Find the first of numbered rows that is not older than this, by halves: numbers grow with time.

    following  gives the number and the time of the next row `:after` a number
    last       the greatest number that was given
    """
    before = 0
    while before < last:
        middle = (before + last) // 2
        row = db.execute(following, {"after": middle}).fetchone()
        if row is not None and row[1] < at:
            before = row[0]
        else:
            last = middle
    return before + 1


def ids(values: Iterable[int | str]) -> str:
    """Write keys as the JSON array that the macros `ids` and `each` of statements read."""
    return to_json(list(values))


def take_turn(db: SqlSession) -> None:
    """Wait for others that write what all nodes share: requests, texts, alerts and their deliveries.

    The turn ends with the transaction, so that the positions of alerts are in the order of commits. A transaction that
    has the turn locks only rows that no other one has without it, so there is no deadlock.
    """
    db.execute(REVISIONS["turn"]).close()


def touch_hosts(db: SqlSession, host_ids: Iterable[int]) -> None:
    """Stamp these hosts with a new revision, so that a running engine reads them again."""
    (revision,) = db.execute(REVISIONS["next"]).fetchone()
    db.execute(REVISIONS["stamp"], {"revision": revision, "hosts": ids(host_ids)})


def touch_all_hosts(db: SqlSession) -> None:
    """Stamp every host with a new revision."""
    (revision,) = db.execute(REVISIONS["next"]).fetchone()
    db.execute(REVISIONS["stamp_all"], {"revision": revision})


def latest_revision(db: SqlSession) -> int:
    """Read the revision of the latest edit."""
    revision: int = db.execute(REVISIONS["latest"]).fetchone()[0]
    return revision


# Parts of the hosts, inside a transaction.


def end_leases(db: SqlSession) -> None:
    """End the leases of engines that are gone, so that the next one need not wait for them; their epochs stay."""
    for statement in ("free_all_parts", "forget_nodes", "free_leases"):
        db.execute(NODES[statement])


def held_parts(db: SqlSession, parts: Iterable[int]) -> set[tuple[int, int]]:
    """Return these parts with their epochs, which stay so until the transaction ends."""
    return set(db.execute(NODES["epochs"], {"parts": ids(parts)}).fetchall())


def require_lease(db: SqlSession, lease: NamedLease) -> None:
    """Raise StaleClaim unless this lease is in force, inside of the transaction that writes under it.

    One that ran out and was not taken by another node is. A taking waits for the end of this transaction.
    """
    if db.execute(NODES["is_held"], named(lease)).fetchone() is None:
        raise StaleClaim(f"the lease {lease.name} of node {lease.node} (epoch {lease.epoch}) was taken by another node")


def fenced(lease: NamedLease | None, work: Callable[[SqlSession], T]) -> Callable[[SqlSession], T]:
    """Let work require a lease first, inside of its transaction; None: nothing has to be held."""
    if lease is None:
        return work

    def under(db: SqlSession) -> T:
        require_lease(db, lease)
        return work(db)

    return under


def named(lease: NamedLease) -> dict[str, Any]:
    """Write a named lease as the parameters of its statements."""
    return {"name": lease.name, "node": lease.node, "epoch": lease.epoch}


def require_parts(db: SqlSession, claim: Claim, parts: Iterable[int] | None = None) -> None:
    """Raise StaleClaim unless these parts (all that are claimed: None) are held under the claim's epochs."""
    wanted = set(claim.parts if parts is None else parts)
    lost = wanted - {part for part, epoch in held_parts(db, wanted) if epoch == claim.epochs[part]}
    if lost:
        raise StaleClaim(
            f"node {claim.node}: parts {', '.join(map(str, sorted(lost)))} were taken by another node, "
            "which makes these results again"
        )


def of_parts(claim: Claim) -> dict[str, Any]:
    """Give what the macros `ours` and `claim` of statements read."""
    epochs = claim.epochs
    return {"width": SHARDS // len(epochs), "parts": ids(claim.parts), "epochs": ids(epochs), "epoch": epochs[0]}
