"""The machine's clock and randomness."""

from __future__ import annotations

import asyncio
import time
from random import SystemRandom

from tocsin.model import Instant

# Crockford's digits of base 32, in which identifiers are written.
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80
# Of the digits, five bits each; the first one of 26 has three.
_PLACES = range(125, -1, -5)


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
        self._last = 0

    def fraction(self) -> float:
        """A number from 0 up to but not including 1."""
        return self._random.random()

    def ulid(self, at: Instant) -> str:
        """A ULID, an identifier that sorts by `at`, cut to milliseconds, and within one by the order of calls."""
        millisecond = at // 1000
        if self._last >> _RANDOM_BITS == millisecond:
            # Alerts of one millisecond sort in the order in which they were made.
            self._last += 1
        else:
            self._last = millisecond << _RANDOM_BITS | self._random.getrandbits(_RANDOM_BITS)
        return "".join([_DIGITS[self._last >> place & 31] for place in _PLACES])
