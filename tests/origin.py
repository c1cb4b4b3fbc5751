"""A loopback site: `Origin` speaks proper HTTP and can misbehave within it; `RawOrigin` breaks the framing itself.

async with Origin() as origin:
    origin.pages["/a"] = Page("<title>A</title>", etag='"1"')
    … origin.url("/a") …
    assert [asked.path for asked in origin.log] == ["/a"]
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fcntl import ioctl
from termios import TIOCOUTQ
from types import TracebackType
from typing import Self, TypeAlias

from aiohttp import web


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in.

    at       monotonic seconds
    headers  names in lower case
    """

    at: float
    method: str
    host: str
    path: str
    headers: Mapping[str, str]


@dataclass(slots=True)
class Page:
    """What a path answers.

    body           bytes, text, or a function of the request that gives either
    etag           sent, and answered with 304 where the request carries it in If-None-Match
    last_modified  the same with If-Modified-Since, compared as text
    delay_s        waited before the answer
    wait           awaited before the answer, for tests that hold it back without time
    """

    body: bytes | str | Callable[[Asked], bytes | str] = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/html; charset=utf-8"
    etag: str | None = None
    last_modified: str | None = None
    delay_s: float = 0.0
    wait: Callable[[], Awaitable[object]] | None = None

    def content(self, asked: Asked) -> bytes:
        """The body for this request."""
        body = self.body(asked) if callable(self.body) else self.body
        return body.encode() if isinstance(body, str) else body

    def is_known(self, headers: Mapping[str, str]) -> bool:
        """Whether the request's conditions say that it has this already."""
        etags = headers.get("if-none-match")
        if etags is not None:
            return self.etag is not None and self.etag in (etags, etags.removeprefix("W/"))
        return self.last_modified is not None and headers.get("if-modified-since") == self.last_modified


class Origin:
    """A site on loopback.

    pages     path (with its query, or without) to what it answers; of a list, one after the other, the last one stays
    fallback  what every other path answers
    log       requests in the order in which they came
    """

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Page | list[Page]] = {}
        self.fallback = Page("not here", status=404)
        self.log: list[Asked] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self._tls = tls
        self._runner: web.ServerRunner | None = None
        self._host = ""
        self._port = 0

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> Self:
        """Begin to listen; once more with other hosts (127.0.0.2 …): the same site on the same port."""
        if self._runner is None:
            self._runner = web.ServerRunner(web.Server(self._answer, access_log=None, keepalive_timeout=60))
            await self._runner.setup()
            self._host = host
        site = web.TCPSite(self._runner, host, port or self._port, ssl_context=self._tls, backlog=4096)
        await site.start()
        self._port = site.port or 0
        return self

    async def stop(self) -> None:
        """Stop listening; connections are cut."""
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        """Where it listens."""
        return self._port

    def url(self, path: str = "/", *, host: str | None = None) -> str:
        """The URL of a path, at the first host that was started or at this one."""
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host or self._host}:{self._port}{path}"

    def asked(self, path: str) -> list[Asked]:
        """The requests for this path."""
        return [asked for asked in self.log if asked.path == path]

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        asked = Asked(time.monotonic(), request.method, request.host, request.raw_path, headers)
        self.log.append(asked)
        page = self._page(asked.path)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if page.wait is not None:
                await page.wait()
            if page.delay_s:
                await asyncio.sleep(page.delay_s)
        finally:
            self.in_flight -= 1
        out = dict(page.headers)
        if page.etag is not None:
            out["ETag"] = page.etag
        if page.last_modified is not None:
            out["Last-Modified"] = page.last_modified
        if page.is_known(headers):
            return web.Response(status=304, headers=out)
        out.setdefault("Content-Type", page.content_type)
        return web.Response(status=page.status, body=page.content(asked), headers=out)

    def _page(self, path: str) -> Page:
        said = self.pages.get(path) or self.pages.get(path.partition("?")[0])
        if said is None:
            return self.fallback
        if isinstance(said, Page):
            return said
        return said.pop(0) if len(said) > 1 else said[0]


TURNS = 5
"""Of the loop, within which a connection that was let in has a task: one whose server closes before is never closed."""
Talk: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class RawOrigin:
    """A server that sends exactly what it is told, and then closes.

    answers  for each connection in order, the last one stays: bytes, sent when a request's header has come, or a
             function that does the talking itself
    heads    the request headers that came, whole
    keep     connections stay open: the answers go to requests, not to connections
    """

    def __init__(self, *answers: bytes | Talk, keep: bool = False, tls: ssl.SSLContext | None = None) -> None:
        self._answers: Sequence[bytes | Talk] = answers
        self._next = 0
        self._keep = keep
        self._tls = tls
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.heads: list[bytes] = []
        self.connections = 0
        self.asked = asyncio.Event()
        """Set when the first request's header has come."""
        self.port = 0

    async def start(self, host: str = "127.0.0.1", *, on: socket.socket | None = None) -> Self:
        """Begin to listen, on a socket that is given."""
        # With its protocol named: else asyncio leaves Nagle's waiting on, and what is sent after a pause comes late.
        bound = on or socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if on is None:
            bound.bind((host, 0))
        self._server = await asyncio.start_server(self._serve, sock=bound, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        """Stop, and cut every connection."""
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
        return await self.start()

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def url(self, path: str = "/", *, scheme: str | None = None) -> str:
        """The URL of a path."""
        return f"{scheme or ('https' if self._tls else 'http')}://127.0.0.1:{self.port}{path}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self.connections += 1
        self._writers.add(writer)
        try:
            while True:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                self.asked.set()
                answer = self._answers[min(self._next, len(self._answers) - 1)]
                self._next += 1
                if isinstance(answer, bytes):
                    writer.write(answer)
                    await writer.drain()
                else:
                    await answer(reader, writer)
                if not self._keep:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()


async def arrived(writer: asyncio.StreamWriter) -> None:
    """Wait until the other side's system has all that was written: from then on it is there for whoever looks."""
    transport = writer.transport
    while not transport.is_closing() and (  # noqa: ASYNC110 - the system tells nobody
        transport.get_write_buffer_size() or any(ioctl(writer.get_extra_info("socket"), TIOCOUTQ, bytes(4)))
    ):
        await asyncio.sleep(0)


@contextmanager
def port_of_nobody() -> Iterator[int]:
    """A port at which nobody listens, on any address of this machine, nor begins to meanwhile."""
    with socket.socket() as bound:
        bound.bind(("0.0.0.0", 0))
        yield bound.getsockname()[1]


async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Never answer; end when the other side does."""
    await reader.read()


async def reset(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Cut the connection off hard: the other side is told that it was reset, not that it ended."""
    await writer.drain()
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def cut(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Close the connection without a word."""
    writer.close()


def tunnel_to(port: int, *, greeting: bytes = b"HTTP/1.1 200 Connected\r\n\r\n") -> Talk:
    """Answer CONNECT, and pass bytes on to this port of loopback, as a proxy does."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(greeting)
        async with asyncio.TaskGroup() as group:
            group.create_task(_pass_on(reader, far_writer))
            group.create_task(_pass_on(far_reader, writer))

    return talk


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(65536):
            writer.write(piece)
            await writer.drain()
    writer.close()


def endless(start: bytes, piece: bytes, *, pause_s: float = 0.0) -> Talk:
    """Send a start, and then this piece for ever."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.transport.is_closing():
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return talk
