"""The client of NATS over connections that obey the address policy."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import ParseResult

from nats.aio.client import Client
from nats.aio.transport import TcpTransport
from nats.errors import ConnectionClosedError, SecureConnRequiredError

from tocsin.adapters.channels.broker import Endpoint
from tocsin.adapters.channels.context import ChannelContext


class DialledClient(Client):
    """A client of one server that never connects to another, nor again.

    Servers announce others (`connect_urls`), which the library would dial after a failure.
    """

    def __init__(self, context: ChannelContext, endpoint: Endpoint) -> None:
        super().__init__()
        self._context, self._endpoint = context, endpoint

    async def start(self, who: dict[str, Any], timeout_s: float) -> None:
        """Connect and sign in; nothing is left open if it fails."""
        endpoint = self._endpoint
        host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
        tls = self._context.tls(endpoint.host) if endpoint.tls else None
        try:
            await self.connect(
                f"{'tls' if endpoint.tls else 'nats'}://{host}:{endpoint.port}",
                error_cb=_ignore,
                closed_cb=self._fail_waiting,
                allow_reconnect=False,
                # A client that is cut off must not keep events and give them later: they count as failed.
                pending_size=0,
                connect_timeout=max(1, int(timeout_s)),
                tls=tls,
                tls_hostname=endpoint.host if tls else None,
                **who,
            )
        except BaseException:
            transport, self._transport = self._transport, None
            if transport:
                transport.close()  # type: ignore[no-untyped-call]  # of the library
            raise

    async def _fail_waiting(self) -> None:
        # The library would let them wait for their timeouts.
        for waiting in self._resp_map.values():
            if not waiting.done():
                waiting.set_exception(ConnectionClosedError())

    async def _select_next_server(self) -> None:
        # The library would try again until its own attempts are used up.
        self._current_server = self._server_pool[0]
        self._transport = DialledTransport(self._context, self._endpoint)
        await self._transport.connect(self._current_server.uri, 0, 0)


class DialledTransport(TcpTransport):
    """A connection that `ChannelContext.dial` opens."""

    def __init__(self, context: ChannelContext, endpoint: Endpoint) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # of the library
        self._context, self._endpoint = context, endpoint
        self._is_greeted = False

    async def connect(self, uri: ParseResult, buffer_size: int, connect_timeout: int) -> None:  # noqa: ARG002 - its signature
        """Connect; TLS begins after the server's first line."""
        reader, writer = await self._context.dial(self._endpoint.host, self._endpoint.port, tls=False)
        self._bare_io_reader = self._io_reader = reader
        self._bare_io_writer = self._io_writer = writer

    async def readline(self) -> bytes:
        """Read a line; the first one must offer TLS where the settings demand it."""
        line = bytes(await super().readline())  # type: ignore[no-untyped-call]  # of the library
        if not self._is_greeted:
            self._is_greeted = True
            # Else a third party could take this word out, and read the password.
            if self._endpoint.tls and not _offers_tls(line):
                raise SecureConnRequiredError
        return line


def _offers_tls(line: bytes) -> bool:
    try:
        greeting = json.loads(line.partition(b" ")[2])
    except ValueError:
        return False
    return isinstance(greeting, dict) and bool(greeting.get("tls_required"))


async def _ignore(_error: Exception) -> None:
    """Errors are raised where events are given, too; the library would print them."""
