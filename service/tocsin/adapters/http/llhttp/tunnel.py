"""The part of a connection that is between this program and its proxy, before the bytes of the site."""

from __future__ import annotations

import asyncio
import re
import ssl
from typing import Final

from tocsin.adapters.http.llhttp.answer import MOST_HEADER_BYTES, Disconnected
from tocsin.adapters.http.llhttp.connection import NotConnected, handshake_failed
from tocsin.adapters.http.wording import one_line
from tocsin.model import FailureKind

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
