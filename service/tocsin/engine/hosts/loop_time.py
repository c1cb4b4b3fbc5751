"""Sharing the time of the loop between pieces of work of milliseconds, and measuring its lag."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.ports import Clock

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
