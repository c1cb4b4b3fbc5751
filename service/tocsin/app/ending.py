"""The end of the service: what holds up its stop for too long is named and left."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import TYPE_CHECKING

from tocsin.events import Happening

if TYPE_CHECKING:
    from tocsin.ports import Telemetry


class StopSignal:
    """Sets an event at the first signal to stop, and ends the process where its stop takes longer than this.

    A database that accepts connections and answers nothing would hold the stop for ever. A process may be killed at any
    time, so nothing is lost: results that could not be written are found again.

    stopping  is set by `stop`
    """

    def __init__(self, telemetry: Telemetry, longest_s: float) -> None:
        self._telemetry, self._longest_s = telemetry, longest_s
        self._loop = asyncio.get_running_loop()
        self.stopping = asyncio.Event()

    def stop(self) -> None:
        """Begin the stop; later calls change nothing."""
        if not self.stopping.is_set():
            self.stopping.set()
            # A thread: the loop may have ended by then, and Python waits for threads that it started.
            timer = threading.Timer(self._longest_s, self._leave)
            timer.daemon = True
            timer.start()

    def _leave(self) -> None:
        tasks = [] if self._loop.is_closed() else [task.get_name() for task in asyncio.all_tasks(self._loop)]
        threads = [thread.name for thread in threading.enumerate() if not thread.daemon]
        held = {"after_s": self._longest_s, "tasks": sorted(tasks), "threads": sorted(threads)}
        self._telemetry.emit(Happening("service.held", "error", held))
        sys.stderr.flush()
        os._exit(1)
