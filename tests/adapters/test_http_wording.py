"""What servers and libraries say gets into our messages without harm: in one line, and without credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.origin import RawOrigin
from tests.wire import fetcher, request
from tocsin.adapters.http.wording import LONGEST, one_line
from tocsin.errors import FetchError

if TYPE_CHECKING:
    from collections.abc import Callable


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
