"""Checking pauses while this machine is short of files, memory, ports or buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.events import Happening
from tocsin.model import SHORTAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import CheckResult, Instant
    from tocsin.ports import Clock, Telemetry

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
