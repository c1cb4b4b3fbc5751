"""While this machine is short of files, memory, ports or buffers: checking pauses, and it is told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.events import Happening
from tocsin.model import SHORTAGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.model import CheckResult, Instant
    from tocsin.ports import Clock, Telemetry

MET = "shortage.met"
"""What a part of the engine emits that was put off by a shortage, with its text as `error`."""
FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 30.0
QUIET_S = 60.0
"""A shortage has ended when pages are received again, and nothing was put off for this long."""


class ShortageWatch:
    """Learns of shortages from results and happenings; pauses checking for a growing time, and tells of it once.

    Implements `ports.Telemetry`, to hear of what is emitted.

    since    when the shortage began that lasts; None where there is none
    error    what it is, and the mend
    put_off  how many checks, renderings and deliveries were put off by shortages since the start
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
        """Take note of a shortage that a part of the engine has met."""
        if happening.name == MET:
            self.met(str(happening.values["error"]))

    def committed(self, results: Sequence[CheckResult]) -> None:
        """Take note of checks that a shortage put off, and of those that show that it is over."""
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
            # Where pages are received in between, one page may take all the memory: it must not hold up the others.
            self._pause_s = FIRST_PAUSE_S if self._is_working else min(2 * self._pause_s, LONGEST_PAUSE_S)
            self._until_s = now_s + self._pause_s
            self._is_working = False

    @property
    def is_pausing(self) -> bool:
        """Whether no further page is to be asked for now."""
        return self.since is not None and self._clock.monotonic() < self._until_s

    def _end(self) -> None:
        since, self.since, self.error = self.since, None, ""
        if since is not None:
            lasted_s = max(self._clock.now() - since, 0) // 1_000_000
            put_off = self.put_off - self._put_off_before
            self._telemetry.emit(Happening("shortage.ended", "warning", {"lasted_s": lasted_s, "put_off": put_off}))
