"""What a broken, lying or hostile server sends becomes the right kind of failure, soon, and within the caps."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.origin import Origin, Page, RawOrigin, Talk, cut, endless, hang, port_of_nobody, reset
from tests.wire import PATIENT_S, client_tls, fetcher, request, server_tls, short, zipped
from tocsin.errors import FetchError, FetchFailed, FetchRefused
from tocsin.model import FailureKind, HopResponse
from tocsin.spec.infrastructure.unsafe import LONGEST, one_line

OK = b"HTTP/1.1 200 OK\r\n"
LONG = OK + b"Content-Length: 99999999999\r\n\r\n"
BODY = b"<p>bell</p>" * 1000
GZIPPED = zipped(BODY)


def then_reset(start: bytes) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(start)
        await writer.drain()
        await reset(reader, writer)

    return talk


async def failure_of(*answers: bytes | Talk, total_s: float = PATIENT_S, first_byte_s: float = PATIENT_S) -> FetchError:
    """What a fetch from such a server raises."""
    async with RawOrigin(*answers) as origin, fetcher(first_byte_s=first_byte_s) as client:
        with pytest.raises(FetchError) as caught:
            await client.get(request(origin.url(), total_s=total_s))
        return caught.value


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (OK + b"Content-Length: 10\r\n\r\nabc", "received 3 of 10"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "not complete"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n", "chunk size"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nfffffffffffffffffff\r\nhello", "Chunk"),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "Content-Length"),
        (OK + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "Content-Length"),
        (OK + b"Content-Length: -5\r\n\r\nhello", "Content-Length"),
        (OK + b"Content-Length: five\r\n\r\nhello", "Content-Length"),
        (OK + b"X: y\r\n" * 2000 + b"\r\n", "headers"),
        (OK + b"X: " + b"y" * 200_000 + b"\r\n\r\n", "bytes"),
        (OK + b"no colon\r\n\r\n", "not an answer of HTTP"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "not an answer of HTTP"),
        (b"<html>no header at all</html>\r\n\r\n", "not an answer of HTTP"),
        (b"HTTP/1.1 200", "closed the connection"),
        (cut, "closed the connection"),
        (reset, "closed the connection"),
    ],
    ids=short,
)
async def test_T58_broken_framing_is_a_failure_of_the_protocol(answer: bytes | Talk, says: str) -> None:
    failure = await failure_of(answer)

    assert (type(failure), failure.kind) == (FetchFailed, FailureKind.PROTOCOL)
    assert says in str(failure)
    assert "\n" not in str(failure)


@pytest.mark.parametrize(
    "start",
    [
        OK + b"Content-Length: 100000\r\n\r\nabc",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        OK + b"\r\nabc",
    ],
    ids=short,
)
async def test_T58_a_connection_that_is_reset_in_the_body_is_a_failure_of_the_protocol(start: bytes) -> None:
    failure = await failure_of(then_reset(start))

    assert (type(failure), failure.kind) == (FetchFailed, FailureKind.PROTOCOL)


async def test_a_reset_after_a_complete_answer_takes_nothing_from_it() -> None:
    async with RawOrigin(then_reset(OK + b"Content-Length: 5\r\n\r\nhello")) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert answer.body == b"hello"


@pytest.mark.parametrize(
    ("coding", "body", "says"),
    [
        ("gzip", GZIPPED[:-9], "cut off"),
        ("gzip", GZIPPED[:5], "cut off"),
        ("gzip", GZIPPED + b"trailing", "follow the end"),
        ("gzip", b"plain words", "not gzip"),
        ("gzip", GZIPPED[:30] + b"\xff" * 30 + GZIPPED[60:], "gzip"),
        ("deflate", b"plain words", "not deflate"),
        ("deflate", zlib.compress(BODY) + b"trailing", "follow the end"),
        ("br", b"\x8b\x02\x80abc", "'br'"),
        ("zstd", b"(\xb5/\xfd", "'zstd'"),
        ("gzip, gzip, gzip", zipped(zipped(GZIPPED)), "3 times"),
        ("gzip, gzip", zipped(GZIPPED[:-9]), "cut off"),
        ("gzip, gzip", zipped(GZIPPED)[:-9], "cut off"),
        ("gzip, gzip", GZIPPED, "not gzip"),
        ("deflate, br", zlib.compress(BODY), "'br'"),
        ("é" * 500, b"x", "not asked for"),
    ],
    ids=short,
)
async def test_T58_a_body_that_is_not_what_its_coding_says_is_a_failure_to_decode(
    coding: str, body: bytes, says: str
) -> None:
    head = OK + f"Content-Encoding: {coding}\r\nContent-Length: {len(body)}\r\n\r\n".encode()

    failure = await failure_of(head + body)

    assert (type(failure), failure.kind) == (FetchFailed, FailureKind.DECODE)
    assert says in str(failure)


@pytest.mark.parametrize(
    ("answer", "setting"),
    [
        (LONG, "fetch.max_wire"),
        (endless(OK + b"\r\n", b"x" * 65536), "fetch.max_wire"),
        (endless(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b"x" * 65536 + b"\r\n"), "fetch.max_wire"),
        (OK + b"Content-Encoding: gzip\r\n\r\n" + zipped(bytes(50_000_000)), "fetch.max_body"),
    ],
    ids=short,
)
async def test_a_body_beyond_a_cap_is_refused_without_reading_on(answer: bytes | Talk, setting: str) -> None:
    failure = await failure_of(answer)

    assert (type(failure), failure.kind) == (FetchRefused, FailureKind.TOO_LARGE)
    assert setting in str(failure)


async def test_a_page_of_50_megabytes_is_refused_by_what_it_announces() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page(bytes(50_000_000))

        with pytest.raises(FetchRefused, match="50000000 bytes announced"):
            await client.get(request(origin.url("/")))


async def test_bodies_exactly_as_long_as_the_caps_are_given() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page(bytes(1000))
        origin.pages["/z"] = Page(zipped(bytes(1000)), headers={"Content-Encoding": "gzip"})

        plain = await client.get(request(origin.url("/"), max_body=1000, max_wire=1000))
        coded = await client.get(request(origin.url("/z"), max_body=1000, max_wire=1000))

    assert len(plain.body) == len(coded.body) == 1000


async def test_a_decoded_body_one_byte_beyond_its_cap_is_refused() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/z"] = Page(zipped(bytes(1001)), headers={"Content-Encoding": "gzip"})

        with pytest.raises(FetchRefused, match=r"fetch\.max_body"):
            await client.get(request(origin.url("/z"), max_body=1000))


async def test_a_server_that_never_answers_misses_its_deadline() -> None:
    failure = await failure_of(hang, first_byte_s=0.1)

    assert (type(failure), failure.kind) == (FetchFailed, FailureKind.TIMEOUT)
    assert "fetch.deadlines.first_byte" in str(failure)


async def test_a_header_that_drips_misses_its_deadline() -> None:
    failure = await failure_of(endless(OK, b"X: y\r\n", pause_s=0.01), first_byte_s=0.1)

    assert failure.kind == FailureKind.TIMEOUT
    assert "fetch.deadlines.first_byte" in str(failure)


@pytest.mark.parametrize("start", [OK + b"\r\n", OK + b"Content-Length: 1000000\r\n\r\n"])
async def test_a_body_that_drips_ends_with_the_total_deadline(start: bytes) -> None:
    for total_s in (0.2, 2.0, 20.0):
        failure = await failure_of(endless(start, b"x", pause_s=0.01), total_s=total_s)
        if "body" in str(failure):
            # A machine on which the header took longer than that has more time.
            break

    assert (type(failure), failure.kind) == (FetchFailed, FailureKind.TIMEOUT)
    assert f"no complete body within {total_s:g} s (fetch.deadlines.total)" in str(failure)


@pytest.mark.parametrize(
    "answer", [LONG.replace(b"200 OK", b"404 Gone"), b"HTTP/1.1 503 Busy\r\nContent-Length: 9\r\n\r\nabc"]
)
async def test_of_an_answer_that_is_no_success_only_the_header_counts(answer: bytes) -> None:
    async with RawOrigin(answer) as origin, fetcher() as client:
        response = await client.get(request(origin.url()))

    assert response.status in (404, 503)
    assert response.body == b""


async def test_nobody_listening_is_a_failure_to_connect() -> None:
    with port_of_nobody() as port:
        async with fetcher() as client:
            with pytest.raises(FetchFailed, match="connect: connection refused") as caught:
                await client.get(request(f"http://127.0.0.1:{port}/"))

    assert caught.value.kind == FailureKind.CONNECT


async def test_a_plain_port_is_no_tls() -> None:
    async with Origin() as origin, fetcher() as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url("/").replace("http:", "https:")))

    assert caught.value.kind == FailureKind.TLS


async def test_a_certificate_that_nobody_vouches_for_is_a_failure_of_tls() -> None:
    async with RawOrigin(b"", tls=server_tls()) as origin, fetcher() as client:
        with pytest.raises(FetchFailed, match=r"self.signed") as caught:
            await client.get(request(origin.url()))

    assert caught.value.kind == FailureKind.TLS


async def test_a_certificate_for_another_host_is_a_failure_of_tls() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        await origin.start("127.0.0.2")

        with pytest.raises(FetchFailed, match=r"127\.0\.0\.2") as caught:
            await client.get(request(origin.url("/", host="127.0.0.2")))

    assert caught.value.kind == FailureKind.TLS


async def test_a_handshake_that_never_ends_misses_its_deadline() -> None:
    async with RawOrigin(hang) as origin, fetcher(tls_s=0.1) as client:
        with pytest.raises(FetchFailed, match=r"fetch\.deadlines\.tls") as caught:
            await client.get(request(origin.url(scheme="https")))

    assert caught.value.kind == FailureKind.TLS


@pytest.mark.parametrize("value", ["a\r\nInjected: b", "\xe9\r\nInjected: b", "\xe9\x00", "\u2603"])
async def test_a_header_that_cannot_be_sent_is_a_failure_and_sends_nothing(value: str) -> None:
    async with RawOrigin(OK + b"\r\n") as origin, fetcher() as client:
        with pytest.raises(FetchFailed) as caught:
            await client.get(request(origin.url(), headers=(("X", value),)))

    assert caught.value.kind == FailureKind.PROTOCOL
    assert origin.heads == []


async def test_a_proxy_that_refuses_is_a_failure_to_connect() -> None:
    async with RawOrigin(b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n") as proxy, fetcher() as client:
        with pytest.raises(FetchFailed, match="the proxy answered 407") as caught:
            await client.get(request("https://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.CONNECT


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


@given(st.text(alphabet=st.characters()) | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape")))
def test_what_others_said_is_one_line_that_every_encoding_can_carry(text: str) -> None:
    said = one_line(text)

    assert said.encode()
    assert len(said) <= max(LONGEST, len("str"))
    assert said.isprintable() or all(letter.isspace() or letter.isprintable() or ord(letter) > 0x9F for letter in said)
    assert not set(said) & {"\n", "\r", "\x1b", "\0", "\x85", "\u2028"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://ann:secret@:1", "http://***@:1"),
        ("cannot use https://ann:a@b@proxy.example/ for it", "cannot use https://***@proxy.example/ for it"),
        ("//ann@host", "//***@host"),
        ("http://ann:a#b@proxy:1", "http://***@proxy:1"),
        ("http://ann:a?b@proxy:1", "http://***@proxy:1"),
        ("http://ann:a\\b@proxy:1", "http://***@proxy:1"),
        ("https://a.example/?from=ann@b.example", "https://a.example/?from=ann@b.example"),
        ("mail to ann@host", "mail to ann@host"),
        ("first\nsecond", "first"),
        ("red \x1b[31m text\x07", "red \ufffd[31m text\ufffd"),
    ],
)
def test_credentials_and_controls_do_not_stay(text: str, said: str) -> None:
    assert one_line(text) == said


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("https://a.example/", lambda port: f"http://ann:secret@127.0.0.1:{port}"),
        ("https://a.example/", lambda _port: "http://ann:secret@127.0.0.1:1"),
        ("https://a.example/", lambda _port: "http://ann:secret@nowhere.invalid:1"),
        ("http://a.example/", lambda _port: "http://ann:secret@:1"),
        ("http://a.example/", lambda _port: "ftp://ann:secret@127.0.0.1/"),
        ("http://a.example/", lambda port: f"http://ann:sec/ret@127.0.0.1:{port}"),
        ("http://a.example/", lambda port: f"http://ann:sec#ret@127.0.0.1:{port}"),
    ],
)
async def test_a_proxy_is_never_named_with_its_password(url: str, proxy: Callable[[int], str]) -> None:
    async with (
        RawOrigin(b"HTTP/1.1 407 \x1b[31m\xff ann:secret\r\nContent-Length: 0\r\n\r\n") as refusing,
        fetcher() as client,
    ):
        with pytest.raises(FetchError) as caught:
            await client.get(request(url, proxy=proxy(refusing.port)))

    assert "//ann" not in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert str(caught.value).encode()


async def test_a_proxy_is_given_the_password_that_its_url_carries() -> None:
    async with RawOrigin(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") as proxy, fetcher() as client:
        await client.get(request("http://a.example/", proxy=proxy.url("").replace("//", "//ann:secret@")))

    assert b"Proxy-Authorization: Basic YW5uOnNlY3JldA==\r\n" in proxy.heads[0]


async def test_credentials_in_a_url_are_neither_sent_nor_shown() -> None:
    empty = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(empty, b"nonsense\r\n\r\n", keep=True) as origin, fetcher() as client:
        url = origin.url("/a@b").replace("//", "//ann:secret@")
        answer = await client.get(request(url))
        with pytest.raises(FetchError) as caught:
            await client.get(request(url))

    assert answer.url == origin.url("/a@b")
    assert b"Authorization" not in origin.heads[0]
    assert "ann" not in str(caught.value)
