"""Requests whose header values are bytes: aiohttp would write everything in UTF-8, and a server's tag need not be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import aiohttp
from aiohttp.http_writer import StreamWriter

if TYPE_CHECKING:
    from aiohttp.connector import Connection

_CONTROLS = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class ExactRequest(aiohttp.ClientRequest):
    """A GET without a body; each character of a header value is sent as the one byte of that number."""

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        """Send the request; raises ValueError for headers that no byte can carry, or that would break their line."""
        if all(map(str.isascii, self.headers.values())):
            return await super().send(conn)
        protocol = conn.protocol
        if protocol is None or protocol.transport is None:
            raise aiohttp.ServerDisconnectedError
        path = str(self.url) if self.proxy and not self.is_ssl() else self.url.raw_path_qs
        lines = [f"{self.method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in self.headers.items())]
        coded = [line.encode("latin-1") for line in lines]
        if any(map(_CONTROLS.search, coded)):
            raise ValueError("a header with control characters is not sent")
        protocol.transport.write(b"\r\n".join([*coded, b"", b""]))
        return self.response_class(
            self.method,
            self.original_url,
            writer=None,
            continue100=None,
            timer=self._timer,
            request_info=self.request_info,
            traces=self._traces,
            loop=self.loop,
            session=self._session,
            stream_writer=StreamWriter(protocol, self.loop),
        )
