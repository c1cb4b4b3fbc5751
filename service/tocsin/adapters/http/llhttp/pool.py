"""Connections: pooled by host, dialled, and where a proxy is set tunnelled through it."""

from __future__ import annotations

import asyncio
import os
import re
import resource
import socket
import ssl
import sys
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

import aiohappyeyeballs
from aiohappyeyeballs import AddrInfoType

from tocsin.adapters.http.addresses import AddressPolicy, AddressRefused, NameCache, NameNotResolved
from tocsin.adapters.http.bodies import BodyBudget
from tocsin.adapters.http.deadlines import DeadlineSweep, Phase, RequestWatch
from tocsin.adapters.http.llhttp.connection import (
    ConnectionOwner,
    HttpConnection,
    NotConnected,
    ReadBuffers,
    handshake_failed,
)
from tocsin.adapters.http.llhttp.messages import MOST_HEADER_BYTES, Disconnected, Proxy, SiteOrigin
from tocsin.adapters.http.tls import SessionKey, TlsLayer, TlsSessions
from tocsin.errors import Shortage, shortage_of
from tocsin.model import FailureKind
from tocsin.spec.infrastructure.unsafe import one_line

# The part of a connection that is between this program and its proxy, before the bytes of the site.


_STATUS: Final = re.compile(rb"HTTP/1\.[01] ([1-9]\d\d)(?: ([^\r\n]*))?\r\n")
_INTERIM: Final = range(100, 200)
_SUCCESS: Final = range(200, 300)
# For the loop's own timeouts of TLS: the deadlines of the request are shorter.
_UNLIMITED_S: Final = 24 * 3600.0


class Tunnel(asyncio.Protocol):
    """Asks a proxy for a tunnel, and hands the connection over to the protocol that uses it."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._received = b""
        self._is_lost = False
        self._answered: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport  # type: ignore[assignment] # of a stream

    def data_received(self, data: bytes) -> None:
        """Take bytes of the answer to CONNECT."""
        self._received += data
        if self._answered is not None and not self._answered.done():
            self._judge(self._answered)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - every end is the same
        """Take the end of the connection."""
        self._is_lost = True
        if self._answered is not None and not self._answered.done():
            self._answered.set_exception(_ended())

    async def encrypt(self, context: ssl.SSLContext, name: str) -> None:
        """Carry out the TLS handshake with the proxy; raises NotConnected."""
        try:
            self._transport = await self._loop.start_tls(
                self._open_transport(),
                self,
                context,
                server_hostname=name,
                ssl_handshake_timeout=_UNLIMITED_S,
                ssl_shutdown_timeout=_UNLIMITED_S,
            )
        except (ssl.SSLError, ConnectionError) as exc:
            raise handshake_failed(exc) from exc

    async def open(self, connect_head: bytes) -> None:
        """Send a CONNECT request and wait for its answer; raises NotConnected."""
        self._answered = self._loop.create_future()
        self._open_transport().write(connect_head)
        await self._answered

    def hand_over(self, protocol: asyncio.BaseProtocol) -> None:
        """Let this protocol have the connection from now on; raises NotConnected or Disconnected."""
        transport = self._open_transport()
        if self._received:
            # In TLS and in HTTP the client speaks first: these bytes are no answer to anything.
            raise Disconnected("the proxy spoke before it was asked")
        transport.set_protocol(protocol)
        protocol.connection_made(transport)
        self._transport = None

    def close(self) -> None:
        """Close the connection, unless it was handed over."""
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    def _open_transport(self) -> asyncio.Transport:
        if self._transport is None or self._is_lost or self._transport.is_closing():
            raise _ended()
        return self._transport

    def _judge(self, answered: asyncio.Future[None]) -> None:
        """Read the header of the answer once it is complete. Source: RFC 9110, 9.3.6: a success has no body."""
        status, reason = _INTERIM.start, ""
        while status in _INTERIM:
            header, end, rest = self._received.partition(b"\r\n\r\n")
            if len(header) > MOST_HEADER_BYTES:
                answered.set_exception(_failed(f"answered with a header of more than {MOST_HEADER_BYTES} bytes"))
                return
            if not end:
                return
            self._received = rest
            line = _STATUS.match(header + end)
            if line is None:
                answered.set_exception(_failed("did not answer with HTTP"))
                return
            status, reason = int(line[1]), (line[2] or b"").decode("latin-1").strip()
        if status in _SUCCESS:
            answered.set_result(None)
        else:
            answered.set_exception(_failed(f"answered {status} {one_line(reason) if reason else ''}".rstrip()))


def _ended() -> NotConnected:
    return _failed("closed the connection before it answered")


def _failed(why: str) -> NotConnected:
    return NotConnected(FailureKind.CONNECT, f"the proxy {why}")


# A new connection: the addresses of the name, each judged as it is dialled, the fastest one, and the TLS handshake.


# Source: RFC 8305, 5, "Connection Attempt Delay".
_NEXT_ADDRESS_S: Final = 0.25
PLAIN_IDLE_BYTES: Final = 12 * 1024
# Half of what the event loop's own TLS takes, which has buffers of its own.
TLS_IDLE_BYTES: Final = 100 * 1024
_PROXY_TLS_IDLE_BYTES: Final = 200 * 1024


class Dialler:
    """Makes the connections of a pool.

    sessions  to be resumed, and where new ones are kept; None: each handshake is a whole one
    """

    def __init__(
        self,
        names: NameCache,
        policy: AddressPolicy,
        sweep: DeadlineSweep,
        budget: BodyBudget,
        buffers: ReadBuffers,
        sessions: TlsSessions | None,
    ) -> None:
        self._names, self._policy, self._sweep, self._budget = names, policy, sweep, budget
        self._buffers, self._sessions = buffers, sessions
        self._loop = asyncio.get_running_loop()

    async def dial(
        self, origin: SiteOrigin, proxy: Proxy | None, key: object, owner: ConnectionOwner, watch: RequestWatch
    ) -> HttpConnection:
        """Make a connection for this owner; raises NotConnected, AddressRefused or Shortage."""
        tls, idle_bytes = None, PLAIN_IDLE_BYTES
        if origin.context is not None:
            tls = TlsLayer(SessionKey(origin.context, origin.name, origin.port), self._sessions)
            idle_bytes = TLS_IDLE_BYTES
        if proxy is not None and proxy.origin.context is not None:
            idle_bytes += _PROXY_TLS_IDLE_BYTES
        connection = HttpConnection(owner, key, tls, self._sweep, self._budget, self._buffers, idle_bytes)
        if proxy is None:
            await self._connect(lambda: connection, origin, watch)
        else:
            await self._connect_through(proxy, connection, origin, watch)
        if tls is not None:
            await self._handshake(connection, watch)
        return connection

    async def _connect_through(
        self, proxy: Proxy, connection: HttpConnection, origin: SiteOrigin, watch: RequestWatch
    ) -> None:
        """Connect to the proxy, and through it to an encrypted origin."""
        tunnel = Tunnel()
        try:
            await self._connect_to_proxy(tunnel, proxy, watch)
            if origin.context is not None:
                watch.enter(Phase.CONNECT)
                await tunnel.open(proxy.connect_head(origin))
            tunnel.hand_over(connection)
        finally:
            tunnel.close()

    async def _connect_to_proxy(self, tunnel: Tunnel, proxy: Proxy, watch: RequestWatch) -> None:
        try:
            await self._connect(lambda: tunnel, proxy.origin, watch)
            if proxy.origin.context is not None:
                watch.enter(Phase.TLS)
                await tunnel.encrypt(proxy.origin.context, proxy.origin.name)
        except NotConnected as exc:
            # A failure of DNS has the name in its words.
            where = "" if exc.kind is FailureKind.DNS else "the proxy: "
            raise NotConnected(exc.kind, f"{where}{exc}") from exc

    async def _connect(
        self, protocol: Callable[[], asyncio.BaseProtocol], origin: SiteOrigin, watch: RequestWatch
    ) -> None:
        """Open a connection to this origin; raises NotConnected, AddressRefused or Shortage."""
        place = self._policy.place_of(origin.key)
        targets = [_target(*place)] if place is not None else await self._targets(origin, watch)
        watch.enter(Phase.CONNECT)
        try:
            if len(targets) == 1:
                # For one address, the loop's own way costs half.
                if place is None:
                    self._judge(targets[0])
                await self._connect_to(protocol, targets[0])
            else:
                await self._connect_to_fastest(protocol, targets)
        except AddressRefused:
            raise
        except (OSError, RuntimeError) as exc:
            if (shortage := shortage_of(exc, ports=all(each[0] == socket.AF_INET for each in targets))) is not None:
                raise shortage from exc
            said = os.strerror(exc.errno).lower() if isinstance(exc, OSError) and exc.errno else one_line(exc)
            raise NotConnected(FailureKind.CONNECT, said) from exc

    async def _connect_to(self, protocol: Callable[[], asyncio.BaseProtocol], target: AddrInfoType) -> None:
        family, _, number, _, address = target
        await self._loop.create_connection(
            protocol,
            host=str(address[0]),
            port=int(address[1]),
            family=family,
            proto=number,
            flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
        )

    async def _connect_to_fastest(
        self, protocol: Callable[[], asyncio.BaseProtocol], targets: list[AddrInfoType]
    ) -> None:
        opened = await aiohappyeyeballs.start_connection(
            targets, happy_eyeballs_delay=_NEXT_ADDRESS_S, interleave=1, loop=self._loop, socket_factory=self._open
        )
        try:
            await self._loop.create_connection(protocol, sock=opened)
        except BaseException:
            opened.close()
            raise

    async def _handshake(self, connection: HttpConnection, watch: RequestWatch) -> None:
        watch.enter(Phase.TLS)
        try:
            await connection.handshake()
        except BaseException as exc:
            connection.abort()
            if isinstance(exc, ssl.SSLError | ConnectionResetError):
                raise handshake_failed(exc) from exc
            raise

    async def _targets(self, origin: SiteOrigin, watch: RequestWatch) -> list[AddrInfoType]:
        """Give the addresses that may be dialled; raises AddressRefused, or NotConnected where there are none."""
        found: tuple[str, ...] = (origin.host,)
        if not origin.is_address:
            watch.enter(Phase.DNS)
            try:
                found = await self._names.addresses(origin.host)
            except NameNotResolved as exc:
                raise NotConnected(FailureKind.DNS, str(exc)) from exc
            if not found:
                raise NotConnected(FailureKind.DNS, f"the name {origin.host} has no address")
        refusals = {address: self._policy.refuses(address) for address in found}
        dialled = [_target(address, origin.port) for address, why in refusals.items() if why is None]
        if not dialled:
            address, why = next(iter(refusals.items()))
            named = f"{address} {why}" if origin.is_address else f"{origin.host} is {address}, which {why}"
            raise AddressRefused(self._policy.refusal(named, address))
        return dialled

    def _judge(self, target: AddrInfoType) -> None:
        """Judge the very address that is dialled; raises AddressRefused."""
        address = str(target[4][0])
        why = self._policy.refuses(address)
        if why is not None:
            raise AddressRefused(self._policy.refusal(f"{address} {why}", address))

    def _open(self, target: AddrInfoType) -> socket.socket:
        """Open the socket of a connection."""
        self._judge(target)
        family, kind, protocol, _, _ = target
        opened = socket.socket(family, kind, protocol)
        opened.setblocking(False)  # noqa: FBT003 - the name of the method says it
        return opened


def _target(address: str, port: int) -> AddrInfoType:
    """Give an address as sockets take it."""
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))


# Many servers close idle connections soon; a request on a closed one is made again.
KEPT_IDLE_S: Final = 15.0
# Idle connections in TLS keep their buffers in OpenSSL.
MOST_IDLE_BYTES: Final = 64 * 2**20
# At most one of this many files that the process may open is an idle connection.
_IDLE_FILES: Final = 4
# How often idle connections are looked at.
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
