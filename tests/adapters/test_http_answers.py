"""A correct answer is given whole, byte for byte, however it is sent and encoded."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.origin import Origin, Page, RawOrigin, arrived, tunnel_to
from tests.wire import client_tls, fetcher, request, server_tls, short, zipped
from tocsin.adapters.http.bodies import Body, NotDecodable, TooLong
from tocsin.errors import FetchError

OK = b"HTTP/1.1 200 OK\r\n"


async def test_a_page_is_given_whole() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/a"] = Page("é" * 100_000)

        answer = await client.get(request(origin.url("/a")))

    assert (answer.status, answer.body) == (200, "é".encode() * 100_000)
    assert answer.wire_bytes == 200_000
    assert answer.header("content-type") == "text/html; charset=utf-8"


async def test_the_url_goes_over_the_wire_as_it_was_given() -> None:
    path = "/%7Ea//b/../c%2F;x?q=%zz&r=a+b%20c&|'*"
    async with RawOrigin(OK + b"Content-Length: 0\r\n\r\n") as origin, fetcher() as client:
        await client.get(request(origin.url(path)))

    assert origin.heads[0].startswith(b"GET " + path.encode() + b" HTTP/1.1\r\n")


async def test_an_empty_query_keeps_its_question_mark() -> None:
    async with RawOrigin(OK + b"Content-Length: 0\r\n\r\n") as origin, fetcher() as client:
        await client.get(request(origin.url("/a?")))
        await client.get(request(origin.url("/a?b=?")))

    assert [head.partition(b" HTTP")[0] for head in origin.heads] == [b"GET /a?", b"GET /a?b=?"]


@pytest.mark.parametrize(
    ("location", "reference"),
    [(b"/\xe9", "/%E9"), ("/é?☃".encode(), "/%C3%A9?%E2%98%83"), (b"/%\xc3\xa9%c3", "/%%C3%A9%c3"), (b"/a b", "/a b")],
)
async def test_where_a_redirect_leads_is_read_byte_for_byte(location: bytes, reference: str) -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(head) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert answer.location == reference


async def test_we_say_who_we_are_and_what_we_can_read() -> None:
    async with Origin() as origin, fetcher() as client:
        await client.get(request(origin.url("/")))

    headers = origin.log[0].headers
    assert headers["user-agent"] == "Tocsin/test"
    assert headers["accept-encoding"] == "gzip, deflate"
    assert "text/html" in headers["accept"]
    assert "cookie" not in headers


async def test_a_page_s_own_headers_go_before_ours_but_for_the_codings() -> None:
    own = (("User-Agent", "Mine/1"), ("accept", "text/plain"), ("Accept-Encoding", "br"), ("X-Key", "k"))
    async with Origin() as origin, fetcher() as client:
        await client.get(request(origin.url("/"), headers=own))

    headers = origin.log[0].headers
    assert [headers[name] for name in ("user-agent", "accept", "accept-encoding", "x-key")] == [
        "Mine/1",
        "text/plain",
        "gzip, deflate",
        "k",
    ]


@pytest.mark.parametrize(
    "etag",
    [b'"a"', b'W/"a"', '"é \u2603  b"'.encode(), b'"\xe9"', b'"\x80\xff\xfe"', b"no quotes", b'"a\tb"'],
    ids=short,
)
async def test_header_values_come_and_go_byte_for_byte(etag: bytes) -> None:
    async with RawOrigin(OK + b"ETag: " + etag + b"\r\nContent-Length: 0\r\n\r\n") as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))
        given = answer.header("etag") or ""
        await client.get(request(origin.url("/b?c"), headers=(("If-None-Match", given),)))

    assert given == etag.decode("latin-1")
    assert origin.heads[1].startswith(b"GET /b?c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"If-None-Match: " + etag + b"\r\n" in origin.heads[1]


async def test_a_proxy_is_sent_header_values_byte_for_byte() -> None:
    async with RawOrigin(OK + b"Content-Length: 2\r\n\r\nhi") as proxy, fetcher() as client:
        await client.get(request("http://a.example/x?y", proxy=proxy.url(""), headers=(("If-None-Match", '"\xe9"'),)))

    assert proxy.heads[0].startswith(b"GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n")
    assert b'If-None-Match: "\xe9"\r\n' in proxy.heads[0]


async def test_repeated_headers_stay_repeated_and_in_order() -> None:
    raw = OK + b"Link: </a>\r\nX: 1\r\nlink: </b>\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(raw) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert answer.headers[:3] == (("link", "</a>"), ("x", "1"), ("link", "</b>"))


@pytest.mark.parametrize("status", [301, 302, 304, 307, 404, 410, 418, 429, 500, 503, 599])
async def test_any_status_is_an_answer(status: int) -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/a"] = Page("words", status=status, headers={"Location": "/b", "Retry-After": "7"})

        answer = await client.get(request(origin.url("/a")))

    assert answer.status == status
    assert answer.header("location") == "/b"
    assert origin.asked("/b") == []


async def test_no_cookie_is_ever_kept() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page("a", headers={"Set-Cookie": "id=1; Path=/"})

        await client.get(request(origin.url("/")))
        await client.get(request(origin.url("/")))

    assert "cookie" not in origin.log[1].headers


@pytest.mark.parametrize("head", [b"HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n", b"HTTP/1.1 204 No\r\n"])
async def test_answers_without_a_body_end_with_their_header(head: bytes) -> None:
    async with RawOrigin(head + b"\r\n", keep=True) as origin, fetcher() as client:
        first = await client.get(request(origin.url()))
        second = await client.get(request(origin.url()))

    assert first.body == second.body == b""
    assert origin.connections == 1


async def test_a_provisional_answer_is_not_the_answer() -> None:
    raw = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + OK + b"Content-Length: 2\r\n\r\nhi"
    async with RawOrigin(raw) as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert (answer.status, answer.body) == (200, b"hi")


async def test_a_body_may_end_with_the_connection() -> None:
    async with RawOrigin(OK + b"\r\nto the end") as origin, fetcher() as client:
        answer = await client.get(request(origin.url()))

    assert answer.body == b"to the end"


def raw_deflate(body: bytes) -> bytes:
    coder = zlib.compressobj(wbits=-15)
    return coder.compress(body) + coder.flush()


BODY = b"<p>bell</p>" * 20_000


@pytest.mark.parametrize(
    ("coding", "coded"),
    [
        ("gzip", zipped(BODY)),
        ("x-gzip", zipped(BODY)),
        ("GZIP", zipped(BODY)),
        ("gzip", zipped(BODY[:1000]) + zipped(BODY[1000:])),
        ("deflate", zlib.compress(BODY)),
        ("deflate", raw_deflate(BODY)),
        ("identity", BODY),
        ("", BODY),
        ("identity, gzip", zipped(BODY)),
        ("gzip, gzip", zipped(zipped(BODY))),
        ("deflate, x-gzip", zipped(zlib.compress(BODY))),
    ],
    ids=short,
)
async def test_the_codings_that_we_ask_for_are_decoded(coding: str, coded: bytes) -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page(coded, headers={"Content-Encoding": coding})

        answer = await client.get(request(origin.url("/")))

    assert answer.body == BODY
    assert answer.wire_bytes == len(coded)


async def test_a_coded_body_of_no_bytes_is_an_empty_body() -> None:
    async with Origin() as origin, fetcher() as client:
        origin.pages["/"] = Page(b"", headers={"Content-Encoding": "gzip"})

        answer = await client.get(request(origin.url("/")))

    assert answer.body == b""


async def test_T59_requests_of_one_session_share_a_connection() -> None:
    async with RawOrigin(OK + b"Content-Length: 2\r\n\r\nhi", keep=True) as origin, fetcher() as client:
        for _ in range(5):
            await client.get(request(origin.url()))

    assert origin.connections == 1


async def test_T60_a_fresh_session_makes_new_connections_and_closes_them() -> None:
    async with RawOrigin(OK + b"Content-Length: 2\r\n\r\nhi", keep=True) as origin, fetcher() as client:
        await client.get(request(origin.url()))
        async with client.fresh() as session:
            await session.get(request(origin.url()))

        assert origin.connections == 2
        assert client.shared().connections == 1


async def test_pages_are_fetched_over_tls() -> None:
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        origin.pages["/"] = Page("sealed")

        answer = await client.get(request(origin.url("/")))

    assert answer.body == b"sealed"


async def test_a_proxy_is_asked_for_the_whole_url() -> None:
    async with RawOrigin(OK + b"Content-Length: 2\r\n\r\nhi") as proxy, fetcher() as client:
        answer = await client.get(request("http://a.example/x?y", proxy=proxy.url("")))

    assert answer.body == b"hi"
    assert proxy.heads[0].startswith(b"GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n")


@pytest.mark.parametrize("version", [b"1.1", b"1.0"])
async def test_a_proxy_tunnels_what_is_encrypted(version: bytes) -> None:
    greeting = b"HTTP/" + version + b" 200 Connection established\r\nVia: us\r\n\r\n"
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        origin.pages["/"] = Page("sealed")
        async with RawOrigin(tunnel_to(origin.port, greeting=greeting)) as proxy:
            answer = await client.get(request(origin.url("/"), proxy=proxy.url("")))

    assert answer.body == b"sealed"
    assert proxy.heads[0].startswith(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n".encode())


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


CODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "identity": bytes,
    "deflate, gzip": lambda data: gzip.compress(zlib.compress(data)),
}


def decode(
    coding: str, pieces: list[bytes], *, max_body: int = 10**6, max_wire: int = 10**6, cut_at: int | None = None
) -> bytes:
    body = Body(coding, max_wire=max_wire, max_body=max_body, cut_at=cut_at)
    for piece in pieces:
        body.take(piece)
    return body.whole()


def cut_up(data: bytes, cuts: list[int]) -> list[bytes]:
    at = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(at)]


@given(st.binary(max_size=5000), st.sampled_from(sorted(CODERS)), st.lists(st.integers(0, 10**4), max_size=10))
def test_what_was_coded_comes_back_however_it_is_cut(data: bytes, coding: str, cuts: list[int]) -> None:
    assert decode(coding, cut_up(CODERS[coding](data), cuts)) == data


@given(st.binary(max_size=3000), st.binary(max_size=3000), st.lists(st.integers(0, 10**4), max_size=10))
def test_members_of_gzip_follow_each_other(first: bytes, second: bytes, cuts: list[int]) -> None:
    assert decode("gzip", cut_up(gzip.compress(first) + gzip.compress(second), cuts)) == first + second


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "deflate, gzip"]), st.integers(0, 10**4))
def test_cut_off_data_is_never_taken_for_whole(data: bytes, coding: str, cut: int) -> None:
    coded = CODERS[coding](data)
    start = coded[: cut % len(coded)]
    if start:
        with pytest.raises(NotDecodable):
            decode(coding, [start])


@given(st.binary(max_size=2000), st.sampled_from(["gzip", "deflate", "deflate, gzip"]), st.integers(0, 2000))
def test_no_bytes_are_too_strange_and_none_go_beyond_the_cap(data: bytes, coding: str, cap: int) -> None:
    try:
        body = decode(coding, [data], max_body=cap)
    except (NotDecodable, TooLong):
        return
    assert len(body) <= cap


def test_a_bomb_is_not_inflated_beyond_its_cap() -> None:
    bomb = gzip.compress(bytes(100_000_000))
    body = Body("gzip", max_wire=len(bomb), max_body=1000)

    with pytest.raises(TooLong):
        body.take(bomb)

    assert body.body_bytes <= 256 * 1024  # one step


def test_a_bomb_between_two_codings_is_not_inflated_beyond_the_cap() -> None:
    endless_name = b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * 20_000_000
    bomb = gzip.compress(endless_name)

    with pytest.raises(TooLong, match="between its codings"):
        decode("gzip, gzip", [bomb], max_body=10**5, max_wire=10**5)


@pytest.mark.parametrize("coding", ["gzip", "gzip, gzip"])
def test_members_of_nothing_are_bounded_in_number(coding: str) -> None:
    members = gzip.compress(b"", mtime=0) * 2000
    data = members if coding == "gzip" else gzip.compress(members)

    with pytest.raises(TooLong, match="more than 976 members of gzip"):
        decode(coding, [data], max_body=10**6, max_wire=10**6)


@pytest.mark.parametrize("coding", ["", "gzip"])
def test_tiny_pieces_count_for_more_than_their_bytes(coding: str) -> None:
    whole = gzip.compress(bytes(2000), compresslevel=0) if coding else bytes(2000)
    body = Body(coding or None, max_wire=64 * 1024, max_body=10**6)

    for at in range(1024):
        body.take(whole[at : at + 1])
    with pytest.raises(TooLong, match="1025 bytes came in too many tiny pieces"):
        body.take(whole[1024:1025])


def test_a_long_run_within_the_cap_comes_out_whole() -> None:
    assert decode("gzip", [gzip.compress(bytes(3_000_001))], max_body=3_000_001) == bytes(3_000_001)


@given(st.binary(max_size=3000), st.sampled_from(sorted(CODERS)), st.integers(0, 3000), st.lists(st.integers(0, 10**4)))
def test_a_cut_leaves_exactly_the_first_bytes(data: bytes, coding: str, cut_at: int, cuts: list[int]) -> None:
    assert decode(coding, cut_up(CODERS[coding](data), cuts), cut_at=cut_at) == data[:cut_at]


def test_what_follows_a_cut_is_not_judged() -> None:
    body = Body("gzip", max_wire=100, max_body=1, cut_at=1000)

    body.announce(10**9)
    body.take(gzip.compress(bytes(10_000))[:-8])

    assert body.is_cut
    assert body.whole() == bytes(1000)


def test_the_cap_on_the_wire_ends_a_body_that_is_cut_anyway() -> None:
    body = Body(None, max_wire=10, max_body=10, cut_at=1000)

    for _ in range(3):
        body.take(b"12345678")

    assert body.is_cut
    assert body.whole() == b"12345678"
