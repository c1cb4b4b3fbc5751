"""A pool of lean connections under one address policy, bounded in what it keeps idle."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http import limits
from tocsin.errors import Shortage

if TYPE_CHECKING:
    from tocsin.adapters.http.deadlines import Watch
    from tocsin.adapters.http.llhttp.connection import Connection
    from tocsin.adapters.http.llhttp.dialling import Dialler
    from tocsin.adapters.http.llhttp.head import Origin

PLAIN_IDLE_BYTES: Final = 12 * 1024
TLS_IDLE_BYTES: Final = 100 * 1024
"""Half of what the event loop's own TLS takes: nothing here is kept to be read into."""
_IDLE_FILES: Final = 4
"""One file in so many that the process may open is an idle connection, at most."""
LOOK_S: Final = 3.0
_CLOSING_TURNS: Final = 5
"""Of the loop: a socket is closed in the turn after the one in which it was told to be."""


class LeanPool:
    """Keeps connections for the next request to the same origin.

    loop      the one that it runs on
    standing  those whose sockets are open: busy, idle, or about to be closed
    A pool serves one policy, so that a connection made under a looser one is never reused under a stricter one.
    """

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self.loop = asyncio.get_running_loop()
        self._idle: OrderedDict[Connection, int] = OrderedDict()
        self._idle_bytes = 0
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most_idle = sys.maxsize if files == resource.RLIM_INFINITY else files // _IDLE_FILES
        self._by_key: dict[object, list[Connection]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.standing: set[Connection] = set()

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return len(self.standing)

    def take(self, origin: Origin) -> Connection | None:
        """Give a connection that was kept for this origin, if there is one."""
        key = origin.key
        while (waiting := self._by_key.get(key)) is not None:
            connection = waiting[-1]
            self.withdraw(connection)
            if connection.idle_since + limits.KEPT_IDLE_S > self.loop.time():
                return connection
            connection.close()
        return None

    async def dial(self, origin: Origin, watch: Watch) -> Connection:
        """Make a new connection; raises Unreached, AddressRefused or Shortage."""
        try:
            return await self._dialler.dial(origin, self, watch, self.loop)
        except Shortage:
            # What lies idle has what is missing: files, ports or memory.
            for connection in tuple(self._idle):
                connection.close()
            raise

    def keep(self, connection: Connection) -> None:
        """Keep a connection that lies idle now; the ones that lay so longest make room for it."""
        if self._is_closed:
            connection.close()
            return
        size = TLS_IDLE_BYTES if connection.is_sealed else PLAIN_IDLE_BYTES
        self._idle[connection] = size
        self._idle_bytes += size
        self._by_key.setdefault(connection.key, []).append(connection)
        while self._idle_bytes > limits.MOST_IDLE_BYTES or len(self._idle) > self._most_idle:
            next(iter(self._idle)).close()
        if self._timer is None:
            self._timer = self.loop.call_later(LOOK_S, self._look)

    async def close(self) -> None:
        """Close every connection."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in tuple(self.standing):
            connection.close()
        for _ in range(_CLOSING_TURNS):
            if self.standing:
                await asyncio.sleep(0)

    def withdraw(self, connection: Connection) -> None:
        """Give a connection to nobody any more; nothing if it does not lie idle."""
        size = self._idle.pop(connection, None)
        if size is not None:
            self._idle_bytes -= size
            waiting = self._by_key[connection.key]
            if len(waiting) > 1:
                waiting.remove(connection)
            else:
                del self._by_key[connection.key]

    def _look(self) -> None:
        """Close what has been idle for too long."""
        latest = self.loop.time() - limits.KEPT_IDLE_S
        while self._idle and (oldest := next(iter(self._idle))).idle_since <= latest:
            oldest.close()
        self._timer = self.loop.call_later(LOOK_S, self._look) if self._idle else None
