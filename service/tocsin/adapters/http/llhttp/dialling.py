"""A new connection: the name's addresses, each judged as it is dialled, the fastest of them, and the handshake."""

from __future__ import annotations

import os
import socket
import ssl
from typing import TYPE_CHECKING, Final

import aiohappyeyeballs

from tocsin.adapters.http.deadlines import Phase
from tocsin.adapters.http.llhttp.connection import Connection
from tocsin.adapters.http.llhttp.sealed import Sealed, SessionKey
from tocsin.adapters.http.resolver import AddressRefused, NameNotResolved
from tocsin.adapters.http.tls import Untrusted
from tocsin.adapters.http.wording import one_line
from tocsin.errors import shortage_of
from tocsin.model import FailureKind

if TYPE_CHECKING:
    import asyncio

    from aiohappyeyeballs import AddrInfoType

    from tocsin.adapters.http.addresses import AddressPolicy
    from tocsin.adapters.http.budget import BodyBudget
    from tocsin.adapters.http.deadlines import DeadlineSweep, Watch
    from tocsin.adapters.http.llhttp.connection import Room
    from tocsin.adapters.http.llhttp.head import Origin
    from tocsin.adapters.http.llhttp.pool import LeanPool
    from tocsin.adapters.http.llhttp.sealed import TlsSessions
    from tocsin.adapters.http.resolver import NameCache

_NEXT_ADDRESS_S: Final = 0.25
"""Source: RFC 8305, 5, "Connection Attempt Delay"."""


class Unreached(Exception):
    """No connection came to be.

    kind  at what it failed, in the words of the port
    """

    def __init__(self, kind: FailureKind, why: str) -> None:
        super().__init__(why)
        self.kind = kind


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
        room: Room,
        sessions: TlsSessions | None,
    ) -> None:
        self._names, self._policy, self._sweep, self._budget = names, policy, sweep, budget
        self._room, self._sessions = room, sessions

    async def dial(self, origin: Origin, pool: LeanPool, watch: Watch, loop: asyncio.AbstractEventLoop) -> Connection:
        """Make a connection for this pool; raises Unreached or AddressRefused."""
        place = self._policy.place_of(origin.key)
        targets = [target(*place)] if place is not None else await self._targets(origin, watch)
        watch.enter(Phase.CONNECT)
        sealed = None
        if origin.context is not None:
            sealed = Sealed(SessionKey(origin.context, origin.name, origin.port), self._sessions)
        connection = Connection(pool, origin.key, sealed, self._sweep, self._budget, self._room)
        try:
            await self._connect(connection, targets, loop, is_judged=place is not None)
        except AddressRefused:
            raise
        except (OSError, RuntimeError) as exc:
            if (shortage := shortage_of(exc, ports=all(each[0] == socket.AF_INET for each in targets))) is not None:
                raise shortage from exc
            raise Unreached(FailureKind.CONNECT, _said(exc)) from exc
        pool.standing.add(connection)
        if sealed is not None:
            await self._shake(connection, watch)
        return connection

    async def _connect(
        self, connection: Connection, targets: list[AddrInfoType], loop: asyncio.AbstractEventLoop, *, is_judged: bool
    ) -> None:
        """Connect to one of these addresses; raises AddressRefused, OSError or RuntimeError.

        is_judged  the policy itself gave the one that there is
        """
        if len(targets) == 1:
            # The loop's own way costs half, and a numeric address is what is dialled.
            family, _, protocol, _, address = targets[0]
            if not is_judged:
                self._judge(targets[0])
            await loop.create_connection(
                lambda: connection,
                host=str(address[0]),
                port=int(address[1]),
                family=family,
                proto=protocol,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            return
        opened = await aiohappyeyeballs.start_connection(
            targets, happy_eyeballs_delay=_NEXT_ADDRESS_S, interleave=1, loop=loop, socket_factory=self._open
        )
        try:
            await loop.create_connection(lambda: connection, sock=opened)
        except BaseException:
            opened.close()
            raise

    async def _shake(self, connection: Connection, watch: Watch) -> None:
        watch.enter(Phase.TLS)
        is_shaken = False
        try:
            await connection.shake()
            is_shaken = True
        except Untrusted as exc:
            raise Unreached(FailureKind.TLS, exc.why) from exc
        except ssl.SSLError as exc:
            raise Unreached(FailureKind.TLS, one_line(exc)) from exc
        except ConnectionResetError as exc:
            raise Unreached(FailureKind.TLS, "cut off during the handshake") from exc
        finally:
            if not is_shaken:
                connection.abort()

    async def _targets(self, origin: Origin, watch: Watch) -> list[AddrInfoType]:
        """Give what may be dialled; raises AddressRefused, or Unreached where there is nothing."""
        found: tuple[str, ...] = (origin.host,)
        if not origin.is_address:
            watch.enter(Phase.DNS)
            try:
                found = await self._names.addresses(origin.host)
            except NameNotResolved as exc:
                raise Unreached(FailureKind.DNS, str(exc)) from exc
            if not found:
                raise Unreached(FailureKind.DNS, f"the name {origin.host} has no address")
        refusals = {address: self._policy.refuses(address) for address in found}
        dialled = [target(address, origin.port) for address, why in refusals.items() if why is None]
        if not dialled:
            address, why = next(iter(refusals.items()))
            named = f"{address} {why}" if origin.is_address else f"{origin.host} is {address}, which {why}"
            raise AddressRefused(self._policy.refusal(named, address))
        return dialled

    def _judge(self, target: AddrInfoType) -> None:
        """Take the last look at the address that is really dialled; raises AddressRefused."""
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


def target(address: str, port: int) -> AddrInfoType:
    """Give an address as sockets take it."""
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))


def _said(exc: OSError | RuntimeError) -> str:
    return os.strerror(exc.errno).lower() if isinstance(exc, OSError) and exc.errno else one_line(exc)
