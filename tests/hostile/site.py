"""A site on loopback with one page, which is well until it is told to misbehave."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from tests.hostile.behaviour import Answer, Behaviour
from tests.hostile.wording import GOOD_DATE, GOOD_ETAG, GOOD_PAGE, answer, status
from tests.origin import TURNS

PAGE, ROBOTS = "/page", "/robots.txt"
GOOD = answer(GOOD_PAGE, b"ETag: " + GOOD_ETAG.encode(), b"Last-Modified: " + GOOD_DATE.encode())
NO_ROBOTS = status(b"404 Not Found")
NOT_HERE = status(b"404 Not Found")
WELL = {PAGE: GOOD, ROBOTS: NO_ROBOTS}


class Site:
    """Serves one behaviour.

    calm         the context of its encrypted connections as long as it is well; None: plain HTTP
    is_hostile   it misbehaves
    heads        the request headers that came, whole, with their paths
    connections  how many came
    was_asked    set when the first request came since it misbehaves
    on_answered  is called when all that is said to a request has been said
    """

    def __init__(
        self, behaviour: Behaviour, *, host: str = "127.0.0.1", port: int = 0, calm: ssl.SSLContext | None = None
    ) -> None:
        self._behaviour, self._host, self._calm = behaviour, host, calm
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.is_hostile = False
        self.heads: list[tuple[str, bytes]] = []
        self.connections = 0
        self.was_asked = asyncio.Event()
        self.on_answered: Callable[[], None] = lambda: None
        self.port = port

    @property
    def url(self) -> str:
        """The page's URL."""
        return f"{'https' if self._calm else 'http'}://{self._host}:{self.port}{PAGE}"

    def asked(self, path: str = PAGE) -> list[bytes]:
        """The headers of the requests for this path."""
        return [head for asked, head in self.heads if asked == path]

    async def misbehave(self) -> None:
        """From now on, be as the behaviour says."""
        self.is_hostile = True
        if self._behaviour.tls is not None:
            await self.stop()
            await self._listen(self._behaviour.tls())

    async def recover(self) -> None:
        """Be well again."""
        self.is_hostile = False
        if self._behaviour.tls is not None:
            await self.stop()
            await self._listen(self._calm)

    async def stop(self) -> None:
        """Stop listening, cut every connection, and wait until nobody talks any more."""
        if self._server is None:
            return
        for _ in range(TURNS):
            await asyncio.sleep(0)
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()
        self._server = None

    async def __aenter__(self) -> Self:
        await self._listen(self._calm)
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _listen(self, tls: ssl.SSLContext | None) -> None:
        self._server = await asyncio.start_server(self._serve, self._host, self.port, ssl=tls, backlog=512)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self.connections += 1
        self._writers.add(writer)
        try:
            if self.is_hostile and self._behaviour.greeting is not None:
                await self._behaviour.greeting(reader, writer)
            while await self._serve_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; True if the connection goes on."""
        head = await reader.readuntil(b"\r\n\r\n")
        path = head.split(b" ", 2)[1].decode("latin-1")
        self.heads.append((path, head))
        if self.is_hostile:
            self.was_asked.set()
        said = self._answer_to(path)
        try:
            if isinstance(said, bytes):
                writer.write(self._filled_in(said))
                await writer.drain()
            else:
                await said(reader, writer)
        finally:
            self.on_answered()
        return self._behaviour.keep or not self.is_hostile

    def _answer_to(self, path: str) -> Answer:
        behaviour = self._behaviour
        if self.is_hostile and path == PAGE:
            return behaviour.page
        if self.is_hostile and path == ROBOTS and behaviour.robots is not None:
            return behaviour.robots
        if path == PAGE and behaviour.good is not None:
            return behaviour.good
        return behaviour.paths.get(path.partition("?")[0]) or WELL.get(path, NOT_HERE)

    def _filled_in(self, said: bytes) -> bytes:
        if b"@" not in said:
            return said
        port = str(self.port).encode()
        origin = self.url.removesuffix(PAGE).encode()
        said = said.replace(b"@COUNT@", str(len(self.heads)).encode())
        return said.replace(b"@ORIGIN@", origin).replace(b"@PORT@", port)
