"""A stream of messages over a socket pair: each frame is a length and a list of messages as msgpack."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from struct import Struct
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from tocsin.ports.messages import FromFetcher, ToFetcher

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

Sent = TypeVar("Sent")
Received = TypeVar("Received")

_LENGTH = Struct("!I")
_READ_AHEAD_BYTES = 2**20
_MESSAGES_A_FRAME = 256


class MessageStream(Generic[Sent, Received]):
    """Implements `ports.MessagePipe` over one end of a socket pair.

    What is unknown to msgpack crosses as its text: only the log has such values.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        decoder: msgspec.msgpack.Decoder[list[Received]],
    ) -> None:
        self._reader, self._writer, self._decoder = reader, writer, decoder
        self._encoder = msgspec.msgpack.Encoder(enc_hook=str)

    async def send(self, messages: Sequence[Sent]) -> None:
        """Send these, in order; waits while the other end does not read. What nobody can read any more is lost."""
        for start in range(0, len(messages), _MESSAGES_A_FRAME):
            frame = self._encoder.encode(messages[start : start + _MESSAGES_A_FRAME])
            with suppress(ConnectionError):
                self._writer.writelines((_LENGTH.pack(len(frame)), frame))
                await self._writer.drain()

    async def receive(self) -> Sequence[Received]:
        """Wait for the next messages; none: the other end is gone."""
        try:
            (length,) = _LENGTH.unpack(await self._reader.readexactly(_LENGTH.size))
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
    return await _open(ours, msgspec.msgpack.Decoder(list[FromFetcher]))


async def to_main(ours: socket.socket) -> MessageStream[FromFetcher, ToFetcher]:
    """Open the fetcher's end."""
    return await _open(ours, msgspec.msgpack.Decoder(list[ToFetcher]))


async def _open(ours: socket.socket, decoder: msgspec.msgpack.Decoder[list[Any]]) -> MessageStream[Any, Any]:
    reader, writer = await asyncio.open_unix_connection(sock=ours, limit=_READ_AHEAD_BYTES)
    return MessageStream(reader, writer, decoder)
