"""Lean connections, and the reader of their answers."""

from __future__ import annotations

import asyncio
import resource
import socket
from typing import Any

import aiohappyeyeballs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import settle
from tests.origin import Origin, Page, RawOrigin, arrived, hang
from tests.wire import client_tls, fetcher, request, server_tls
from tocsin.adapters.http.bodies import TooLong
from tocsin.adapters.http.llhttp import connection as lean_connection
from tocsin.adapters.http.llhttp import pool
from tocsin.adapters.http.llhttp.connection import HttpConnection
from tocsin.adapters.http.llhttp.messages import MOST_HEADERS, AnswerReader, BrokenAnswer
from tocsin.adapters.http.llhttp.pool import PLAIN_IDLE_BYTES, ConnectionPool
from tocsin.errors import FetchFailed
from tocsin.model import FailureKind, HopRequest

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def has_heard(opened: socket.socket) -> bool:
    """Whether anything has come that is not read yet."""
    try:
        return bool(opened.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server says at once is there when its connection is known to stand."""
    start = aiohappyeyeballs.start_connection

    async def started(*targets: Any, **options: Any) -> socket.socket:
        opened = await start(*targets, **options)
        while not has_heard(opened):
            await settle(1)
        return opened

    monkeypatch.setattr(aiohappyeyeballs, "start_connection", started)


@pytest.mark.usefixtures("unhurried")
async def test_a_server_that_speaks_before_it_is_asked_is_sent_nothing() -> None:
    heard: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HELLO)
        heard.set_result(await reader.read())
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0)
    async with server, fetcher() as client:
        with pytest.raises(FetchFailed, match="spoke before it was asked") as caught:
            await client.get(request(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"))

        assert await heard == b""
    assert caught.value.kind == FailureKind.PROTOCOL


async def test_who_is_cancelled_with_the_answer_in_hand_does_not_end_a_connection_that_serves_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keep = ConnectionPool.keep

    def kept(self: ConnectionPool, connection: HttpConnection) -> None:
        keep(self, connection)
        asking.cancel()

    async with RawOrigin(HELLO, keep=True) as origin, fetcher() as client:
        monkeypatch.setattr(ConnectionPool, "keep", kept)
        async with asyncio.TaskGroup() as group:
            asking = group.create_task(client.get(request(origin.url())))
        monkeypatch.undo()

        assert asking.cancelled()
        assert (await client.get(request(origin.url()))).body == b"hello"
    assert origin.connections == 1


@pytest.mark.parametrize("turns", range(1, 30, 3))
async def test_who_is_cancelled_at_any_moment_leaves_no_connection_behind(turns: int) -> None:
    async with RawOrigin(HELLO, hang, hang, keep=True) as origin, fetcher() as client:
        await client.get(request(origin.url()))
        for path in ("/", "/other"):
            async with asyncio.TaskGroup() as group:
                asking = group.create_task(client.get(request(origin.url(path))))
                await settle(turns)
                asking.cancel()
            assert asking.cancelled()
        await settle()

        assert client.shared().connections == 0


async def test_a_connection_that_lay_idle_for_too_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with RawOrigin(HELLO, keep=True) as origin, fetcher() as client:
        await client.get(request(origin.url()))
        monkeypatch.setattr(pool, "KEPT_IDLE_S", 0.0)

        await client.get(request(origin.url()))

    assert origin.connections == 2


async def test_connections_that_lie_idle_are_closed_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "KEPT_IDLE_S", 0.02)
    monkeypatch.setattr(pool, "LOOK_S", 0.01)
    ended = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HELLO)
        await reader.read()
        ended.set()

    async with RawOrigin(talk) as origin, fetcher() as client:
        await client.get(request(origin.url()))
        async with asyncio.timeout(30):
            await ended.wait()

        assert client.shared().connections == 0


async def test_the_connection_that_lay_idle_longest_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_IDLE_BYTES", 2 * PLAIN_IDLE_BYTES)
    async with (
        RawOrigin(HELLO, keep=True) as first,
        RawOrigin(HELLO, keep=True) as second,
        RawOrigin(HELLO, keep=True) as third,
        fetcher() as client,
    ):
        for origin in (first, second, third, third, second, first):
            await client.get(request(origin.url()))

    assert (first.connections, second.connections, third.connections) == (2, 1, 1)


async def test_idle_connections_leave_most_files_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (12, 12))
    async with Origin() as origin, fetcher() as client:
        for number in range(2, 12):
            host = f"127.0.0.{number}"
            await origin.start(host)
            await client.get(request(origin.url("/", host=host)))
        await settle()

        assert client.shared().connections == 3


async def test_T59_requests_of_one_session_share_an_encrypted_connection() -> None:
    async with RawOrigin(HELLO, keep=True, tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        for _ in range(5):
            assert (await client.get(request(origin.url()))).body == b"hello"

    assert origin.connections == 1


async def test_what_comes_unasked_over_an_encrypted_connection_ends_it() -> None:
    said = asyncio.Event()

    async def talk(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(HELLO)
        await go_on.wait()
        writer.write(HELLO.replace(b"hello", b"wrong"))
        await arrived(writer)
        said.set()

    go_on = asyncio.Event()
    async with RawOrigin(talk, HELLO, keep=True, tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        await client.get(request(origin.url()))
        go_on.set()
        await said.wait()

        assert (await client.get(request(origin.url()))).body == b"hello"
    assert origin.connections == 2


async def test_a_long_page_comes_whole_over_an_encrypted_connection() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        origin.pages["/"] = Page("é" * 1_000_000)

        assert (await client.get(request(origin.url("/")))).body == "é".encode() * 1_000_000


async def test_the_rest_of_an_error_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lean_connection, "DRAINED_S", 0.02)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 404 No\r\nContent-Length: 500\r\n\r\nhello")
        await reader.read()

    async with RawOrigin(talk) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert (answer.status, answer.wire_bytes) == (404, 5)


async def test_whoever_sends_nothing_but_tls_is_not_listened_to_for_ever() -> None:
    serving = server_tls()
    serving.num_tickets = 3000
    async with RawOrigin(HELLO, tls=serving) as origin, fetcher(tls=client_tls()) as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url()))
        await settle()

        assert client.shared().connections == 0
    assert caught.value.kind in {FailureKind.TLS, FailureKind.PROTOCOL}


async def test_a_server_that_answers_and_never_reads_is_not_waited_for() -> None:
    over = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(10)
        writer.write(HELLO.replace(b"OK", b"OK\r\nConnection: close"))
        await over.wait()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=server_tls())
    async with server, fetcher(tls=client_tls()) as client:
        url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        await client.get(request(url, headers=(("X", "y" * 20_000_000),)))
        await settle()
        left = client.shared().connections
        over.set()

    assert left == 0


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://localhost:{}/a", b"GET /a HTTP/1.1\r\nHost: localhost:{}\r\n"),
        ("http://localhost.:{}/a", b"GET /a HTTP/1.1\r\nHost: localhost:{}\r\n"),
        ("http://127.0.0.1:{}", b"GET / HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"),
        ("http://127.0.0.1:{}?q", b"GET /?q HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"),
        ("http://127.0.0.1:{}/a#b", b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"),
        ("http://user:p@ss@127.0.0.1:{}/a", b"GET /a HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n"),
    ],
)
async def test_a_url_is_asked_for_at_its_host(url: str, asked: bytes) -> None:
    async with RawOrigin(HELLO) as origin, fetcher() as client:
        answer = await client.get(request(url.replace("{}", str(origin.port))))

    assert origin.heads[0].startswith(asked.replace(b"{}", b"%d" % origin.port))
    assert "p@ss" not in answer.url


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/a b", "http://127.0.0.1:1/\u00e9", "http://:1/", "ftp://a/", "a"])
async def test_a_url_that_cannot_be_sent_is_a_failure(url: str) -> None:
    async with fetcher() as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(url))

    assert caught.value.kind == FailureKind.PROTOCOL


REQUEST = HopRequest(url="http://a.example/")
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
ANSWERS = [
    OK + b'ETag: W/"\xe9"\r\nContent-Length: 5\r\n\r\nhello',
    CHUNKED + b"2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nX: y\r\n\r\n",
    HINTS * 3 + OK + b"X: a\r\n b\r\nContent-Length: 5\r\n\r\nhello",
    b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
    b"HTTP/1.1 404 No\r\nContent-Length: 3\r\n\r\nNo.",
    b"HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    OK + b"\r\nhello",
    OK + b"Content-Length: 5\r\n\r\nhel",
    OK + b"Content-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n",
    CHUNKED + b"5\r\nhello\r\nzz\r\n",
    b"SSH-2.0-OpenSSH_9.9\r\n",
]


def read(*pieces: bytes) -> object:
    """What becomes of these pieces, and of the end of their connection."""
    reader = AnswerReader()
    reader.begin(REQUEST)
    try:
        for piece in pieces:
            reader.feed(piece)
        is_sure = reader.is_done and reader.is_sure
        reader.end(None)
    except (BrokenAnswer, TooLong) as exc:
        return str(exc)
    return reader.status, reader.headers, reader.whole(), is_sure


def feed_again(reader: AnswerReader, piece: bytes, *, times: int) -> None:
    """The same piece so many times over."""
    for _ in range(times):
        reader.feed(piece)


@given(st.sampled_from(ANSWERS), st.lists(st.integers(0, 120), max_size=8).map(sorted))
def test_an_answer_is_the_same_however_its_bytes_are_cut(answer: bytes, cuts: list[int]) -> None:
    pieces = [answer[start:end] for start, end in zip([0, *cuts], [*cuts, len(answer)], strict=True)]

    assert read(*filter(None, pieces)) == read(answer)


@pytest.mark.parametrize(
    ("behind", "is_sure"), [(b"", True), (b"H", False), (b"HTTP/1.1 200 OK\r\n", False), (b"\0", False)]
)
def test_bytes_behind_an_answer_take_nothing_from_it_but_its_connection(behind: bytes, is_sure: bool) -> None:  # noqa: FBT001 - a column
    reader = AnswerReader()
    reader.begin(REQUEST)

    reader.feed(OK + b"Content-Length: 5\r\n\r\nhello" + behind)

    assert reader.whole() == (b"hello", 5, False)
    assert (reader.is_done, reader.is_sure) == (True, is_sure)


def test_the_lengths_that_interim_answers_say_are_not_those_of_the_answer() -> None:
    early = b"HTTP/1.1 103 Early Hints\r\nContent-Length: 500\r\n\r\n"

    answer = CHUNKED + b"5\r\nhello\r\n0\r\n\r\n"

    assert (
        read(early + answer) == read(answer) == (200, (("transfer-encoding", "chunked"),), (b"hello", 5, False), True)
    )


def test_more_trailers_than_headers_may_be_are_refused() -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)
    reader.feed(CHUNKED + b"5\r\nhello\r\n0\r\n")

    with pytest.raises(BrokenAnswer, match=f"more than {MOST_HEADERS} headers"):
        reader.feed(b"X: y\r\n" * (MOST_HEADERS + 2))


@pytest.mark.parametrize("start", [b"5\r\nhello\r\n0\r\nX: ", b"5\r\nhello\r\n1;"])
def test_what_frames_a_body_is_bounded_apart_from_the_body(start: bytes) -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)
    reader.feed(CHUNKED + start)

    with pytest.raises(TooLong):
        feed_again(reader, b"y" * 4096, times=100)


def test_a_header_that_comes_byte_by_byte_is_not_joined_for_ever() -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)
    reader.feed(OK + b"X: ")

    with pytest.raises(BrokenAnswer, match="headers of more than"):
        feed_again(reader, b"y", times=5000)


def test_a_body_in_chunks_of_one_byte_is_bounded_by_its_chunks() -> None:
    reader = AnswerReader()
    reader.begin(HopRequest(url="http://a.example/", max_wire_bytes=64 * 1024))
    reader.feed(CHUNKED)

    with pytest.raises(TooLong, match="tiny pieces"):
        reader.feed(b"1\r\nx\r\n" * 1025)


def test_the_body_of_an_error_in_chunks_of_one_byte_is_given_up_early() -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)

    reader.feed(CHUNKED.replace(b"200 OK", b"404 No") + b"1\r\nx\r\n" * 2000)

    assert (reader.is_done, reader.drained_bytes) == (True, 1025)


def test_what_frames_a_body_that_is_cut_ends_it() -> None:
    reader = AnswerReader()
    reader.begin(HopRequest(url="http://a.example/", cut_at=100))
    reader.feed(CHUNKED + b"5\r\nhello\r\n1;")

    feed_again(reader, b"y" * 4096, times=100)

    assert reader.is_done
    assert reader.whole() == (b"hello", 5, True)


@pytest.mark.parametrize("rest", [b"zz\r\n", b"5\r\nhello\r\n0\r\n" + b"X: y\r\n" * 1000, b"hello"])
def test_what_breaks_in_the_body_of_an_error_takes_nothing_from_its_header(rest: bytes) -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)

    reader.feed(CHUNKED.replace(b"200 OK", b"404 No") + rest)

    assert (reader.is_done, reader.is_sure, reader.status) == (True, False, 404)


def test_trailers_are_no_headers_of_the_next_answer() -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)
    reader.feed(CHUNKED + b"5\r\nhello\r\n0\r\nContent-Encoding: br\r\nLocation: /poison\r\n\r\n")
    assert (reader.is_done, reader.is_sure) == (True, True)

    reader.begin(REQUEST)
    reader.feed(OK + b"Content-Length: 2\r\n\r\nhi")

    assert (reader.headers, reader.whole()) == ((("content-length", "2"),), (b"hi", 2, False))


@pytest.mark.parametrize(
    ("framed", "why"),
    [
        (b"Content-Length : 50\r\n\r\nhello", "received 5 of 50 bytes"),
        (b"Transfer-Encoding : chunked\r\n\r\n5\r\nhello\r\n", "the last chunk is missing"),
        (b"Transfer-Encoding : gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "a transfer coding"),
    ],
)
def test_a_space_before_its_colon_takes_nothing_from_what_a_header_says_of_the_body(framed: bytes, why: str) -> None:
    assert why in str(read(OK + framed))


@pytest.mark.parametrize("length", [5, 100_000])
def test_an_interim_answer_with_a_body_is_refused(length: int) -> None:
    interim = b"HTTP/1.1 199 Odd\r\nContent-Length: %d\r\n\r\n" % length + b"x" * length

    assert "an interim answer with a body" in str(read(interim + OK + b"Content-Length: 5\r\n\r\nhello"))


@pytest.mark.parametrize("version", [b"HTTP/1.0", b"HTTP/1.1"])
def test_only_the_version_that_keeps_connections_keeps_one(version: bytes) -> None:
    reader = AnswerReader()
    reader.begin(REQUEST)

    reader.feed(version + b" 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n")

    assert (reader.is_done, reader.is_sure) == (True, version == b"HTTP/1.1")
