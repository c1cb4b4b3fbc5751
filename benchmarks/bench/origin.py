"""The site of the benchmarks, a process of its own: lean, so that the client is what one measures.

    python -m benchmarks.bench.origin     prints its port; ends when its standard input does

`/p/N` is page N at any address of loopback, `/n/N` the same without a validator.
`/-/set?delay_ms=300&validators=1&version=7&percent=5&token=3` sets how it answers, `/-/stats` tells how many requests
were in flight at most since the last setting, how many came, and on how many connections in all. A POST is taken with
204.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from typing import Any
from urllib.parse import parse_qsl

import uvloop

from benchmarks.bench.corpus import documents, has_changed

MOST_PAGES = 100_000
_LENGTH = re.compile(rb"(?i)\r\ncontent-length: *([0-9]+)")


class Pages:
    """All that the site says, and what it has seen."""

    def __init__(self) -> None:
        self.documents = documents()
        self.versions = [0] * MOST_PAGES
        self.token = 0
        self.delay_s = 0.0
        self.has_validators = True
        self.in_flight = self.most_in_flight = self.requests = self.connections = 0

    def set(self, query: str) -> bytes:
        """Change how it answers."""
        told = {name: int(value) for name, value in parse_qsl(query)}
        self.delay_s = told.get("delay_ms", self.delay_s * 1000) / 1000
        self.has_validators = bool(told.get("validators", self.has_validators))
        self.token = told.get("token", self.token)
        if "version" in told:
            version, percent = told["version"], told.get("percent", 100)
            for number in range(MOST_PAGES):
                if has_changed(number, version, percent):
                    self.versions[number] = version
        self.most_in_flight, self.requests = self.in_flight, 0
        return b"{}"

    def stats(self) -> bytes:
        """Tell what was seen."""
        seen = {"connections": self.connections, "requests": self.requests}
        return json.dumps({**seen, "most_in_flight": self.most_in_flight}).encode()


class Connection(asyncio.Protocol):
    """One client's connection: a request after the other."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._transport: asyncio.Transport | None = None
        self._left = b""

    def connection_made(self, transport: Any) -> None:
        """Keep the transport."""
        self._transport = transport
        self._pages.connections += 1

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        """Answer no more."""
        self._transport = None

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        data = self._left + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            start = end + 4
            if data.startswith(b"POST"):
                start += int(_LENGTH.findall(data[:end])[0])
                if len(data) < start:
                    break
            self._take(data[:end])
            data = data[start:]
        self._left = data

    def _take(self, head: bytes) -> None:
        pages = self._pages
        if not pages.delay_s or head.startswith(b"GET /-/"):
            self._answer(head)
            return
        pages.in_flight += 1
        pages.most_in_flight = max(pages.most_in_flight, pages.in_flight)
        asyncio.get_running_loop().call_later(pages.delay_s, self._answer_late, head)

    def _answer_late(self, head: bytes) -> None:
        self._pages.in_flight -= 1
        self._answer(head)

    def _answer(self, head: bytes) -> None:
        if self._transport is None:
            return
        if head.startswith(b"POST"):
            self._pages.requests += 1
            self._transport.write(b"HTTP/1.1 204 Taken\r\n\r\n")
            return
        path = head[4 : head.index(b" ", 4)]
        if path.startswith((b"/p/", b"/n/")):
            self._transport.writelines(self._page(int(path[3:]), head, is_known=path.startswith(b"/p/")))
        elif path.startswith(b"/-/set"):
            self._transport.write(_whole(200, self._pages.set(path.partition(b"?")[2].decode())))
        elif path == b"/-/stats":
            self._transport.write(_whole(200, self._pages.stats()))
        else:
            self._transport.write(_whole(404, b"not here"))

    def _page(self, number: int, head: bytes, *, is_known: bool) -> list[bytes]:
        pages = self._pages
        pages.requests += 1
        version = pages.versions[number]
        tag = b'"%d-%d-%d"' % (number, version, pages.token)
        validator = b"ETag: %s\r\n" % tag if is_known and pages.has_validators else b""
        if validator and b"\r\nif-none-match: %s" % tag in head.lower():
            return [b"HTTP/1.1 304 Not Modified\r\n%s\r\n" % validator]
        document = pages.documents[number % len(pages.documents)]
        start = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n%sContent-Length: %d\r\n\r\n"
        return [start % (validator, document.length), *document.parts(version, pages.token)]


def _whole(status: int, body: bytes) -> bytes:
    return b"HTTP/1.1 %d So\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        status,
        len(body),
        body,
    )


async def _serve() -> None:
    loop = asyncio.get_running_loop()
    pages = Pages()
    server = await loop.create_server(lambda: Connection(pages), "0.0.0.0", 0, backlog=4096)  # noqa: S104 - 127.0.0.x
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    if "--first-core" in sys.argv:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    uvloop.run(_serve())
