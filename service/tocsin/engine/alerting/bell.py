"""Rings when something was written that somebody may wait for."""

from __future__ import annotations

import asyncio


class WakeUp:
    """Wakes everybody who waits, each time it is rung."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake whoever waits now."""
        self._rung.set()
        self._rung = asyncio.Event()

    def next(self) -> asyncio.Event:
        """Give the event that is set when it rings the next time."""
        return self._rung
