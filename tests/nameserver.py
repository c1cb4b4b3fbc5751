"""A name server on loopback that answers as it is told."""

from __future__ import annotations

import asyncio
import struct
from ipaddress import ip_address
from types import TracebackType
from typing import Self

_TYPES = {1: 4, 28: 6}
_OK, _NO_SUCH_NAME, _SERVER_FAILURE = 0, 3, 2


class NameServer(asyncio.DatagramProtocol):
    """Answers A and AAAA questions over UDP.

    names   name to its addresses; an unknown name does not exist
    silent  names that are never answered
    broken  names that the server fails at
    asked   (name, type) of each question that came
    """

    def __init__(self, *, ttl_s: int = 60) -> None:
        self.names: dict[str, list[str]] = {}
        self.silent: set[str] = set()
        self.broken: set[str] = set()
        self.asked: list[tuple[str, int]] = []
        self.ttl_s = ttl_s
        self._transport: asyncio.DatagramTransport | None = None

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._transport, _ = await loop.create_datagram_endpoint(lambda: self, local_addr=("127.0.0.1", 0))
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._transport is not None:
            self._transport.close()

    @property
    def address(self) -> str:
        """Where it listens, as "address:port"."""
        if self._transport is None:
            raise RuntimeError("the name server is used outside its `async with`")
        host, port = self._transport.get_extra_info("sockname")
        return f"{host}:{port}"

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        question, name, kind = _question(data)
        self.asked.append((name, kind))
        if name in self.silent or self._transport is None:
            return
        found = [
            address.packed
            for text in self.names.get(name, ())
            if (address := ip_address(text)).version == _TYPES.get(kind)
        ]
        status = _SERVER_FAILURE if name in self.broken else _OK if name in self.names else _NO_SUCH_NAME
        header = data[:2] + struct.pack(">HHHHH", 0x8180 | status, 1, len(found), 0, 0)
        answers = b"".join(
            b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, self.ttl_s, len(packed)) + packed for packed in found
        )
        self._transport.sendto(header + question + answers, addr)


def _question(data: bytes) -> tuple[bytes, str, int]:
    """The question as it stands in the datagram, its name, and its type."""
    labels, at = [], 12
    while data[at]:
        labels.append(data[at + 1 : at + 1 + data[at]].decode("ascii").lower())
        at += 1 + data[at]
    return data[12 : at + 5], ".".join(labels), int(struct.unpack(">H", data[at + 1 : at + 3])[0])
