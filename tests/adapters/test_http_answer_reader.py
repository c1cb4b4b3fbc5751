"""One answer from the bytes of its connection: however they are cut, the same; and no framing without an end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.http.decoding import TooLong
from tocsin.adapters.http.llhttp.answer import MOST_HEADERS, AnswerReader, BrokenAnswer
from tocsin.model import HopRequest

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
