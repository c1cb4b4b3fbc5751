"""Whatever bytes a server sends, a request ends with an answer or with an error of ours."""

from __future__ import annotations

import asyncio
import gzip

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.origin import RawOrigin
from tests.wire import fetcher, request
from tocsin.errors import FetchError
from tocsin.model import HopResponse

PIECES = [
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.0 203 \r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n",
    b"HTTP/9.9 200 OK\r\n",
    b"HTTP/1.1 99999 OK\r\n",
    b"HTTP/1.1 304 Not Modified\r\n",
    b"Content-Length: 5\r\n",
    b"Content-Length: 0\r\n",
    b"Content-Length: 5, 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n",
    b"Content-Encoding: gzip\r\n",
    b"Content-Encoding: deflate\r\n",
    b"Content-Encoding: \xff\r\n",
    b"Connection: close\r\n",
    b"Connection: upgrade\r\nUpgrade: websocket\r\n",
    b"Content-Type: \xe9; charset=\x80\r\n",
    b"Set-Cookie: \xff=\x01\r\n",
    b": empty\r\n",
    b" folded\r\n",
    b"\r\n",
    b"\n",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"5;ext=\x00\r\nhello\r\n",
    b"hello",
    gzip.compress(b"hello"),
    b"\x00",
]
ANSWERS = st.lists(st.sampled_from(PIECES) | st.binary(max_size=20), max_size=12).map(b"".join)


async def fetch_twice(answer: bytes) -> list[FetchError | HopResponse]:
    """What two requests in one session get; the second meets what the first one left on the connection."""
    ends: list[FetchError | HopResponse] = []
    async with RawOrigin(answer, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") as origin, fetcher() as client:
        for _ in range(2):
            try:
                ends.append(await client.get(request(origin.url(), total_s=30.0)))
            except FetchError as exc:
                ends.append(exc)
    return ends


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS | ANSWERS.map(lambda rest: b"HTTP/1.1 200 OK\r\n" + rest))
def test_no_bytes_are_too_strange_for_a_request_to_end(answer: bytes) -> None:
    first, second = asyncio.run(fetch_twice(answer))

    assert isinstance(first, FetchError | HopResponse)
    assert isinstance(second, HopResponse)
    assert second.body == b"hi"
