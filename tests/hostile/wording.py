"""How misbehaving servers put their answers together: headers, bodies, chunks, and the pace at which they come."""

from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from tests.builders import html
from tests.origin import Talk, reset

OK = b"HTTP/1.1 200 OK\r\n"
TYPE = b"Content-Type: text/html; charset=utf-8\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
END = b"\r\n"

GOOD_PAGE = html(created="2026-01-01")
GOOD_ETAG, GOOD_DATE = '"good-1"', "Thu, 01 Jan 2026 00:00:00 GMT"
CHANGED_PAGE = html(created="2026-02-02")
_RUN = 1000
_PIECE_BYTES = 2**14


def answer(body: bytes = GOOD_PAGE, *headers: bytes, start: bytes = OK, content_type: bytes = TYPE) -> bytes:
    """A proper answer with its length."""
    lines = b"".join(header + b"\r\n" for header in headers)
    return start + content_type + lines + b"Content-Length: %d\r\n\r\n" % len(body) + body


def status(code: bytes, *headers: bytes, body: bytes = b"No.") -> bytes:
    """A proper answer with another status."""
    return answer(body, *headers, start=b"HTTP/1.1 " + code + b"\r\n")


def redirect(location: bytes, code: bytes = b"302 Found") -> bytes:
    """A proper redirection."""
    return status(code, b"Location: " + location, body=b"")


def unframed(body: bytes, *headers: bytes) -> bytes:
    """An answer whose body ends with its connection."""
    return OK + TYPE + b"".join(header + b"\r\n" for header in headers) + END + body


def chunks(*pieces: bytes, last: bytes = b"0\r\n\r\n") -> bytes:
    """An answer in chunks."""
    return OK + TYPE + CHUNKED + END + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + last


def coded(coding: bytes, body: bytes) -> bytes:
    """A proper answer with a content coding."""
    return answer(body, b"Content-Encoding: " + coding)


Part: TypeAlias = bytes | tuple[int, bytes]
"""Bytes, or a piece so many times over, a %d in it being the number of the time."""


def many(count: int, piece: bytes) -> Part:
    """The piece so many times over."""
    return count, piece


def spun(*parts: Part, content_type: bytes = TYPE) -> Talk:
    """A proper answer whose body is too long for the server to hold it."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        length = sum(len(run) for part in parts for run in _runs(part))
        writer.write(OK + content_type + b"Content-Length: %d\r\n\r\n" % length)
        for part in parts:
            for run in _runs(part):
                writer.write(run)
                await writer.drain()

    return talk


def _runs(part: Part) -> Iterator[bytes]:
    if isinstance(part, bytes):
        yield part
        return
    count, piece = part
    for first in range(0, count, _RUN):
        numbers = range(first, min(first + _RUN, count))
        yield b"".join(piece % number for number in numbers) if b"%d" in piece else piece * len(numbers)


def zipped(body: bytes) -> bytes:
    """Coded with gzip, the same bytes each time."""
    return gzip.compress(body, mtime=0)


def drip(start: bytes, piece: bytes = b"x", pause_s: float = 0.02) -> Talk:
    """Send a start at once, and then this piece again and again, slowly."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        while not writer.transport.is_closing():
            await writer.drain()
            await asyncio.sleep(pause_s)
            writer.write(piece)

    return talk


def flood(start: bytes, piece: bytes) -> Talk:
    """Send a start, and then this piece as fast as it is taken, for ever."""
    return drip(start, piece, pause_s=0.0)


def then_hold(start: bytes) -> Talk:
    """Send this, and then nothing; end when the other side does."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for at in range(0, len(start), _PIECE_BYTES):
            # Whatever was not taken yet would be kept in memory.
            writer.write(start[at : at + _PIECE_BYTES])
            await writer.drain()
        await reader.read()

    return talk


def then_reset(start: bytes) -> Talk:
    """Send this, and cut the connection off hard."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await reset(reader, writer)

    return talk


def without_farewell(said: bytes) -> Talk:
    """Send this, and end the connection beneath TLS, without the alert that tells an end from a cut."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(said)
        await writer.drain()
        writer.get_extra_info("socket").shutdown(socket.SHUT_WR)

    return talk


def after(pause_s: float, said: bytes) -> Talk:
    """Say it late, if somebody still listens."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(pause_s):
                await reader.read()
        except TimeoutError:
            writer.write(said)

    return talk


def letter_by_letter(said: bytes, pause_s: float = 0.05) -> Talk:
    """Say it one byte at a time."""

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for letter in said:
            if writer.transport.is_closing():
                return
            writer.write(bytes([letter]))
            await writer.drain()
            await asyncio.sleep(pause_s)

    return talk


def in_pieces(pieces: Iterable[bytes], *, pause_s: float = 0.0) -> Talk:
    """Send these one after the other, each when the one before was taken, or somewhat later."""
    kept = tuple(pieces)

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for piece in kept:
            if writer.transport.is_closing():
                return
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause_s)

    return talk
