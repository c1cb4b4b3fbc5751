"""Pools of connections, each under one address policy and bounded in what it keeps idle."""

from __future__ import annotations

import asyncio
import resource
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.deadlines import RequestWatch
from tocsin.adapters.http.llhttp.connection import HttpConnection
from tocsin.adapters.http.llhttp.dialling import Dialler
from tocsin.adapters.http.llhttp.head import Proxy, SiteOrigin
from tocsin.errors import Shortage

KEPT_IDLE_S: Final = 15.0
MOST_IDLE_BYTES: Final = 64 * 2**20
# At most one of this many files that the process may open is an idle connection.
_IDLE_FILES: Final = 4
LOOK_S: Final = 3.0
# Of the loop: it closes a socket in the turn after `close`.
_CLOSING_TURNS: Final = 5
_ANY_ADDRESS: Final = ("0.0.0.0/0", "::/0")


class ConnectionPool:
    """Keeps connections for the next request to the same origin. Implements `connection.ConnectionOwner`.

    open_connections  those whose sockets are open: busy, idle, or about to be closed
    """

    def __init__(self, dialler: Dialler) -> None:
        self._dialler = dialler
        self._loop = asyncio.get_running_loop()
        self._idle: OrderedDict[HttpConnection, int] = OrderedDict()
        self._idle_bytes = 0
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._most_idle = sys.maxsize if files == resource.RLIM_INFINITY else files // _IDLE_FILES
        self._by_key: dict[object, list[HttpConnection]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        self.open_connections: set[HttpConnection] = set()

    def take(self, key: object) -> HttpConnection | None:
        """Give an idle connection of this key, if there is one."""
        while (waiting := self._by_key.get(key)) is not None:
            connection = waiting[-1]
            self.withdraw(connection)
            if connection.idle_since + KEPT_IDLE_S > self._loop.time():
                return connection
            connection.close()
        return None

    async def dial(self, origin: SiteOrigin, proxy: Proxy | None, key: object, watch: RequestWatch) -> HttpConnection:
        """Make a new connection; raises NotConnected, AddressRefused or Shortage."""
        try:
            return await self._dialler.dial(origin, proxy, key, self, watch)
        except Shortage:
            # Idle connections hold what is short: files, ports or memory.
            for idle in tuple(self._idle):
                idle.close()
            raise

    def keep(self, connection: HttpConnection) -> None:
        """Keep a connection that is idle now; those that were idle for longest make room for it."""
        if self._is_closed:
            connection.close()
            return
        self._idle[connection] = connection.idle_bytes
        self._idle_bytes += connection.idle_bytes
        self._by_key.setdefault(connection.key, []).append(connection)
        while self._idle_bytes > MOST_IDLE_BYTES or len(self._idle) > self._most_idle:
            next(iter(self._idle)).close()
        if self._timer is None:
            self._timer = self._loop.call_later(LOOK_S, self._look)

    def withdraw(self, connection: HttpConnection) -> None:
        """Give this connection to no request any more; does nothing if it is not idle."""
        idle_bytes = self._idle.pop(connection, None)
        if idle_bytes is not None:
            self._idle_bytes -= idle_bytes
            waiting = self._by_key[connection.key]
            if len(waiting) > 1:
                waiting.remove(connection)
            else:
                del self._by_key[connection.key]

    def opened(self, connection: HttpConnection) -> None:
        """Note that its socket is open."""
        self.open_connections.add(connection)

    def closed(self, connection: HttpConnection) -> None:
        """Note that its socket is closed."""
        self.open_connections.discard(connection)

    async def close(self) -> None:
        """Close every connection."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for connection in tuple(self.open_connections):
            connection.close()
        for _ in range(_CLOSING_TURNS):
            if self.open_connections:
                await asyncio.sleep(0)

    def _look(self) -> None:
        """Close connections that have been idle for too long."""
        latest = self._loop.time() - KEPT_IDLE_S
        while self._idle and (oldest := next(iter(self._idle))).idle_since <= latest:
            oldest.close()
        self._timer = self._loop.call_later(LOOK_S, self._look) if self._idle else None


class PoolsByPolicy:
    """The pools of a session: one under the address policy, and one for pages that may have any address.

    A connection made for a page that may have any address is never given to a page that may not.

    policy  for pages that are not private
    open_   opens a pool under a policy
    """

    def __init__(self, policy: AddressPolicy, open_: Callable[[AddressPolicy], ConnectionPool]) -> None:
        self._policy, self._open = policy, open_
        self._public: ConnectionPool | None = None
        self._private: ConnectionPool | None = None

    def of(self, *, private: bool) -> ConnectionPool:
        """Give the pool for a request, opened when it is first needed; see `HopRequest.private`."""
        if private:
            if self._private is None:
                self._private = self._open(AddressPolicy(_ANY_ADDRESS))
            return self._private
        if self._public is None:
            self._public = self._open(self._policy)
        return self._public

    async def close(self) -> None:
        """Close every connection; a later request opens new pools."""
        for pool in (self._public, self._private):
            if pool is not None:
                await pool.close()
        self._public = self._private = None

    @property
    def connections(self) -> int:
        """The number of open connections, busy or idle."""
        return sum(len(pool.open_connections) for pool in (self._public, self._private) if pool is not None)
