"""A small HTTP/1.1 server over asyncio streams, for sites and receivers that misbehave on purpose."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self


class Request(NamedTuple):
    """One request: names of headers in lower case."""

    method: str
    host: str
    path: str
    headers: dict[str, str]
    body: bytes


class Hangup(Exception):
    """The connection is to be cut off hard, without (the rest of) an answer."""


class Wire:
    """Serves a handler on all of loopback; the handler writes its answer itself, or raises Hangup."""

    def __init__(self, handle: Callable[[Request, asyncio.StreamWriter], Awaitable[None]], port: int = 0) -> None:
        self._handle = handle
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self.port = port

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "0.0.0.0", self.port, backlog=1024)  # noqa: S104 - 127.0.0.x
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        self._ended.set()
        self.cut()
        if self._tasks:  # else the loop would end over them, and say so in a traceback
            await asyncio.wait(self._tasks)

    async def idle(self, seconds: float) -> None:
        """Let this much time pass, or less where the server ends meanwhile."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._ended.wait()

    def cut(self) -> None:
        """Cut every connection off."""
        for writer in self._open:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._open.add(writer)
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError, Hangup):
                while True:
                    await self._handle(await _read(reader), writer)
                    await writer.drain()
        finally:
            self._open.discard(writer)
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> Request:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ", 2)
    headers = {}
    for line in head[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Request(method, headers.get("host", "").partition(":")[0], path, headers, body)


def answer(status: int, body: bytes = b"", *, length: int | None = None, **headers: str) -> bytes:
    """Write an answer; `length` may lie."""
    lines = [f"HTTP/1.1 {status} As said", f"Content-Length: {len(body) if length is None else length}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Journal:
    """A log that is on disk before the call returns."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def write(self, **entry: Any) -> None:
        """Append one entry as a line of JSON."""
        os.write(self._file, json.dumps(entry).encode() + b"\n")
        os.fdatasync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
