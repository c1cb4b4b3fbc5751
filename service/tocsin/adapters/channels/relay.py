"""A socket pair in front of a connection, for libraries that insist on a socket of their own."""

from __future__ import annotations

import asyncio
import socket
from typing import Final, cast

_MOST_EARLY: Final = 2**20


async def open_relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> socket.socket:
    """Copy between a connection that `ChannelContext.dial` opened and one end of a socket pair; give the other end.

    The library that gets it resolves no name, chooses no address, and sees the connection already decrypted. No port is
    opened, which other programs of this machine could use. The relay ends when either side is closed.
    """
    ours, theirs = socket.socketpair()
    far = cast("asyncio.Transport", writer.transport)
    loop = asyncio.get_running_loop()
    try:
        near, _ = await loop.create_unix_connection(lambda: RelayEnd(far), sock=ours)
    except BaseException:
        theirs.close()
        far.close()
        raise
    # What the server has sent already is in the stream; from here on its bytes go straight to the pair.
    far.pause_reading()
    try:
        async with asyncio.timeout(0):
            near.write(await reader.read(_MOST_EARLY))
    except TimeoutError:
        pass
    far.set_protocol(RelayEnd(near))
    if far.is_closing() or reader.at_eof():
        near.close()
    else:
        far.resume_reading()
    return theirs


class RelayEnd(asyncio.Protocol):
    """One direction: what comes here is written to the other transport, which sets the pace."""

    def __init__(self, other: asyncio.Transport) -> None:
        self._other = other

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on."""
        self._other.write(data)

    def pause_writing(self) -> None:
        """Read no more of the other side than this side takes."""
        if not self._other.is_closing():
            self._other.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        if not self._other.is_closing():
            self._other.resume_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        """End both."""
        self._other.close()
