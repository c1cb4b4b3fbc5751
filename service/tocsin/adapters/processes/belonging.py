"""A fetcher process and its parent: it takes signals from no other process, and ends with it."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from contextlib import suppress

from tocsin.adapters.processes.stream import MessageStream, to_main
from tocsin.ports.messages import FromFetcher, ToFetcher

_SET_SIGNAL_AT_PARENTS_DEATH = 1


def belong_to(parent: int) -> None:
    """Ignore the signals that are meant for the parent, and end with it, also in the middle of a page."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        # Only Linux has it; elsewhere the end of the stream ends the process after the page at hand.
        ctypes.CDLL(None).prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


async def open_stream(descriptor: int) -> MessageStream[FromFetcher, ToFetcher]:
    """Open the stream that this process was started with."""
    return await to_main(socket.socket(fileno=descriptor))
