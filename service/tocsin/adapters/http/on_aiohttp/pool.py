"""A pool of connections under one address policy, bounded in what it keeps idle."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import aiohttp

from tocsin.adapters.http import limits
from tocsin.adapters.http.deadlines import CURRENT, Phase
from tocsin.adapters.http.on_aiohttp.exact import ExactRequest
from tocsin.adapters.http.on_aiohttp.handler import ConnectionHandler, HandledConnector
from tocsin.adapters.http.on_aiohttp.judged import JudgedResolver
from tocsin.adapters.http.resolver import AddressRefused

if TYPE_CHECKING:
    from aiohappyeyeballs import AddrInfoType
    from aiohttp.connector import Connection

    from tocsin.adapters.http.addresses import AddressPolicy
    from tocsin.adapters.http.deadlines import DeadlineSweep
    from tocsin.adapters.http.resolver import NameCache

TLS_IDLE_BYTES = 200 * 1024
PLAIN_IDLE_BYTES = 32 * 1024
_LONGEST_HEADER_BYTES = 32 * 1024
_MOST_HEADERS = 256
_FEWEST_TO_COUNT = 256
_BUFFER_BYTES = 2**18
_AUTOMATIC = ("User-Agent", "Accept", "Accept-Encoding", "Content-Type")


class Disconnected(Exception):
    """A connection ended before its answer; aiohttp would ask again by itself if it were told in its own words."""


class ConnectionPool:
    """An aiohttp session whose connections go only where the policy lets them.

    A pool serves one policy, so that a connection made under a looser one is never reused under a stricter one.
    """

    def __init__(self, names: NameCache, policy: AddressPolicy, sweep: DeadlineSweep) -> None:
        self._policy = policy
        self._sweep = sweep
        self._encrypted = _Standing(TLS_IDLE_BYTES)
        self._plain = _Standing(PLAIN_IDLE_BYTES)
        pool = self

        class Request(ExactRequest):
            """Tells when the connection stands and the request goes out."""

            async def send(self, conn: Connection) -> aiohttp.ClientResponse:
                if not CURRENT.get().dialled:
                    await _let_it_be_read(conn)
                pool._sending(conn)
                return await super().send(conn)

        self.session = aiohttp.ClientSession(
            connector=HandledConnector(
                resolver=JudgedResolver(names, policy),
                use_dns_cache=False,  # NameCache is one, bounded and by the answers' own times
                limit=0,  # the engine bounds what is in flight, and does not wait for a place in here
                keepalive_timeout=limits.KEPT_IDLE_S,
                socket_factory=self._open,
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),  # DeadlineSweep does it
            skip_auto_headers=_AUTOMATIC,
            auto_decompress=False,
            read_bufsize=_BUFFER_BYTES,
            max_line_size=_LONGEST_HEADER_BYTES,
            max_field_size=_LONGEST_HEADER_BYTES,
            max_headers=_MOST_HEADERS,
            request_class=Request,
            middlewares=(_ask_again_on_a_stale_connection,),
        )

    @property
    def connections(self) -> int:
        """How many connections stand, busy or idle."""
        return self._encrypted.count() + self._plain.count()

    async def close(self) -> None:
        """Close every connection."""
        await self.session.close()

    def _open(self, target: AddrInfoType) -> socket.socket:
        """Open the socket of a connection: the last look at the address that is really dialled."""
        family, kind, protocol, _, address = target
        why = self._policy.refuses(str(address[0]))
        if why is not None:
            raise AddressRefused(self._policy.refusal(f"{address[0]} {why}", str(address[0])))
        opened = socket.socket(family, kind, protocol)
        watch = CURRENT.get()
        watch.dial(opened)
        (self._encrypted if watch.tls else self._plain).add(opened)
        return opened

    def _sending(self, connection: Connection) -> None:
        watch = CURRENT.get()
        watch.enter(Phase.FIRST_BYTE)
        watch.protocol = connection.protocol
        if isinstance(connection.protocol, ConnectionHandler):
            connection.protocol.limit(watch.max_wire_bytes)
        if connection.transport is not None:
            watch.encryption = connection.transport.get_extra_info("ssl_object")
        if connection.protocol is not None and self._is_idle_enough():
            # To close one after its answer is the cheapest way to bound what lies idle.
            connection.protocol.force_close()

    def _is_idle_enough(self) -> bool:
        """Say whether what stands idle takes all the memory that it may: nothing more is to be kept."""
        kept = self._encrypted.most_bytes() + self._plain.most_bytes()
        if kept <= limits.MOST_IDLE_BYTES:
            return False
        standing = self.connections
        kept = self._encrypted.most_bytes() + self._plain.most_bytes()
        idle = max(standing - len(self._sweep), 0)
        return standing > 0 and kept * idle / standing > limits.MOST_IDLE_BYTES


class _Standing:
    """The sockets of connections of one kind; closed ones are forgotten when they are counted."""

    def __init__(self, bytes_each: int) -> None:
        self._bytes_each = bytes_each
        self._sockets: list[socket.socket] = []
        self._count_at = _FEWEST_TO_COUNT

    def add(self, opened: socket.socket) -> None:
        self._sockets.append(opened)
        if len(self._sockets) >= self._count_at:
            # Each socket pays for one look at another, so that closed ones are forgotten in time.
            self._count_at = max(_FEWEST_TO_COUNT, 2 * self.count())

    def count(self) -> int:
        """How many stand."""
        self._sockets = [standing for standing in self._sockets if standing.fileno() >= 0]
        return len(self._sockets)

    def most_bytes(self) -> int:
        """How much memory they take at most, without looking at each."""
        return len(self._sockets) * self._bytes_each


async def _let_it_be_read(connection: Connection) -> None:
    """Let the loop read what waits in a kept connection; raises ServerDisconnectedError if that was something.

    It was its end, or bytes that nobody asked for: nothing sent over it could be told from their answer.
    """
    # What is found in this turn of the loop is read in the next, at the latest; to ask the kernel costs more.
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    if connection.protocol is None or not connection.protocol.is_connected() or connection.protocol.should_close:
        raise aiohttp.ServerDisconnectedError


async def _ask_again_on_a_stale_connection(
    request: aiohttp.ClientRequest, ask: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Ask again where a kept connection turns out to be closed by the server before it answered anything.

    That is the race of every kept connection, no failure of the page: it stays one set of requests (T59). Each stale
    connection leaves the pool, so this ends with a new one at the latest; there a failure is a failure.
    Source  RFC 9112, 9.3.1.
    """
    watch = CURRENT.get()
    while True:
        watch.dialled = False
        try:
            return await ask(request)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as exc:
            if watch.dialled or not _is_silent(exc):
                raise Disconnected(str(exc)) from exc


def _is_silent(exc: Exception) -> bool:
    """Say whether nothing of an answer had come."""
    return not isinstance(exc, aiohttp.ServerDisconnectedError) or isinstance(exc.message, str)
