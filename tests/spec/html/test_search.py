from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html import search
from tocsin.spec.html.search import attributes_start, find_tag_end, next_attribute

# Few letters, so that needles are found; lengths around those that are compared at once.
texts = st.lists(st.sampled_from([b"<", b"m", b"e", b"t", b"a", b"<meta", b"\0", b"\xff", b"E", b" "]), max_size=200)
needles = st.sampled_from([b"<", b"<meta", b"ta", b"tat", b"\0", b"\xff\xff", b"e" * 33, b"aa", b"<m<m"])


@given(texts.map(b"".join) | st.binary(max_size=300), needles | st.binary(min_size=1, max_size=70))
def test_what_is_found_is_what_python_finds(body: bytes, needle: bytes) -> None:
    assert search.find_last(body, needle) == body.rfind(needle)
    assert search.count(body, needle) == body.count(needle)


@given(st.binary(min_size=1, max_size=70), st.binary(max_size=70), st.binary(max_size=70))
def test_a_needle_is_found_wherever_it_stands(needle: bytes, before: bytes, after: bytes) -> None:
    body = before + needle + after

    assert search.find_last(body, needle) == body.rfind(needle)


@given(st.binary(max_size=300))
def test_only_the_letters_of_ascii_are_made_lower(body: bytes) -> None:
    assert search.lower(body) == body.lower()


@given(texts.map(b"".join) | st.binary(max_size=300), st.lists(needles, min_size=1, max_size=4))
def test_letters_of_ascii_are_found_in_either_case(body: bytes, some: list[bytes]) -> None:
    wanted = [needle.lower() for needle in some]
    found = [body.lower().rfind(needle) for needle in wanted]

    assert search.find_last_of_each(body, tuple(wanted)) == found
    assert search.holds_any(body, tuple(wanted)) == any(place >= 0 for place in found)


@pytest.mark.parametrize("start", [0, 1, 65_530, 65_531, 65_532, 65_535, 65_536, 65_537, 131_071, 131_072, 199_994])
def test_where_a_long_page_is_taken_apart_nothing_is_missed(start: int) -> None:
    body = bytearray(b"x" * 200_000)
    body[start : start + 5] = b"<mEtA"

    assert search.find_last_of_each(bytes(body), (b"<meta", b"<frameset")) == [start, -1]
    assert search.holds_any(bytes(body), (b"<frameset", b"<meta"))


@pytest.mark.parametrize("body", [b"<met" * 500_000, b"a" * 2_000_000, b"<meta" * 400_000])
def test_no_bytes_take_long_to_search(body: bytes) -> None:
    for needle in (b"<meta", b"<", b"a" * 20 + b"b", b"b" + b"a" * 20, b"<metx"):
        search.find_last(body, needle)
        search.find_last_of_each(body, (needle,))
        search.count(body, needle)


pieces = st.sampled_from(
    [
        b"a",
        b"/b",
        b" ",
        b"/",
        b"=",
        b"'",
        b'"',
        b">",
        b"\n",
        b"<",
        b"\0",
        b"\xe9",
        b"y=z",
        b" a='b'",
        b' c="<d>"',
        b"a = b",
    ]
)


@given(st.lists(pieces, max_size=14))
def test_a_tag_ends_where_its_attributes_do(parts: list[bytes]) -> None:
    tag = b"<" + b"".join(parts)
    place = attributes_start(tag, 0)
    while (attribute := next_attribute(tag, place)) is not None:
        place = attribute.end
    rest = tag[place:].lstrip(b"\t\n\f\r /")

    assert find_tag_end(tag, 0) == (len(tag) - len(rest) + 1 if rest.startswith(b">") else len(tag))
