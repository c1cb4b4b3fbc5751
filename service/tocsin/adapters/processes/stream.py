"""What a fetcher process and its parent share: a stream of messages, and a few bytes of memory."""

from __future__ import annotations

import asyncio
import ctypes
import mmap
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from struct import Struct
from typing import Any, Generic, TypeVar

import msgspec

from tocsin.ports.messages import FromFetcher, ToFetcher

Sent = TypeVar("Sent")
Received = TypeVar("Received")

_LENGTH = Struct("!I")
# Beyond this the writer waits, as flow control.
_READ_AHEAD_BYTES = 2**20
# Decoding a frame takes one step of the loop.
_MESSAGES_A_FRAME = 256


class MessageStream(Generic[Sent, Received]):
    """Implements `ports.MessagePipe` over one end of a socket pair.

    A value of a type that msgpack does not know, as in the log, is sent as its text.
    most_bytes  of a frame; None: the other end is trusted. One that sends more counts as gone
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        decoder: msgspec.msgpack.Decoder[list[Received]],
        most_bytes: int | None = None,
    ) -> None:
        self._reader, self._writer, self._decoder, self._most_bytes = reader, writer, decoder, most_bytes
        self._encoder = msgspec.msgpack.Encoder(enc_hook=str)

    async def send(self, messages: Sequence[Sent]) -> None:
        """Send these in order; waits while the other end does not read. Messages to an end that is gone are lost."""
        for start in range(0, len(messages), _MESSAGES_A_FRAME):
            frame = self._encoder.encode(messages[start : start + _MESSAGES_A_FRAME])
            with suppress(ConnectionError):
                self._writer.writelines((_LENGTH.pack(len(frame)), frame))
                await self._writer.drain()

    async def receive(self) -> Sequence[Received]:
        """Wait for the next messages; empty: the other end is gone."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
            if self._most_bytes is not None and length > self._most_bytes:
                return []
            return self._decoder.decode(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return []

    async def close(self) -> None:
        """Close this end."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


async def to_fetcher(ours: socket.socket) -> MessageStream[ToFetcher, FromFetcher]:
    """Open the main process's end."""
    return await open_pipe(ours, msgspec.msgpack.Decoder(list[FromFetcher]))


async def to_main(ours: socket.socket) -> MessageStream[FromFetcher, ToFetcher]:
    """Open the fetcher's end."""
    return await open_pipe(ours, msgspec.msgpack.Decoder(list[ToFetcher]))


async def open_pipe(
    ours: socket.socket, decoder: msgspec.msgpack.Decoder[list[Received]], *, most_bytes: int | None = None
) -> MessageStream[Any, Received]:
    """Open one end of a socket pair; what it sends is not checked."""
    reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_READ_AHEAD_BYTES)
    return MessageStream(reader, writer, decoder, most_bytes)


_NAME = Struct("=q")
# One page of memory.
_SIZE = 4096


class NameTag:
    """Shared memory in which a fetcher names the page that it is working on; its parent can read it after a crash.

    descriptor  by which the other side opens it
    """

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._memory = mmap.mmap(descriptor, _SIZE)

    def write(self, page_id: int) -> None:
        """Name a page; 0 for none."""
        _NAME.pack_into(self._memory, 0, page_id)

    def read(self) -> int | None:
        """Read the id of the page; None for none."""
        (page_id,) = _NAME.unpack_from(self._memory, 0)
        return page_id or None

    def close(self) -> None:
        """Close it."""
        self._memory.close()
        os.close(self.descriptor)


def new_name_tag() -> NameTag:
    """Make shared memory; raises OSError where the machine has no memory or descriptor left."""
    descriptor = _memory_file()
    os.ftruncate(descriptor, _SIZE)
    return NameTag(descriptor)


def _memory_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("tocsin-fetcher")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


# A fetcher process and its parent: it takes signals from no other process, and ends with it.


# PR_SET_PDEATHSIG of Linux, which Python has no name for.
_SET_SIGNAL_AT_PARENTS_DEATH = 1


def belong_to(parent: int) -> None:
    """Ignore the signals that are meant for the parent, and end with it, also in the middle of a page."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(AttributeError, OSError):
        # Only Linux has it; elsewhere the end of the stream ends the process after the page at hand.
        ctypes.CDLL(None).prctl(_SET_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
    if os.getppid() != parent:
        sys.exit(0)


async def open_stream(descriptor: int) -> MessageStream[FromFetcher, ToFetcher]:
    """Open the stream that this process was started with."""
    return await to_main(socket.socket(fileno=descriptor))
