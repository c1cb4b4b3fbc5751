"""Whatever bytes a server sends: the end is an answer or a failure, and the next request has its own answer."""

from __future__ import annotations

import asyncio
import gzip
from contextlib import suppress

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.origin import RawOrigin, arrived
from tests.wire import fetcher, request
from tocsin.errors import FetchError

LINES = [
    b"HTTP/1.1 200 OK",
    b"HTTP/1.1 200",
    b"HTTP/1.0 200 OK",
    b"HTTP/1.1 204 No Content",
    b"HTTP/1.1 301 Moved",
    b"HTTP/1.1 304 Not Modified",
    b"HTTP/1.1 404 Not Found",
    b"HTTP/1.1 999 Odd",
    b"HTTP/2.0 200 OK",
    b"HTTP/1.2 200 OK",
    b"http/1.1 200 OK",
]
HEADERS = [
    b"Content-Length: 5",
    b"Content-Length: 0",
    b"Content-Length:5 ",
    b"Content-Length: 05",
    b"content-length: 7",
    b"Content-Length: 5, 5",
    b"Transfer-Encoding: chunked",
    b"Transfer-Encoding: Chunked",
    b"Transfer-Encoding: gzip, chunked",
    b"Transfer-Encoding: identity",
    b"Transfer-Encoding:",
    b"Content-Encoding: gzip",
    b"Content-Encoding: identity",
    b"Connection: close",
    b"Connection: keep-alive",
    b"Location: /\xe9 b",
    b"X:",
    b"X:  a \t",
    b"X: a\r\n b",
    b"X: a\0",
    b"X : y",
    b"Content-Length : 5",
    b"Transfer-Encoding : chunked",
    b"Transfer-Encoding : gzip, chunked",
    b"no colon",
    b": none",
]
BODIES = [
    b"hello",
    b"",
    b"hell",
    b"hello!!",
    b"5\r\nhello\r\n0\r\n\r\n",
    b"5;x=y\r\nhello\r\n0\r\nT: z\r\n\r\n",
    b"5 \r\nhello\r\n0\r\n\r\n",
    b"5\r\nhello\r\n",
    b"5\r\nhello\r\nzz\r\n",
    b"05\r\nhello\r\n000\r\n\r\n",
    gzip.compress(b"hello", mtime=0),
]
ANSWERS = st.builds(
    lambda interim, line, headers, body: interim + b"\r\n".join([line, *headers, b"", b""]) + body,
    st.sampled_from(["", "", "", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 H\r\nLink: </x>\r\n\r\n", "\r\n"]).map(
        str.encode
    ),
    st.sampled_from(LINES),
    st.lists(st.sampled_from(HEADERS), max_size=4),
    st.sampled_from(BODIES),
)


def mutated(answer: bytes, changes: list[tuple[int, bytes]]) -> bytes:
    """An answer in which bytes were replaced."""
    changed = bytearray(answer)
    for at, byte in changes:
        changed[at % (len(changed) + 1) : at % (len(changed) + 1) + 1] = byte
    return bytes(changed)


MUTATED = st.builds(
    mutated,
    ANSWERS,
    st.lists(
        st.tuples(st.integers(0, 200), st.sampled_from([b"", b"\0", b"\r", b"\n", b" ", b":", b"\xff", b"1", b"a"])),
        max_size=2,
    ),
)


TURNS = 200
"""Of the loop in which both sides are: no machine is too slow for what needs a few."""


async def another_request(reader: asyncio.StreamReader) -> bool:
    """Wait for one; False if the connection ends."""
    try:
        await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, ConnectionError):
        return False
    return True


async def ask_twice(answer: bytes) -> None:
    """Ask a server that gives this answer, and then ask it again."""
    hello = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(answer)
        await arrived(writer)
        async with asyncio.TaskGroup() as group:
            asked = group.create_task(another_request(reader))
            for _ in range(TURNS):
                # Enough for what was sent to be read; an end of the body by the end of the connection comes then.
                await asyncio.sleep(0)
            is_asked = asked.done() and asked.result()
            asked.cancel()
        if is_asked:
            writer.write(hello)
        else:
            writer.close()

    async with RawOrigin(talk, hello) as origin, fetcher() as client:
        with suppress(FetchError):
            await client.get(request(origin.url(), total_s=30.0))
        then = await client.get(request(origin.url()))

    assert (then.headers, then.body) == ((("content-length", "2"),), b"hi")


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(ANSWERS | MUTATED)
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
@example(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nContent-Encoding: br\r\n\r\n")
@example(b"HTTP/1.1 200\r\nContent-Encoding: gzip\r\nContent-Encoding: br\r\n\r\n")
@example(b"HTTP/1.1 404 No\r\nTransfer-Encoding: chunked\r\n\r\nhello")
@example(b"HTTP/1.1 301 Moved\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n")
def test_an_answer_takes_nothing_from_the_next_one(answer: bytes) -> None:
    asyncio.run(ask_twice(answer))
