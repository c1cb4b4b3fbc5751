"""An event loop whose time is made up: where all tasks wait, it jumps to the next timer."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any

from tocsin.model import Instant

_STARTED_US = 1_767_225_600_000_000


class _NoWaiting(selectors.BaseSelector):
    """Passes time on instead of waiting; nothing ever comes from outside."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return selectors.SelectorKey(fileobj, 0, 0, None)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("every task waits for another one")
        self.now_s += max(timeout, 0.0)
        return []

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return {}


class VirtualLoop(asyncio.SelectorEventLoop):
    """Runs tasks as any loop does, without waiting; nothing in it may use threads or sockets."""

    def __init__(self) -> None:
        self._passing = _NoWaiting()
        super().__init__(self._passing)
        # A timer that is a rounding error away would never come.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Seconds since the beginning."""
        return self._passing.now_s


class VirtualClock:
    """Implements ports.Clock on the loop's time."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> Instant:
        """The instant, in microseconds."""
        return _STARTED_US + round(self._loop.time() * 1_000_000)

    def monotonic(self) -> float:
        """The loop's time."""
        return self._loop.time()

    async def sleep(self, seconds: float) -> None:
        """Let time pass."""
        await asyncio.sleep(seconds)
