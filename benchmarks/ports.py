"""Ports of loopback that another program is to listen on in a moment."""

from __future__ import annotations

import socket
from contextlib import ExitStack
from random import SystemRandom

_PORTS = range(20_000, 28_000)
"""Below those that systems give away by themselves, also for connections to elsewhere."""
# A chosen port stays free until its server listens: of 25 that start together, two could get the same.
_given: set[int] = set()


def free_ports(count: int) -> list[int]:
    """Choose ports that no program listens on; a process gets each at most once."""
    found: list[int] = []
    with ExitStack() as held:
        while len(found) < count:
            port = SystemRandom().choice(_PORTS)
            if port in _given:
                continue
            probe = held.enter_context(socket.socket())
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            _given.add(port)
            found.append(port)
    return found
