"""Limits of this process: its requests and pages in hand, the time of its loop, pauses while the machine is short."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from tocsin.events import Happening
from tocsin.model import SHORTAGE, CheckResult, Instant
from tocsin.ports import Clock, Telemetry

# Bounds of one process: requests under way, and pages in hand.


# Pages in hand per request slot: most of them wait for their turn at a host.
PAGES_A_REQUEST: Final = 4
# Least number of pages that a late process has in hand.
FEWEST_PAGES: Final = 32
# Longest acceptable wait of work that is ready.
LATE_S: Final = 0.5


class RequestSlots:
    """A semaphore for requests with two priorities; a free slot costs no more than a subtraction.

    most  number of slots
    free  slots that are free
    """

    __slots__ = ("_urgent", "_usual", "free", "most")

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._usual: deque[asyncio.Future[None]] = deque()

    @property
    def taken(self) -> int:
        """Slots that are taken."""
        return self.most - self.free

    def take_at_once(self) -> bool:
        """Take a slot if one is free; `give_back` must follow."""
        if self.free:
            self.free -= 1
            return True
        return False

    async def take(self, *, urgent: bool = False) -> None:
        """Wait for a slot and take it; `give_back` must follow.

        urgent  goes first, as renderings do: they are few, and each has an alert waiting
        """
        if self.take_at_once():
            return
        place = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._usual).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                # The slot was handed over just before the cancellation.
                self.give_back()
            raise

    def give_back(self) -> None:
        """Hand the slot to the first waiter, urgent ones first, or free it."""
        while waiting := self._urgent or self._usual:
            place = waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1


class PageAllowance:
    """Limit of the pages that a process has in hand; it shrinks while its loop is late.

    most   the limit of a process that is not late
    pages  the current limit
    """

    # A process short of CPU makes no more checks by having more pages in hand: these only delay its renderings and
    # everything else in the same loop.

    __slots__ = ("_fewest", "_most", "pages")

    def __init__(self, most: int) -> None:
        self._most = self.pages = most
        self._fewest = min(most, FEWEST_PAGES)

    def adapt(self, lag_s: float, in_hand: int) -> None:
        """Adapt the limit to the latest lag; called once a second.

        in_hand  pages that the process has
        """
        if lag_s > LATE_S:
            fewer = int(min(self.pages, in_hand) * max(LATE_S / lag_s, 0.5))
            self.pages = max(fewer, self._fewest)
        elif lag_s < LATE_S / 2:
            self.pages = min(self.pages + max(self.pages // 4, 8), self._most)


# Sharing the time of the loop between pieces of work of milliseconds, and measuring its lag.


# Longest work in one turn of the loop; then sockets, timers and messages have their turn.
TURN_S: Final = 0.005
# Shorter work is not counted: waiting for a turn would cost a share of it, and hundreds fit into one turn.
SHORT_S: Final = 0.0005
# Interval of measuring the lag.
MEASURED_S: Final = 1.0
_MOST_WOKEN: Final = 64
# Of the latest piece of work in the mean.
_WEIGHT: Final = 0.1


class LoopTime:
    """Limits synchronous work, such as reading pages, per turn of the loop; urgent work goes first.

    Use    `begin_at_once` or `begin`, then the work without any await, then `end`
    now    monotonic seconds
    lag_s  longest wait of work that was ready, as last measured
    """

    # When hundreds of answers arrive together, reading all of them in one turn would delay every socket, timer and
    # message for seconds, renderings among them.

    __slots__ = ("_began_s", "_is_turning", "_longest_s", "_mean_s", "_now", "_spent_s", "_urgent", "_usual", "lag_s")

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._urgent: deque[tuple[float, asyncio.Future[bool]]] = deque()
        self._usual: deque[tuple[float, asyncio.Future[bool]]] = deque()
        self._is_turning = False
        self._began_s = self._spent_s = self._mean_s = self._longest_s = self.lag_s = 0.0

    def begin_at_once(self) -> bool:
        """Begin if this turn of the loop has time left; `end` must follow."""
        if self._spent_s >= TURN_S:
            return False
        self._began_s = self._now()
        return True

    async def begin(self, *, urgent: bool = False) -> None:
        """Wait for a turn of the loop; `end` must follow."""
        if self.begin_at_once():
            return
        loop, waiting = asyncio.get_running_loop(), self._urgent if urgent else self._usual
        place, since = loop.create_future(), self._now()
        waiting.append((since, place))
        self._turn_later()
        # The first waiter of a turn always begins, so that each turn makes progress.
        while not await place and self._spent_s >= TURN_S:
            place = loop.create_future()
            waiting.appendleft((since, place))
            self._turn_later()
        self._began_s = self._now()
        self._longest_s = max(self._longest_s, self._began_s - since)

    def end(self) -> None:
        """End the work that began last."""
        took_s = self._now() - self._began_s
        self._mean_s = self._mean_s + (took_s - self._mean_s) * _WEIGHT if self._mean_s else took_s
        if took_s < SHORT_S:
            return
        self._spent_s += took_s
        if self._spent_s >= TURN_S:
            self._turn_later()

    async def measure(self, clock: Clock) -> float:
        """Measure `lag_s` once: the lateness of a timer, or the wait of work for its turn."""
        began_s = clock.monotonic()
        await clock.sleep(MEASURED_S)
        late_s, now = clock.monotonic() - began_s - MEASURED_S, self._now()
        waits_s = (now - queue[0][0] for queue in (self._urgent, self._usual) if queue)
        self.lag_s = round(max(late_s, self._longest_s, *waits_s, 0.0), 3)
        self._longest_s = 0.0
        return self.lag_s

    async def keep_measuring(self, clock: Clock) -> None:
        """Measure until cancelled."""
        while True:
            await self.measure(clock)

    def _turn_later(self) -> None:
        if not self._is_turning:
            self._is_turning = True
            asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Wake as many waiters as probably fit into this turn, at least one."""
        self._is_turning, self._spent_s = False, 0.0
        left = min(int(TURN_S / self._mean_s), _MOST_WOKEN) if self._mean_s else 1
        left, is_first = max(left, 1), True
        while left and (queue := self._urgent or self._usual):
            _, place = queue.popleft()
            if not place.done():
                place.set_result(is_first)
                is_first = False
                left -= 1
        if self._urgent or self._usual:
            self._turn_later()


# Checking pauses while this machine is short of files, memory, ports or buffers.


# The happening that reports work postponed by a shortage, with the text as `error`.
MET = "shortage.met"
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
# A shortage is over when pages are received again and nothing was postponed for this long.
QUIET_S = 60.0


class ShortageWatch:
    """Pauses checking for a growing time during a shortage, and logs its begin and end.

    Implements `ports.Telemetry`, to receive reports of shortages.
    since    begin of the current shortage; None without one
    error    the shortage and its mend
    put_off  checks, renderings and deliveries postponed by shortages since the start
    """

    def __init__(self, clock: Clock, telemetry: Telemetry) -> None:
        self._clock, self._telemetry = clock, telemetry
        self.since: Instant | None = None
        self.error = ""
        self.put_off = 0
        self._put_off_before = 0
        self._pause_s = FIRST_PAUSE_S
        self._met_s = self._until_s = 0.0
        self._is_working = False

    def emit(self, happening: Happening) -> None:
        """Take note of a shortage that a part of the engine reports."""
        if happening.name == MET:
            self.met(str(happening.values["error"]))

    def committed(self, results: Sequence[CheckResult]) -> None:
        """Take note of checks postponed by a shortage, and of those that show its end."""
        for result in results:
            error = result.report.error
            if error is not None and error[0] == SHORTAGE:
                self.met(error[1])
        if self.since is not None and any(result.received for result in results):
            self._is_working = True
            if self._clock.monotonic() - self._met_s >= QUIET_S:
                self._end()

    def met(self, error: str) -> None:
        """Take note of one shortage."""
        self.put_off += 1
        now_s = self._met_s = self._clock.monotonic()
        if self.since is None:
            self.since, self.error = self._clock.now(), error
            self._put_off_before = self.put_off - 1
            self._pause_s, self._is_working = FIRST_PAUSE_S, False
            self._until_s = now_s + self._pause_s
            self._telemetry.emit(Happening("shortage.began", "error", {"error": error}))
        elif now_s >= self._until_s:
            # If pages are received in between, one single page may take all the memory: it must not stop the others.
            self._pause_s = FIRST_PAUSE_S if self._is_working else min(2 * self._pause_s, LONGEST_PAUSE_S)
            self._until_s = now_s + self._pause_s
            self._is_working = False

    @property
    def is_pausing(self) -> bool:
        """Whether no further page is requested now."""
        return self.since is not None and self._clock.monotonic() < self._until_s

    def _end(self) -> None:
        since, self.since, self.error = self.since, None, ""
        if since is not None:
            lasted_s = max(self._clock.now() - since, 0) // 1_000_000
            put_off = self.put_off - self._put_off_before
            self._telemetry.emit(Happening("shortage.ended", "warning", {"lasted_s": lasted_s, "put_off": put_off}))
