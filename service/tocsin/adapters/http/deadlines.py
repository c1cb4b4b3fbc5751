"""A deadline for each phase of a request and for the whole, all watched by one coarse timer.

A timer for each phase of each request would cost more than the request's own bookkeeping; here a deadline is a number,
and one sweep, some ten times a second, looks at those of all requests in flight. So a deadline is met late by at most
one sweep, never early. Deadlines are for servers: time in which our own loop was too busy to read does not count.
"""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import socket
    import ssl
    from types import TracebackType

    from aiohttp.client_proto import ResponseHandler

    from tocsin.settings import Deadlines

LONGEST_TICK_S = 0.1
SHORTEST_TICK_S = 0.005
_TICKS_PER_DEADLINE = 10
TURN_S = 0.01
"""After so much work on one answer the others have their turn."""
PUNCTUAL_S = 0.02
"""A loop that is later than this with a sweep has kept requests waiting for as long."""


class Phase(StrEnum):
    """What a request is doing, named as its setting is; the body has no deadline but the total."""

    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    FIRST_BYTE = "first_byte"
    BODY = "body"


class DeadlineMissed(Exception):
    """A request took too long.

    phase    what it was doing
    limit_s  the deadline that it missed
    total    that was the deadline of the whole set
    """

    def __init__(self, phase: Phase, limit_s: float, *, total: bool) -> None:
        super().__init__(phase, limit_s)
        self.phase, self.limit_s, self.total = phase, limit_s, total


class Watched(Protocol):
    """A request in flight, as the sweep and the budget of all bodies know it."""

    def check(self, now: float) -> None:
        """Give it up if one of its deadlines is over.

        now  in the seconds of `DeadlineSweep.listening_s`
        """

    def interrupt(self, why: Exception) -> None:
        """Give it up: this is raised where its answer is awaited."""


class Watch:
    """One request in flight: its phase, its deadlines, and the task to be interrupted.

    tls             the request is encrypted
    max_wire_bytes  the most that its answer's body may bring
    dialled         a connection was opened for it; the phases before FIRST_BYTE ran
    protocol        what holds its connection, once there is one
    encryption      of that connection, if it is encrypted
    """

    __slots__ = (
        "_cancelling",
        "_missed",
        "_sockets",
        "_sweep",
        "_task",
        "_total_s",
        "_total_until",
        "_until",
        "dialled",
        "encryption",
        "max_wire_bytes",
        "phase",
        "protocol",
        "tls",
    )

    def __init__(
        self, sweep: DeadlineSweep, total_s: float, *, tls: bool, max_wire_bytes: int, began: float | None = None
    ) -> None:
        self._sweep = sweep
        self._total_until = (sweep.listening_s() if began is None else began) + total_s
        self.max_wire_bytes = max_wire_bytes
        self._total_s = total_s
        self._sockets: list[socket.socket] = []
        self._missed: Exception | None = None
        self.dialled = False
        self.protocol: ResponseHandler | None = None
        self.encryption: ssl.SSLObject | None = None
        self.tls = tls

    def enter(self, phase: Phase) -> None:
        """Begin a phase; its deadline runs from now."""
        self.phase = phase
        self._until = self._sweep.listening_s() + self._sweep.limits[phase]

    def dial(self, sock: socket.socket) -> None:
        """Note that this socket is being connected."""
        self.dialled = True
        self._sockets.append(sock)
        if self.phase is not Phase.CONNECT:
            self.enter(Phase.CONNECT)

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("a request is made in a task")
        self._task = task
        self._cancelling = task.cancelling()
        self.enter(Phase.FIRST_BYTE)
        self._sweep.add(self)
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sweep.remove(self)
        self._sockets.clear()
        self.protocol = self.encryption = None
        missed, self._missed = self._missed, None
        # The same steps as in asyncio.timeout: a cancellation from outside goes before ours.
        if missed and self._task.uncancel() <= self._cancelling and exc_type is asyncio.CancelledError:
            try:
                raise missed from exc
            finally:
                # An error that its own traceback leads to would keep everything that it met for the collector.
                del missed

    def check(self, now: float) -> None:
        """Interrupt the request if one of its deadlines is over."""
        if self.phase is Phase.CONNECT and self.tls and any(map(_is_connected, self._sockets)):
            self.enter(Phase.TLS)
        if self._missed is not None:
            return
        if now >= self._total_until:
            self.interrupt(DeadlineMissed(self.phase, self._total_s, total=True))
        elif now >= self._until:
            self.interrupt(DeadlineMissed(self.phase, self._sweep.limits[self.phase], total=False))

    def interrupt(self, why: Exception) -> None:
        """End the request: this is raised where it is watched."""
        if self._missed is None:
            self._missed = why
            self._task.cancel()


CURRENT: ContextVar[Watch] = ContextVar("request")
"""The request that the running code serves: how the resolver and the socket factory know whom they work for."""


class DeadlineSweep:
    """Looks at all requests in flight at short intervals, as long as there are any."""

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
        self._watches: set[Watched] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._look_at = self._late_s = 0.0

    def now(self) -> float:
        """The loop's monotonic seconds."""
        return self._loop.time()

    def listening_s(self) -> float:
        """The loop's seconds without those by which it was late: what deadlines are measured in.

        While the loop is busy, answers wait unread in their sockets; a server is not blamed for that time.
        """
        return self._loop.time() - self._late_s

    def watch(self, total_s: float, *, tls: bool, max_wire_bytes: int, began: float | None = None) -> Watch:
        """Watch a request: `with sweep.watch(…) as watch:`; raises DeadlineMissed inside it.

        began  when the total deadline began to run, in the seconds of `listening_s`; None: now
        """
        return Watch(self, total_s, tls=tls, max_wire_bytes=max_wire_bytes, began=began)

    def add(self, watch: Watched) -> None:
        """Begin to look at this request."""
        self._watches.add(watch)
        if self._timer is None:
            self._look_later()

    def remove(self, watch: Watched) -> None:
        """Look at this request no more."""
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
        # What is given up leaves the set at once.
        for watch in tuple(self._watches):
            watch.check(now)
        self._timer = None
        if self._watches:
            self._look_later()

    def _look_later(self) -> None:
        self._look_at = self._loop.time() + self._tick_s
        self._timer = self._loop.call_at(self._look_at, self._look)


def _is_connected(sock: socket.socket) -> bool:
    try:
        sock.getpeername()
    except OSError:
        return False
    return True
