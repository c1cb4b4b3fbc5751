"""A new connection: the addresses of the name, each judged as it is dialled, the fastest one, and the TLS handshake."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from typing import Final

import aiohappyeyeballs
from aiohappyeyeballs import AddrInfoType

from tocsin.adapters.http.addresses import AddressPolicy
from tocsin.adapters.http.budget import BodyBudget
from tocsin.adapters.http.deadlines import DeadlineSweep, Phase, RequestWatch
from tocsin.adapters.http.llhttp.connection import (
    ConnectionOwner,
    HttpConnection,
    NotConnected,
    ReadBuffers,
    handshake_failed,
)
from tocsin.adapters.http.llhttp.encryption import SessionKey, TlsLayer, TlsSessions
from tocsin.adapters.http.llhttp.head import Proxy, SiteOrigin
from tocsin.adapters.http.llhttp.tunnel import Tunnel
from tocsin.adapters.http.resolver import AddressRefused, NameCache, NameNotResolved
from tocsin.adapters.http.wording import one_line
from tocsin.errors import shortage_of
from tocsin.model import FailureKind

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
