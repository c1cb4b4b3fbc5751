"""The channel that writes alerts to standard output as lines of JSON."""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import Sequence

from tocsin.adapters.channels.context import ChannelContext
from tocsin.errors import DeliveryError
from tocsin.ports import ChannelFinding, Notification
from tocsin.settings import ChannelSettings

STDOUT = 1
# A pipe that is ready takes this much without blocking (PIPE_BUF on Linux).
_PIECE = 4096


class StdoutSettings(ChannelSettings, frozen=True, kw_only=True):
    """Standard output of the service."""


class StdoutType:
    """Alerts as lines on standard output; implements `ChannelType`."""

    Settings = StdoutSettings
    example = """\
type = "stdout"              # one alert a line
"""

    def open(self, name: str, settings: StdoutSettings, _context: ChannelContext) -> StdoutChannel:
        """Build the channel; its timeout is its only setting."""
        return StdoutChannel(name, settings.timeout.total_seconds())

    async def probe(self, _name: str, _settings: StdoutSettings, _context: ChannelContext) -> Sequence[ChannelFinding]:
        """Find nothing: whether it is read is known when alerts are written."""
        return ()


class StdoutChannel:
    """Writes each event as one line.

    timeout_s  how long to wait for a reader
    file       the file descriptor
    """

    def __init__(self, name: str, timeout_s: float, file: int = STDOUT) -> None:
        self.name = name
        self.at_once, self.takes_messages = 1, False
        self._timeout_s, self._file = timeout_s, file
        self._rest = b""
        self._turn = asyncio.Lock()

    async def deliver(self, notification: Notification) -> None:
        """Write the event; raises DeliveryError that blames the channel if it is not read in time."""
        line = notification.event.json + b"\n"
        async with self._turn:
            try:
                await asyncio.to_thread(self._write, line)
            except OSError as exc:
                raise DeliveryError(self.name, "channel", f"standard output: {exc.strerror or exc}") from exc

    async def close(self) -> None:
        """Do nothing: the process owns standard output."""

    def _write(self, line: bytes) -> None:
        """Write the rest of the line before, and the line."""
        deadline = time.monotonic() + self._timeout_s
        left = memoryview(self._rest + line)
        while left:
            _, ready, _ = select.select([], [self._file], [], max(deadline - time.monotonic(), 0.0))
            if not ready:
                written = len(self._rest) + len(line) - len(left)
                # A line that a slow reader took only in part is completed before the next one, and its event is
                # delivered again. A line of which nothing was written is just delivered again.
                is_begun = written > len(self._rest)
                self._rest = bytes(left) if is_begun else self._rest[written:]
                raise OSError(None, f"not read within {self._timeout_s:g} s")
            left = left[os.write(self._file, left[:_PIECE]) :]
        self._rest = b""
