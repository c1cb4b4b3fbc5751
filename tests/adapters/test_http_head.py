"""The head of a request: where it goes, and what it says."""

from __future__ import annotations

import pytest

from tocsin.adapters.http.llhttp import messages
from tocsin.adapters.http.llhttp.messages import Origins
from tocsin.adapters.http.tls import TlsContexts
from tocsin.model import HopRequest

USUAL = b"User-Agent: Tocsin/test\r\nAccept: text/html,application/xhtml+xml,*/*;q=0.8\r\n"
CODINGS = b"Accept-Encoding: gzip, deflate\r\n\r\n"


def written(url: str, *headers: tuple[str, str]) -> bytes:
    """The head of a request for this URL."""
    origins = Origins("Tocsin/test", TlsContexts({}))
    origin, target = origins.split(url)
    return origins.head(origin, target, HopRequest(url=url, headers=headers))


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://a.example/x", b"a.example"),
        ("http://a.example:80/x", b"a.example"),
        ("http://a.example:8080/x", b"a.example:8080"),
        ("https://a.example/x", b"a.example"),
        ("https://a.example:443/x", b"a.example"),
        ("https://a.example:80/x", b"a.example:80"),
        ("http://a.example./x", b"a.example"),
        ("http://[2001:db8::1]/x", b"[2001:db8::1]"),
        ("http://[2001:db8::1]:81/x", b"[2001:db8::1]:81"),
    ],
)
def test_the_host_is_written_with_its_port_where_that_is_not_the_usual_one(url: str, host: bytes) -> None:
    assert written(url) == b"GET /x HTTP/1.1\r\nHost: " + host + b"\r\n" + USUAL + CODINGS


@pytest.mark.parametrize(
    ("url", "host", "port", "is_address"),
    [
        ("http://a.example/", "a.example", 80, False),
        ("https://a.example./", "a.example.", 443, False),
        ("http://[::1]:8/", "::1", 8, True),
        ("http://127.0.0.1/", "127.0.0.1", 80, True),
        ("http://user:p@ss:w@127.0.0.1:8/", "127.0.0.1", 8, True),
    ],
)
def test_what_is_dialled_is_the_host_alone(url: str, host: str, port: int, is_address: bool) -> None:  # noqa: FBT001 - a column
    origin, _ = Origins("x", TlsContexts({})).split(url)

    assert (origin.host, origin.port, origin.is_address) == (host, port, is_address)


def test_a_page_s_own_headers_go_between_in_their_order() -> None:
    own = (("If-None-Match", '"\xe9"'), ("Cookie", "a=b"), ("USER-AGENT", "Mine/1"), ("Accept-Encoding", "br"))

    assert written("http://a.example/", *own) == (
        b'GET / HTTP/1.1\r\nHost: a.example\r\nIf-None-Match: "\xe9"\r\nCookie: a=b\r\nUser-Agent: Mine/1\r\n'
        b"Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n" + CODINGS
    )


def test_a_page_s_own_host_is_the_only_one() -> None:
    assert written("http://127.0.0.1/", ("Host", "a.example")).count(b"Host: ") == 1


@pytest.mark.parametrize(
    "header", [("X", "a\r\nY: b"), ("X\r\nY", "a"), ("X", "a\0"), ("X", "\u2603"), ("\u2603", "x")]
)
def test_a_header_that_no_line_can_carry_is_not_sent(header: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match=r"header|codec"):
        written("http://a.example/", header)


@pytest.mark.parametrize(
    "url", ["http://a.example/ b", "http://a.example/\r\nX: y", "http://a.example:0/", "http://a.example:99999/", "a"]
)
def test_a_url_that_no_line_can_carry_is_not_sent(url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        written(url)


def test_connections_of_other_schemes_hosts_and_ports_are_other_ones() -> None:
    origins = Origins("x", TlsContexts({}))
    urls = ["http://a.example/", "https://a.example/", "http://a.example:443/", "http://b.example/"]

    assert len({origins.split(url)[0].key for url in urls}) == len(urls)


def test_origins_are_not_kept_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "MOST_ORIGINS", 3)
    origins = Origins("x", TlsContexts({}))
    for number in range(20):
        origins.split(f"http://a{number}.example/")

    assert len(origins) <= 3
