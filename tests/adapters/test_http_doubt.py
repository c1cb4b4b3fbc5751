"""A connection whose framing can be doubted serves no second request, and what it floods us with is counted."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fcntl import ioctl
from termios import TIOCOUTQ

import pytest

from tests.fakes import settle
from tests.origin import RawOrigin, Talk, arrived, endless
from tests.wire import PATIENT_S, fetcher, request, short
from tocsin.adapters.http import fetcher as fetching
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import FailureKind

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
POISON = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"


@pytest.mark.parametrize(
    "answer",
    [
        HELLO + POISON,
        HELLO + POISON[:10],
        HELLO + b"HTT",
        HELLO + HINT,
        HELLO + b"garbage",
        HINT + HELLO + b"garbage",
        CHUNKED + b"5\r\nhello\r\n0\r\n\r\ngarbage",
        CHUNKED + b"5\r\nhello\r\n0\r\n\r\n" + POISON[:20],
        HELLO.replace(b"1.1", b"1.0"),
        HELLO.replace(b"1.1", b"1.0").replace(b"OK\r\n", b"OK\r\nConnection: keep-alive\r\n"),
        HELLO.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"),
    ],
    ids=short,
)
async def test_a_doubtful_answer_is_taken_and_its_connection_is_not_reused(answer: bytes) -> None:
    async with RawOrigin(answer, HELLO, keep=True) as origin, fetcher() as client:
        first = await client.get(request(origin.url()))
        second = await client.get(request(origin.url()))

    assert (first.body, second.body) == (b"hello", b"hello")
    assert origin.connections == 2


@pytest.mark.parametrize("rested_s", [0.0, 60.0])
async def test_bytes_that_the_loop_has_not_come_to_read_are_no_answer_to_the_next_request(
    rested_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "RESTED_S", rested_s)
    sent, asked = threading.Event(), 0

    def serve(listening: socket.socket) -> None:
        nonlocal asked
        listening.settimeout(PATIENT_S)
        for _ in range(2):
            connection, _ = listening.accept()
            with connection, suppress(ConnectionResetError):
                connection.recv(65536)
                connection.sendall(HELLO)
                connection.sendall(POISON) if go_on.wait(PATIENT_S) else None
                # It is on its way until the other side's system has it; whoever has ended since has no use for it.
                while not sent.is_set() and any(ioctl(connection, TIOCOUTQ, bytes(4))):
                    pass
                sent.set()
                asked += bool(connection.recv(65536))

    go_on = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor() as pool:
        serving = pool.submit(serve, listening)
        async with fetcher() as client:
            url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
            await client.get(request(url))
            go_on.set()
            sent.wait(PATIENT_S)  # the loop stands still meanwhile, and reads nothing

            assert (await client.get(request(url))).body == b"hello"
        serving.result(PATIENT_S)
    assert asked == 0


@pytest.mark.parametrize("status", [b"204 No", b"304 Not Modified", b"200 OK\r\nContent-Length: 0"], ids=short)
async def test_bytes_behind_an_answer_without_a_body_end_its_connection(status: bytes) -> None:
    async with RawOrigin(b"HTTP/1.1 " + status + b"\r\n\r\nmore", HELLO, keep=True) as origin, fetcher() as client:
        first = await client.get(request(origin.url()))
        second = await client.get(request(origin.url()))

    assert (first.body, second.body) == (b"", b"hello")
    assert origin.connections == 2


async def test_bytes_that_come_while_nobody_asks_are_no_answer_to_the_next_request() -> None:
    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HELLO)
        await writer.drain()
        # The answer is read, and its connection lies idle, when the next one comes.
        await client.get(request(other.url()))
        writer.write(POISON)
        await arrived(writer)
        said.set()

    said = asyncio.Event()
    async with RawOrigin(talk, HELLO, keep=True) as origin, RawOrigin(HELLO) as other, fetcher() as client:
        await client.get(request(origin.url()))
        await said.wait()
        await settle()

        assert (await client.get(request(origin.url()))).body == b"hello"
    assert origin.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\nhello",
        b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"HTTP/0.9 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"HTTP/2.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        b"hello",
        CHUNKED.replace(b"chunked", b"chunked\t") + b"5\r\nhello\r\n0\r\n\r\n",
        CHUNKED.replace(b": chunked", b" : gzip, chunked") + b"5\r\nhello\r\n0\r\n\r\n",
        CHUNKED.replace(b"chunked", b"rot13") + b"5\r\nhello\r\n0\r\n\r\n",
        CHUNKED.replace(b"chunked", b"gzip, chunked") + b"5\r\nhello\r\n0\r\n\r\n",
        CHUNKED.replace(b"chunked", b"chunked, gzip") + b"hello",
        CHUNKED.replace(b"chunked", b"xchunked") + b"hello",
        CHUNKED.replace(b"chunked", b"chunked\r\nTransfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
    ],
    ids=short,
)
async def test_T58_an_answer_without_one_sure_length_is_a_failure_of_the_protocol(answer: bytes) -> None:
    async with RawOrigin(answer, keep=False) as origin, fetcher() as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL


async def test_five_interim_answers_are_read_over() -> None:
    async with RawOrigin(HINT * 5 + HELLO) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert (answer.status, answer.body) == (200, b"hello")
    assert answer.header("link") is None


@pytest.mark.parametrize(
    "answer", [HINT * 6 + HELLO, endless(HINT, HINT), endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n")]
)
async def test_more_than_five_interim_answers_are_a_failure_of_the_protocol(answer: bytes | Talk) -> None:
    async with RawOrigin(answer) as origin, fetcher() as client:
        with pytest.raises(FetchFailed, match="more than 5 interim answers") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 2000) for n in range(200)) + b"\r\n",
        (HINT[:-2] + b"X: " + b"y" * 30_000 + b"\r\nY: " + b"y" * 30_000 + b"\r\n\r\n") * 3 + HELLO,
    ],
    ids=short,
)
async def test_headers_are_bounded_together(answer: bytes) -> None:
    async with RawOrigin(answer) as origin, fetcher() as client:
        with pytest.raises(FetchFailed, match="headers of more than") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL


@pytest.mark.parametrize(
    "piece", [b"1\r\nx\r\n" * 1000, b"1;" + b"e" * 5000 + b"\r\nx\r\n"], ids=["small chunks", "extensions"]
)
async def test_framing_counts_as_bytes_on_the_wire(piece: bytes) -> None:
    async with RawOrigin(endless(CHUNKED, piece)) as origin, fetcher() as client:
        with pytest.raises(FetchRefused, match=r"fetch\.max_wire") as caught:
            await client.get(request(origin.url(), max_wire=100_000))

    assert caught.value.kind == FailureKind.TOO_LARGE


async def test_an_endless_chunk_extension_is_refused() -> None:
    async with RawOrigin(endless(CHUNKED + b"5;", b"e" * 5000)) as origin, fetcher() as client:
        with pytest.raises(FetchRefused, match=r"fetch\.max_wire"):
            await client.get(request(origin.url(), max_wire=100_000))


async def test_a_body_whose_framing_breaks_after_a_while_fails_at_once() -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CHUNKED + b"5\r\nhello\r\n")
        await writer.drain()
        await client.get(request(other.url()))
        writer.write(b"zz\r\n")
        await writer.drain()
        await reader.read()

    async with RawOrigin(talk) as origin, RawOrigin(HELLO) as other, fetcher() as client:
        with pytest.raises(FetchFailed, match="chunk size") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.PROTOCOL
