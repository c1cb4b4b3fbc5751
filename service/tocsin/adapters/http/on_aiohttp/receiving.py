"""The body of one answer, read to its announced end, and let go of where it failed."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

from tocsin.adapters.http.deadlines import TURN_S
from tocsin.adapters.http.decoding import LEAST_PIECE_BYTES, Body, TooLong
from tocsin.adapters.http.tls import WatchedTls

if TYPE_CHECKING:
    from tocsin.adapters.http.budget import BodyBudget
    from tocsin.adapters.http.deadlines import Watch
    from tocsin.model import HopRequest

_DRAINED_BYTES = 64 * 1024
_DRAINED_S = 2.0
_SUCCESS = range(200, 300)


class Received(NamedTuple):
    """A body, decoded; `is_cut` says that something was left unread."""

    whole: bytes
    wire_bytes: int
    is_cut: bool = False


async def receive_body(
    response: aiohttp.ClientResponse, request: HopRequest, watch: Watch, budget: BodyBudget
) -> Received:
    """Read the body to its announced end, or to where nothing more of it is wanted."""
    if response.status not in _SUCCESS:
        return Received(b"", await _drain(response))
    body = Body(
        ", ".join(response.headers.getall("Content-Encoding", ())),
        max_wire=request.max_wire_bytes,
        max_body=request.max_body_bytes,
        cut_at=request.cut_at,
    )
    piece, pieces = b"", _Pieces(response.content)
    try:
        if response.content_length is not None:
            body.announce(response.content_length)
        while not body.is_cut and (piece := await pieces.next()):
            body.take(piece)
            budget.hold(watch, body.body_bytes)
        if not body.is_cut and response.content_length is None and "Transfer-Encoding" not in response.headers:
            _refuse_lost(watch)
        return Received(body.whole(), body.wire_bytes, body.is_cut)
    finally:
        # An error would keep all of it, by the frames of its traceback, until the collector comes.
        body.discard()
        del piece
        # There is no other way to empty a stream that failed.
        getattr(response.content, "_buffer", []).clear()


class _Pieces:
    """The pieces of a body as they were sent, each for itself, so that the work for each is seen."""

    def __init__(self, content: aiohttp.StreamReader) -> None:
        self._content = content
        self._began = time.monotonic()

    async def next(self) -> bytes:
        """Give the next piece, empty at the end; the loop has a turn after each `TURN_S` of work."""
        if time.monotonic() - self._began >= TURN_S:
            # The library never waits while there is anything to be had.
            await asyncio.sleep(0)
            self._began = time.monotonic()
        while True:
            piece, ends_chunk = await self._content.readchunk()
            if piece or not ends_chunk or self._content.at_eof():
                return piece


def _refuse_lost(watch: Watch) -> None:
    """Raise if a body that ends with its connection ended otherwise; aiohttp takes any loss of it for an end."""
    lost = watch.protocol.exception() if watch.protocol is not None else None
    if isinstance(lost, OSError):
        raise aiohttp.ClientPayloadError(f"the connection was lost: {lost.strerror or lost}")
    if isinstance(watch.encryption, WatchedTls) and not watch.encryption.was_ended:
        raise aiohttp.ClientPayloadError("the connection was cut off: nobody said that this was the end")


async def _drain(response: aiohttp.ClientResponse) -> int:
    """Throw a short body away, so that the connection can be kept; of a long or broken one, give up both."""
    if response.content.at_eof():
        return 0
    wire_bytes = work = 0
    pieces = _Pieces(response.content)
    try:
        async with asyncio.timeout(_DRAINED_S):
            while work <= _DRAINED_BYTES and (piece := await pieces.next()):
                wire_bytes += len(piece)
                work += max(len(piece), LEAST_PIECE_BYTES)
    except (aiohttp.ClientError, TimeoutError, TooLong):
        response.close()
    return wire_bytes
