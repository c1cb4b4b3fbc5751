"""Deadlines for each phase of a request and for the whole, all checked by one coarse timer.

A deadline is noticed late by at most one sweep, never early.
"""

from __future__ import annotations

import asyncio
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from tocsin.settings import Deadlines

# One sweep for all requests costs less than a timer for each.
LONGEST_TICK_S = 0.1
SHORTEST_TICK_S = 0.005
# A deadline is met within a tenth of itself.
_TICKS_PER_DEADLINE = 10
# The longest work on one answer before others have their turn.
TURN_S = 0.01
# A loop that is later than this with a sweep has also been late in reading answers.
PUNCTUAL_S = 0.02


class Phase(StrEnum):
    """What a request is doing, by the name of its setting; the body has only the total deadline."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    FIRST_BYTE = "first_byte"
    BODY = "body"


class DeadlineMissed(Exception):
    """A request took too long.

    phase    what the request was doing
    limit_s  the deadline that it missed
    total    the deadline is that of the whole set
    """

    def __init__(self, phase: Phase, limit_s: float, *, total: bool) -> None:
        super().__init__(phase, limit_s)
        self.phase, self.limit_s, self.total = phase, limit_s, total


class InFlight(Protocol):
    """A request in flight, as the sweep and the budget of bodies see it."""

    def check(self, now: float) -> None:
        """Give the request up if one of its deadlines is over.

        now  in the seconds of `DeadlineSweep.listening_s`
        """

    def interrupt(self, why: Exception) -> None:
        """Give the request up: this error is raised where its answer is awaited."""


class RequestWatch:
    """The phases before a request is sent, in the task that is to be interrupted when one takes too long."""

    __slots__ = ("_cancelling", "_missed", "_sweep", "_task", "_total_s", "_total_until", "_until", "phase")

    def __init__(self, sweep: DeadlineSweep, total_s: float, began: float) -> None:
        self._sweep, self._total_s, self._total_until = sweep, total_s, began + total_s
        self._missed: Exception | None = None

    def enter(self, phase: Phase) -> None:
        """Begin a phase; its deadline runs from now."""
        self.phase = phase
        self._until = self._sweep.listening_s() + self._sweep.limits[phase]

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is made in a task")
        self._task = task
        self._cancelling = task.cancelling()
        self.enter(Phase.DNS)
        self._sweep.add(self)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sweep.remove(self)
        missed, self._missed = self._missed, None
        # The same steps as in asyncio.timeout: a cancellation from outside goes before ours.
        if missed and self._task.uncancel() <= self._cancelling and exc_type is asyncio.CancelledError:
            try:
                raise missed from exc
            finally:
                # An error that is reachable from its own traceback would keep all frames until the collector runs.
                del missed

    def check(self, now: float) -> None:
        """Interrupt the request if one of its deadlines is over."""
        if self._missed is not None:
            return
        if now >= self._total_until:
            self.interrupt(DeadlineMissed(self.phase, self._total_s, total=True))
        elif now >= self._until:
            self.interrupt(DeadlineMissed(self.phase, self._sweep.limits[self.phase], total=False))

    def interrupt(self, why: Exception) -> None:
        """End the request: this error is raised where it is watched."""
        if self._missed is None:
            self._missed = why
            self._task.cancel()


class DeadlineSweep:
    """Checks all requests in flight at short intervals, while there are any."""

    # A timer for each phase of each request would cost more than the rest of its bookkeeping.

    def __init__(self, deadlines: Deadlines) -> None:
        self.limits = {
            Phase.DNS: deadlines.dns.total_seconds(),
            Phase.CONNECT: deadlines.connect.total_seconds(),
            Phase.TLS: deadlines.tls.total_seconds(),
            Phase.FIRST_BYTE: deadlines.first_byte.total_seconds(),
            Phase.BODY: float("inf"),
        }
        self.first_byte_s = self.limits[Phase.FIRST_BYTE]
        shortest = min(*self.limits.values(), deadlines.total.total_seconds())
        self._tick_s = min(max(shortest / _TICKS_PER_DEADLINE, SHORTEST_TICK_S), LONGEST_TICK_S)
        self._loop = asyncio.get_running_loop()
        self._watches: set[InFlight] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._look_at = self._late_s = 0.0

    def now(self) -> float:
        """The loop's monotonic seconds."""
        return self._loop.time()

    def listening_s(self) -> float:
        """The loop's clock without the time by which the loop was late; deadlines use it."""
        # While the loop is busy, answers wait unread in their sockets; a server is not blamed for that time.
        return self._loop.time() - self._late_s

    def watch(self, total_s: float, began: float) -> RequestWatch:
        """Watch a request: `with sweep.watch(…) as watch:`; raises DeadlineMissed inside it.

        began  when the total deadline began to run, in the seconds of `listening_s`
        """
        return RequestWatch(self, total_s, began)

    def add(self, watch: InFlight) -> None:
        """Begin to check this request."""
        self._watches.add(watch)
        if self._timer is None:
            self._look_later()

    def remove(self, watch: InFlight) -> None:
        """Check this request no more."""
        self._watches.discard(watch)

    def __len__(self) -> int:
        return len(self._watches)

    def close(self) -> None:
        """Stop the timer."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        late_s = self._loop.time() - self._look_at
        if late_s > PUNCTUAL_S:
            self._late_s += late_s
        now = self.listening_s()
        # A request that is given up leaves the set at once.
        for watch in tuple(self._watches):
            watch.check(now)
        self._timer = None
        if self._watches:
            self._look_later()

    def _look_later(self) -> None:
        self._look_at = self._loop.time() + self._tick_s
        self._timer = self._loop.call_at(self._look_at, self._look)
