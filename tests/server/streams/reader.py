"""A reader of event streams over a real socket, which understands them as the HTML standard says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec

PATIENCE_S = 60.0


class Event(NamedTuple):
    """An event as a reader's program gets it."""

    type: str
    data: str
    id: str

    @property
    def json(self) -> dict[str, Any]:
        """Its data, read."""
        found: dict[str, Any] = msgspec.json.decode(self.data)
        return found


class Interpreter:
    """Interprets a stream, as in "9.2.6 Interpreting an event stream".

    last_id   what a browser sends as Last-Event-ID when it comes back
    comments  how many there were
    """

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self.comments = 0
        self._type, self._data, self._id = "", "", ""

    def line(self, line: str) -> Event | None:
        """Take one line; gives the event that it ends."""
        if not line:
            return self._dispatch()
        if line.startswith(":"):
            self.comments += 1
            return None
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._type = value
            case "data":
                self._data += value + "\n"
            case "id" if "\0" not in value:
                self._id = value
            case "retry" if value.isascii() and value.isdecimal():
                self.retry_ms = int(value)
        return None

    def _dispatch(self) -> Event | None:
        self.last_id = self._id
        data, kind = self._data, self._type
        self._data = self._type = ""
        return Event(kind or "message", data.removesuffix("\n"), self.last_id) if data else None


def interpret(stream: str) -> list[Event]:
    """Interpret a whole stream; lines end with CR LF, LF or CR."""
    reader = Interpreter()
    lines = stream.replace("\r\n", "\n").replace("\r", "\n").split("\n")[:-1]
    return [event for line in lines if (event := reader.line(line)) is not None]


class Reader:
    """One connection to a stream."""

    def __init__(self, incoming: asyncio.StreamReader, status: int, headers: dict[str, str]) -> None:
        self._incoming, self.status, self.headers = incoming, status, headers
        self.interpreter = Interpreter()
        self._lines: list[str] = []
        self._rest = ""

    @property
    def last_id(self) -> str:
        return self.interpreter.last_id

    async def event(self) -> Event:
        """Wait for the next event."""
        async with asyncio.timeout(PATIENCE_S):
            while (line := await self.line()) is not None:
                if (event := self.interpreter.line(line)) is not None:
                    return event
        raise EOFError

    async def events(self, number: int) -> list[Event]:
        """Wait for so many events."""
        return [await self.event() for _ in range(number)]

    async def comment(self) -> None:
        """Wait for a comment."""
        before = self.interpreter.comments
        async with asyncio.timeout(PATIENCE_S):
            while self.interpreter.comments == before:
                line = await self.line()
                assert line is not None
                assert self.interpreter.line(line) is None

    async def numbered(self, position: int) -> None:
        """Read on until the stream has come so far."""
        async with asyncio.timeout(PATIENCE_S):
            while self.last_id != str(position):
                line = await self.line()
                assert line is not None
                assert self.interpreter.line(line) is None

    async def ended(self) -> list[Event]:
        """Read to the end of the stream; returns the events before it."""
        found = []
        async with asyncio.timeout(PATIENCE_S):
            while (line := await self.line()) is not None:
                if (event := self.interpreter.line(line)) is not None:
                    found.append(event)
        return found

    async def line(self) -> str | None:
        """One line; None at the end."""
        while not self._lines:
            piece = await self._piece()
            if not piece:
                return None
            *self._lines, self._rest = (self._rest + piece.decode()).split("\n")
        return self._lines.pop(0)

    async def body(self) -> bytes:
        """What was answered instead of a stream."""
        return await self._incoming.readexactly(int(self.headers["content-length"]))

    async def _piece(self) -> bytes:
        size = int((await self._incoming.readline()).strip() or b"0", 16)
        piece = await self._incoming.readexactly(size + 2)
        return piece[:-2]


@asynccontextmanager
async def reading(
    address: tuple[str, int] | tuple[()],
    query: str = "",
    *,
    last_id: str | None = None,
    token: str = "",
    cookie: str = "",
    **options: Any,
) -> AsyncIterator[Reader]:
    """Ask for /events; the connection is cut at the end."""
    incoming, outgoing = await asyncio.open_connection(*address, **options)
    try:
        head = [f"GET /events{query} HTTP/1.1", "Host: localhost"]
        head += [f"Last-Event-ID: {last_id}"] if last_id is not None else []
        head += [f"Authorization: Bearer {token}"] if token else []
        head += [f"Cookie: tocsin={cookie}"] if cookie else []
        outgoing.write("\r\n".join([*head, "", ""]).encode())
        async with asyncio.timeout(PATIENCE_S):
            said = (await incoming.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in said[1:] if line)
        yield Reader(incoming, int(said[0].split()[1]), headers)
    finally:
        outgoing.transport.abort()
