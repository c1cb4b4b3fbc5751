"""What a proper server answers is given whole, byte for byte."""

from __future__ import annotations

import zlib

import pytest

from tests.origin import Origin, Page, RawOrigin, tunnel_to
from tests.wire import client_tls, fetcher, request, server_tls, short, zipped

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
