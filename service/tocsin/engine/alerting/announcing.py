"""Telling of what was gathered, once its gathering has ended: the loop that storms and questions have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final

from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.model import Instant
    from tocsin.ports import Clock, Telemetry

LOOK_S: Final = 1.0


class Announcing(ABC):
    """Announces what is due.

    gather        how long it is gathered
    on_announced  is told that alerts were written
    """

    failed: ClassVar[str]
    """What has happened when the store fails."""

    def __init__(
        self, gather: timedelta, clock: Clock, telemetry: Telemetry, *, on_announced: Callable[[], None]
    ) -> None:
        self._gather_us = round(gather.total_seconds() * 1_000_000)
        self._clock, self._telemetry, self._on_announced = clock, telemetry, on_announced

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening(self.failed, "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> int:
        """Announce what is due; returns how much."""
        return await self._announce_by(self._clock.now())

    async def flush(self) -> int:
        """Announce all at once: a one-shot command has nothing more to gather. Returns how much."""
        return await self._announce_by(self._clock.now() + self._gather_us)

    async def _announce_by(self, due_by: Instant) -> int:
        announced = await self._announce(due_by)
        if announced:
            self._on_announced()
        return announced

    @abstractmethod
    async def _announce(self, due_by: Instant) -> int:
        """Write an alert of each that is due by then; returns of how many. Raises StoreError."""
