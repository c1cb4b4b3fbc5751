from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.errors import BadUrl
from tocsin.spec.html.urls import host_and_origin, resolve, shard_of, watch_url, without_user_info

NO_PUNYCODE = "encodes no letters (it is no Punycode); write the host as its site does"


@pytest.mark.parametrize(
    ("text", "url", "host", "origin"),
    [
        ("https://example.org", "https://example.org/", "example.org", "https://example.org"),
        (" HTTP://EXAMPLE.org:80/a b?q='#f\n", "http://example.org/a%20b?q=%27", "example.org", "http://example.org"),
        ("http://example.org:8080/", "http://example.org:8080/", "example.org", "http://example.org:8080"),
        ("http://[2001:DB8::0:1]:81/x", "http://[2001:db8::1]:81/x", "[2001:db8::1]", "http://[2001:db8::1]:81"),
        ("http://127.1/", "http://127.0.0.1/", "127.0.0.1", "http://127.0.0.1"),
        (
            "https://b\u00fccher.example/",
            "https://xn--bcher-kva.example/",
            "xn--bcher-kva.example",
            "https://xn--bcher-kva.example",
        ),
        ("http://a.xn--p1ai/", "http://a.xn--p1ai/", "a.xn--p1ai", "http://a.xn--p1ai"),
        ("http://axn--.example/", "http://axn--.example/", "axn--.example", "http://axn--.example"),
        ("http://a.example/b\0c", "http://a.example/b%00c", "a.example", "http://a.example"),
        ("https:example.org/../a", "https://example.org/a", "example.org", "https://example.org"),
    ],
)
def test_T23_a_watched_url_is_serialised_as_the_standard_says(text: str, url: str, host: str, origin: str) -> None:
    watched = watch_url(text)

    assert (watched.url, watched.host, watched.origin) == (url, host, origin)
    assert host_and_origin(watched.url) == (host, origin)
    assert watched.credentials is None


def test_the_spelling_given_is_kept() -> None:
    assert watch_url(" HTTPS://Example.ORG/A#f ").given == "HTTPS://Example.ORG/A#f"


@pytest.mark.parametrize(
    ("text", "given_", "credentials"),
    [
        ("https://me:p%40ss@example.org/a", "https://***@example.org/a", ("me", "p@ss")),
        ("https://me@example.org/@", "https://***@example.org/@", ("me", "")),
        ("https://:hush@example.org", "https://***@example.org", ("", "hush")),
        ("https:me:hush@example.org", "***", ("me", "hush")),
        ("https://a@b:hush@example.org", "https://***@example.org", ("a@b", "hush")),
    ],
)
def test_T64_credentials_are_kept_apart_and_never_shown(text: str, given_: str, credentials: tuple[str, str]) -> None:
    watched = watch_url(text)

    assert (watched.given, watched.credentials) == (given_, credentials)
    assert "@" not in watched.origin + watched.host
    assert watched.url.startswith("https://example.org/")
    assert "hush" not in repr(watched)


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("https://ann:pw@a.example/", "https://a.example/"),
        ("https://ann:p@w@a.example:8443/?q", "https://a.example:8443/?q"),
        ("https://ann@a.example//b@c", "https://a.example//b@c"),
        ("https://a.example//@ann", "https://a.example//@ann"),
        ("https://a.example/?of=//ann@b.example/", "https://a.example/?of=//ann@b.example/"),
        ("https://a.example/web/2020/https://ann@b.example/", "https://a.example/web/2020/https://ann@b.example/"),
        ("https://a.example?ann@b.example", "https://a.example?ann@b.example"),
    ],
)
def test_T23_without_its_user_info_a_url_names_the_same_page(url: str, asked: str) -> None:
    assert without_user_info(url) == asked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the URL is empty; write one such as https://example.org/"),
        (" \t\n", "the URL is empty; write one such as https://example.org/"),
        ("example.org/a", "example.org/a: no scheme; write https://example.org/a"),
        ("example.org", "example.org: no scheme; write https://example.org"),
        ("example.org:8080/a", "example.org:8080/a: no scheme; write https://example.org:8080/a"),
        ("localhost:8080", "localhost:8080: no scheme; write https://localhost:8080"),
        ("//example.org/a", "//example.org/a: no scheme; write https://example.org/a"),
        ("/a", "/a: not a URL; write the scheme and the host, such as https://example.org/a"),
        ("https://", "https://: not a URL; write the scheme and the host, such as https://example.org/a"),
        ("http://a b/", "http://a b/: not a URL; write the scheme and the host, such as https://example.org/a"),
        ("ftp://example.org/", "ftp://example.org/: the scheme ftp: cannot be watched; only http and https can"),
        ("mailto:a@b.example", "***@b.example: the scheme mailto: cannot be watched; only http and https can"),
        (
            "http://me:pw@a b/",
            "http://***@a b/: not a URL; write the scheme and the host, such as https://example.org/a",
        ),
        ("http://xn--/", f"http://xn--/: xn-- in its host {NO_PUNYCODE}"),
        ("http://a.XN--.example/", f"http://a.XN--.example/: xn-- in its host {NO_PUNYCODE}"),
        ("http://xn--a-/", f"http://xn--a-/: xn--a- in its host {NO_PUNYCODE}"),
        (
            "http://a.example/b\0",
            "http://a.example/b\ufffd: a control character (U+0000) at its beginning or end; leave it out",
        ),
        (
            " \x1fhttp://a.example/b",
            "\ufffdhttp://a.example/b: a control character (U+001F) at its beginning or end; leave it out",
        ),
        ("x\x1b[31m", "x\ufffd[31m: not a URL; write the scheme and the host, such as https://example.org/a"),
        ("http://a/\ud800", "http://a/\ufffd: not a URL; write the scheme and the host, such as https://example.org/a"),
    ],
)
def test_a_url_that_cannot_be_watched_is_refused_with_the_mend(text: str, message: str) -> None:
    with pytest.raises(BadUrl) as caught:
        watch_url(text)

    assert str(caught.value) == message


def test_a_url_over_8_kib_is_refused() -> None:
    longest = "https://example.org/" + "a" * (8192 - 20)

    assert watch_url(longest).url == longest
    for text in (longest + "a", "https://example.org/" + "\u00e9" * 2000):
        with pytest.raises(BadUrl, match=r"^https://example.org/[^ ]+…: longer than 8192 bytes"):
            watch_url(text)


def test_the_shard_is_the_first_12_bits_of_blake2b_of_the_host() -> None:
    # b2sum of "example.org" begins with these digits.
    assert watch_url("https://example.org:8443/a").shard == shard_of("example.org") == 0x9EB
    assert 0 <= shard_of("example.net") < 4096


@pytest.mark.parametrize(
    ("reference", "resolved"),
    [
        ("../c#x", "https://example.org/c#x"),
        ("//b.example", "https://b.example/"),
        ("?q", "https://example.org/a/b?q"),
        ("mailto:x", "mailto:x"),
        ("https://[", None),
        ("\ud800", None),
    ],
)
def test_a_reference_is_resolved_as_the_standard_says(reference: str, resolved: str | None) -> None:
    assert resolve("https://example.org/a/b", reference) == resolved


def test_nothing_resolves_against_no_url() -> None:
    assert resolve("nonsense", "a") is None


@given(st.one_of(st.text(max_size=40), st.text(max_size=40).map("http://".__add__)))
def test_no_text_raises_anything_but_a_refusal(text: str) -> None:
    try:
        watched = watch_url(text)
    except BadUrl as exc:
        assert str(exc).isprintable()  # noqa: PT017 - any text may be refused
    else:
        assert watch_url(watched.url).url == watched.url
        assert watched.url.isascii()
