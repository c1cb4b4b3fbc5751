"""A fetcher process's ties to its parent: it obeys nobody else, and never outlives it."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from tocsin.adapters.processes.name_tag import NameTag
from tocsin.adapters.processes.stream import to_main

if TYPE_CHECKING:
    from tocsin.adapters.processes.stream import MessageStream
    from tocsin.ports.messages import FromFetcher, ToFetcher

_SET_SIGNAL_AT_PARENTS_DEATH = 1


def belong_to(parent: int) -> None:
    """Ignore the signals that are meant for the parent, and die with it, also in the middle of a page."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        # Linux alone has it; elsewhere the end of the stream tells, as soon as the page at hand is done.
        ctypes.CDLL(None).prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


async def open_stream(descriptor: int) -> MessageStream[FromFetcher, ToFetcher]:
    """Open the stream that this process was started with."""
    return await to_main(socket.socket(fileno=descriptor))


def open_name_tag(descriptor: int) -> NameTag:
    """Open the shared memory that this process was started with."""
    return NameTag(descriptor)
