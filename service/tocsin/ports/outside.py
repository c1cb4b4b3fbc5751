"""Time, chance, and where happenings go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tocsin.events import Happening
    from tocsin.model import Instant


class Clock(Protocol):
    """Wall time for what is stored, monotonic time for deadlines and politeness."""

    def now(self) -> Instant:
        """The wall clock, UTC."""

    def monotonic(self) -> float:
        """Seconds that never go back."""

    async def sleep(self, seconds: float) -> None:
        """Let this much monotonic time pass."""


class Chance(Protocol):
    """Randomness for jitter and identifiers."""

    def fraction(self) -> float:
        """A number from 0 up to but not including 1."""

    def ulid(self, at: Instant) -> str:
        """An identifier that sorts by time."""


class Telemetry(Protocol):
    """Where happenings go: log lines, and later metrics."""

    def emit(self, happening: Happening) -> None:
        """Take note of it; never blocks, never raises."""
