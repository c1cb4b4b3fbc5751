"""Ports of loopback that somebody else is to listen on in a moment."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from random import SystemRandom

_PORTS = range(20_000, 28_000)
"""Below those that systems give away by themselves, also for connections to elsewhere."""


def free_ports(count: int) -> list[int]:
    """Choose ports that nobody listens on, each another one; they stay free but for whoever asks for just these."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            probe = held.enter_context(socket.socket())
            try:
                probe.bind(("127.0.0.1", SystemRandom().choice(_PORTS)))
            except OSError:
                continue
            found.append(probe.getsockname()[1])
    return found
