"""A TCP proxy between a node and a database, for networks that lose packets in one direction.

Lost packets are sent again by the kernels, so what was lost for a short time arrives late, in order. After a longer
time each side gives the connection up, as the settings of Tocsin's connections say: `tcp_user_timeout`, or keepalives
where nothing was sent. A real kernel behind a proxy would notice neither, so the proxy ends both connections itself.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum
from types import TracebackType
from typing import Final, Self

_UNANSWERED_S: Final = 8.0
_KEEPALIVE_S: Final = 11.0
_PIECE: Final = 65536
_LOOK_S: Final = 0.1


class Direction(Enum):
    """Where packets are lost."""

    TO_DATABASE = "to the database"
    TO_NODE = "to the node"


class _Link:
    """One connection through the proxy."""

    def __init__(self, node: asyncio.StreamWriter, database: asyncio.StreamWriter) -> None:
        self.sides = {Direction.TO_NODE: node, Direction.TO_DATABASE: database}
        # When each side sent what was not acknowledged, by the direction in which it sent.
        self.sent_s: dict[Direction, float] = {}


class Proxy:
    """Passes connections on to one port of loopback."""

    def __init__(self, to_port: int) -> None:
        self._to_port = to_port
        self._server: asyncio.Server | None = None
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._lost: Direction | None = None
        self._lost_s = 0.0
        self._open = asyncio.Event()
        self._open.set()
        self.port = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def lose(self, direction: Direction, seconds: float) -> None:
        """Lose all packets of one direction for a time."""
        loop = asyncio.get_running_loop()
        self._lost, self._lost_s = direction, loop.time()
        for link in self._links:
            link.sent_s.clear()
        self._open.clear()
        try:
            while loop.time() < self._lost_s + seconds:
                await asyncio.sleep(_LOOK_S)
                for link in self._links:
                    self._give_up(link, loop.time())
        finally:
            self._lost = None
            self._open.set()

    def _give_up(self, link: _Link, now_s: float) -> None:
        """End a connection on the side of those whose packets were not acknowledged for too long."""
        for sender, writer in ((Direction.TO_DATABASE, Direction.TO_NODE), (Direction.TO_NODE, Direction.TO_DATABASE)):
            sent_s = link.sent_s.get(sender)
            if now_s > (self._lost_s + _KEEPALIVE_S if sent_s is None else sent_s + _UNANSWERED_S):
                link.sides[writer].transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        with suppress(OSError, asyncio.CancelledError):
            try:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to_port)
            except OSError:
                writer.transport.abort()
                return
            link = _Link(writer, far_writer)
            self._links.add(link)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass_on(reader, link, Direction.TO_DATABASE), name="to-database")
                    group.create_task(self._pass_on(far_reader, link, Direction.TO_NODE), name="to-node")
            finally:
                self._links.discard(link)
                writer.transport.abort()
                far_writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, link: _Link, direction: Direction) -> None:
        writer = link.sides[direction]
        with suppress(OSError):
            while piece := await reader.read(_PIECE):
                if self._lost is not None:
                    # In the other direction the data arrives, and its acknowledgement is lost.
                    link.sent_s.setdefault(direction, asyncio.get_running_loop().time())
                    if self._lost is direction:
                        await self._open.wait()
                writer.write(piece)
                await writer.drain()
        # The end of a connection is a packet, too.
        if self._lost is direction:
            await self._open.wait()
        writer.close()
