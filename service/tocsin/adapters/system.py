"""The machine's clock and randomness."""

from __future__ import annotations

import asyncio
import time
from random import SystemRandom

from ulid import LaxMonotonicPolicy, ULIDGenerator

from tocsin.model import Instant


class SystemClock:
    """Implements `ports.Clock` on the clocks of this machine."""

    def now(self) -> Instant:
        """The wall clock, in microseconds since the epoch."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Give seconds that never go back, also when the wall clock is set."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let this much time pass; at least one turn of the loop."""
        await asyncio.sleep(seconds)


class SystemChance:
    """Implements `ports.Chance` on the system's source of randomness."""

    def __init__(self) -> None:
        self._random = SystemRandom()
        # Alerts of one millisecond sort in the order in which they were made.
        self._ulids = ULIDGenerator(policy=LaxMonotonicPolicy())

    def fraction(self) -> float:
        """A number from 0 up to but not including 1."""
        return self._random.random()

    def ulid(self, at: Instant) -> str:
        """An identifier that sorts by `at`, cut to milliseconds, and within one by the order of calls."""
        return str(self._ulids.generate(at // 1000))
