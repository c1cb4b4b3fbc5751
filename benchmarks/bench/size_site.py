"""The site of the rows of size, a process of its own: one small page at every address of loopback, answered at once.

    python -m benchmarks.bench.size_site PORT

It prints its port and that of its control; it ends when its standard input does.
`/-/stats` tells how many pages were asked for and when the first one was, `/-/clear` forgets it; `/-/hold` lets every
further page wait for its answer until `/-/release`. A page is not modified for whoever has it; after `/-/heavy` it is
always sent, and as long as real ones are.
"""

from __future__ import annotations

import asyncio
import errno
import json
import sys
import time
from typing import Any

import uvloop

# Its state has about 200 bytes of values.
BODY = b"""<!doctype html><html lang=en><head><meta charset=utf-8><title>A page</title>
<meta name="created" content="2020-05-01T08:30:00+02:00">
<meta name="dcterms.created" content="2020-05-01T06:30:00Z">
<meta property="article:published_time" content="2020-05-01T06:30:01.123456Z">
<meta name="dcterms.modified" content="2024-02-01T08:30:00Z">
<meta property="article:modified_time" content="2024-02-01T08:30:00.5Z">
<meta name="page-version" content="edition 17, revision 4, as printed">
<meta name="topper-major" content="2021-03-04T10:00Z">
<meta name="topper-minor" content="2022-05-06T10:00Z 2023-07-08T10:00Z">
</head><body>A page.</body></html>"""
TYPE = "text/html; charset=utf-8"
ETAG = b'"1"'
_HEAVY_BYTES = 52_000
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nETag: %s\r\nContent-Length: %%d\r\n\r\n%%s" % (TYPE.encode(), ETAG)
_WHOLE = _HEAD % (len(BODY), BODY)
_HEAVY = _HEAD % (_HEAVY_BYTES, BODY.ljust(_HEAVY_BYTES))
_SAME = b"HTTP/1.1 304 Not Modified\r\nETag: %s\r\n\r\n" % ETAG
_NOTHING = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Site:
    """What was asked of the site."""

    def __init__(self) -> None:
        self.connections = 0
        self.holds = self.is_heavy = False
        self.held: list[tuple[Connection, bytes]] = []
        self.clear()

    def clear(self) -> None:
        """Count anew."""
        self.pages = 0
        self.first_at: float | None = None

    def command(self, path: bytes) -> bytes:
        """Do as told; tells what was seen."""
        if path == b"/-/clear":
            self.clear()
        elif path == b"/-/heavy":
            self.is_heavy = True
        elif path == b"/-/hold":
            self.holds = True
        elif path == b"/-/release":
            self.holds = False
            for connection, head in self.held:
                connection.answer(head)
            self.held.clear()
        seen = {"pages": self.pages, "first_at": self.first_at, "held": len(self.held), "open": self.connections}
        body = json.dumps(seen).encode()
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


class Connection(asyncio.Protocol):
    """One client's connection: a request after the other."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._transport: asyncio.Transport | None = None
        self._left = b""

    def connection_made(self, transport: Any) -> None:
        """Keep the transport."""
        self._transport = transport
        self._site.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        """Answer no more."""
        self._transport = None
        self._site.connections -= 1

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        *heads, self._left = (self._left + data).split(b"\r\n\r\n")
        for head in heads:
            self._take(head)

    def _take(self, head: bytes) -> None:
        site, path = self._site, head[4 : head.index(b" ", 4)]
        if path.startswith(b"/-/"):
            self._write(site.command(path))
        elif path == b"/robots.txt":
            self._write(_NOTHING)
        else:
            site.pages += 1
            site.first_at = site.first_at or time.time()
            if site.holds:
                site.held.append((self, head))
            else:
                self.answer(head)

    def answer(self, head: bytes) -> None:
        """Answer a page's request."""
        if self._site.is_heavy:
            self._write(_HEAVY)
        else:
            self._write(_SAME if b"\r\nif-none-match:" in head.lower() else _WHOLE)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


async def _serve(port: int) -> None:
    loop = asyncio.get_running_loop()
    site = Site()

    async def listen(address: str, number: int) -> asyncio.Server:
        return await loop.create_server(lambda: Connection(site), address, number, backlog=16384)

    everywhere = "0.0.0.0"  # noqa: S104 - all of 127.0.0.0/8
    try:
        serving = await listen(everywhere, port)
    except OSError as exc:
        if exc.errno != errno.EADDRINUSE:
            raise
        # Another row was as quick, and has it now.
        serving = await listen(everywhere, 0)
    # Where it is told what to do.
    servers = [serving, await listen("127.0.0.1", 0)]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    async with servers[0], servers[1]:
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    uvloop.run(_serve(int(sys.argv[1])))
