"""Requests through a proxy: in the whole for plain pages, and by a tunnel for encrypted ones."""

from __future__ import annotations

import asyncio

import pytest

from tests.origin import Origin, Page, RawOrigin, Talk, cut, hang, tunnel_to
from tests.wire import client_tls, fetcher, request, server_tls
from tocsin.adapters.http.llhttp.messages import Origins
from tocsin.adapters.http.tls import TlsContexts
from tocsin.errors import FetchFailed
from tocsin.model import FailureKind

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
CONNECTED = b"HTTP/1.1 200 Connected\r\n\r\n"


@pytest.mark.parametrize("is_proxy_encrypted", [False, True])
async def test_a_tunnel_is_kept_for_the_next_request_to_its_site(*, is_proxy_encrypted: bool) -> None:
    tls = server_tls() if is_proxy_encrypted else None
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        origin.pages["/"] = Page("sealed")
        async with RawOrigin(tunnel_to(origin.port), tls=tls) as proxy:
            through = proxy.url("").replace("http:", "https:") if is_proxy_encrypted else proxy.url("")
            answers = [await client.get(request(origin.url("/"), proxy=through)) for _ in range(2)]

    assert [answer.body for answer in answers] == [b"sealed"] * 2
    assert proxy.connections == 1


async def test_a_kept_connection_to_a_proxy_serves_one_site_only() -> None:
    async with RawOrigin(HELLO, keep=True) as proxy, fetcher() as client:
        for url in ("http://a.example/1", "http://a.example/2", "http://b.example/1"):
            await client.get(request(url, proxy=proxy.url("")))
        await client.get(request(proxy.url("/direct")))

    assert proxy.connections == 3


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n", "the proxy answered 407 Who are you"),
        (b"HTTP/1.1 502\r\n\r\n", "the proxy answered 502$"),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 403 No\r\n\r\n", "the proxy answered 403 No"),
        (b"220 mail.example ESMTP\r\n\r\n", "the proxy did not answer with HTTP"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 140_000 + b"\r\n\r\n", "the proxy answered with a header of more than"),
        (cut, "the proxy closed the connection before it answered"),
    ],
    ids=["refused", "no reason", "interim", "mail", "long header", "cut"],
)
async def test_a_proxy_that_opens_no_tunnel_is_a_failure_to_connect(answer: bytes | Talk, said: str) -> None:
    async with RawOrigin(answer) as proxy, fetcher() as client:
        with pytest.raises(FetchFailed, match=said) as caught:
            await client.get(request("https://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.CONNECT


async def test_interim_answers_of_a_proxy_are_passed_over() -> None:
    greeting = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + CONNECTED
    async with Origin(tls=server_tls()) as origin, fetcher(tls=client_tls()) as client:
        origin.pages["/"] = Page("sealed")
        async with RawOrigin(tunnel_to(origin.port, greeting=greeting)) as proxy:
            answer = await client.get(request(origin.url("/"), proxy=proxy.url("")))

    assert answer.body == b"sealed"


async def test_bytes_that_follow_the_answer_to_connect_are_refused() -> None:
    async def speak_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(CONNECTED + HELLO)
        await reader.read()

    async with RawOrigin(speak_first) as proxy, fetcher() as client:
        with pytest.raises(FetchFailed, match="spoke before it was asked") as caught:
            await client.get(request("https://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.PROTOCOL


async def test_a_proxy_that_is_silent_misses_the_deadline_for_connections() -> None:
    async with RawOrigin(hang) as proxy, fetcher(connect_s=0.05) as client:
        with pytest.raises(FetchFailed, match=r"no connection within 0\.05 s") as caught:
            await client.get(request("https://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.CONNECT


async def test_a_certificate_of_a_proxy_that_is_not_trusted_is_named_as_the_proxys() -> None:
    async with RawOrigin(HELLO, tls=server_tls()) as proxy, fetcher() as client:
        with pytest.raises(FetchFailed, match=r"the proxy: .*self-signed certificate") as caught:
            await client.get(request("http://a.example/", proxy=proxy.url("")))

    assert caught.value.kind == FailureKind.TLS


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
async def test_a_proxy_that_speaks_no_tls_is_a_failure_of_the_handshake(greeting: bytes) -> None:
    async def leave(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        writer.close()

    async with await asyncio.start_server(leave, "127.0.0.1", 0) as server, fetcher() as client:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(FetchFailed, match="the proxy: ") as caught:
            await client.get(request("http://a.example/", proxy=f"https://127.0.0.1:{port}"))

    assert caught.value.kind == FailureKind.TLS


async def test_a_body_that_the_line_to_the_proxy_cut_is_a_failure() -> None:
    async def cut_short(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        await writer.drain()
        writer.transport.abort()

    async with RawOrigin(cut_short, tls=server_tls()) as proxy, fetcher(tls=client_tls()) as client:
        with pytest.raises(FetchFailed, match="without TLS close_notify"):
            await client.get(request("http://a.example/", proxy=proxy.url("")))


async def test_a_page_that_may_have_any_address_has_it_behind_a_proxy_too() -> None:
    async with RawOrigin(HELLO) as proxy, fetcher() as client:
        answer = await client.get(request("http://169.254.169.254/", proxy=proxy.url(""), private=True))

    assert answer.body == b"hello"


@pytest.mark.parametrize(
    ("url", "proxy", "head"),
    [
        (
            "https://a.example/x",
            "http://p",
            b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nUser-Agent: T\r\n",
        ),
        ("https://[2001:db8::1]:81/", "http://p", b"CONNECT [2001:db8::1]:81 HTTP/1.1\r\nHost: [2001:db8::1]:81\r\n"),
        ("http://a.example:81/x?y", "http://p", b"GET http://a.example:81/x?y HTTP/1.1\r\nHost: a.example:81\r\n"),
        ("http://a.example", "http://ann:se%3Acret@p", b"\r\nProxy-Authorization: Basic YW5uOnNlOmNyZXQ=\r\n"),
        ("http://a.example", "HTTP://ann@P:3128/", b"\r\nProxy-Authorization: Basic YW5uOg==\r\n"),
        ("https://a.example", "http://ann:a@b@p", b"\r\nProxy-Authorization: Basic YW5uOmFAYg==\r\n"),
    ],
)
def test_a_proxy_is_asked_as_its_specification_says(url: str, proxy: str, head: bytes) -> None:
    origins = Origins("T", TlsContexts({}))
    origin, target = origins.split(url)
    through = origins.proxy(proxy)

    asked = origins.head(origin, target, request(url), through)

    assert head in (through.connect_head(origin) if origin.context is not None else asked)
    assert (b"Proxy-Authorization" in asked) == (origin.context is None and "@" in proxy)


def test_a_proxy_has_an_origin_of_its_own() -> None:
    origins = Origins("T", TlsContexts({}))

    found = [origins.proxy(url).origin for url in ("https://b\u00fccher.example", "HTTP://P.example:3128/x")]

    assert [origin.key for origin in found] == [
        ("https", "xn--bcher-kva.example", 443),
        ("http", "p.example", 3128),
    ]
    assert [origin.context is None for origin in found] == [False, True]
