"""Bodies are decoded as they come: how they are cut into pieces plays no role, and no byte goes beyond a cap."""

from __future__ import annotations

import gzip
import zlib
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.http.decoding import Body, NotDecodable, TooLong

if TYPE_CHECKING:
    from collections.abc import Callable

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
