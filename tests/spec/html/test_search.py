from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html import search

# Few letters, so that needles are found; lengths around those that are compared at once.
texts = st.lists(st.sampled_from([b"<", b"m", b"e", b"t", b"a", b"<meta", b"\0", b"\xff", b"E", b" "]), max_size=200)
needles = st.sampled_from([b"<", b"<meta", b"ta", b"tat", b"\0", b"\xff\xff", b"e" * 33, b"aa", b"<m<m"])


@given(texts.map(b"".join) | st.binary(max_size=300), needles | st.binary(min_size=1, max_size=70), st.integers(0, 300))
def test_what_is_found_is_what_python_finds(body: bytes, needle: bytes, start: int) -> None:
    assert search.find(body, needle) == body.find(needle)
    assert search.find(body, needle, start) == body.find(needle, start)
    assert search.find_last(body, needle) == body.rfind(needle)
    assert search.count(body, needle) == body.count(needle)


@given(texts.map(b"".join) | st.binary(max_size=300), st.binary(max_size=70), st.binary(max_size=70))
def test_a_needle_is_found_wherever_it_stands(needle: bytes, before: bytes, after: bytes) -> None:
    body = before + needle + after

    assert search.find(body, needle) == body.find(needle)
    assert search.find_last(body, needle) == body.rfind(needle)


@given(st.binary(max_size=300))
def test_only_the_letters_of_ascii_are_made_lower(body: bytes) -> None:
    assert search.lower(body) == body.lower()


@pytest.mark.parametrize("body", [b"<met" * 500_000, b"a" * 2_000_000, b"<meta" * 400_000])
def test_no_bytes_take_long_to_search(body: bytes) -> None:
    began = time.process_time()

    for needle in (b"<meta", b"<", b"a" * 20 + b"b", b"b" + b"a" * 20, b"<metx"):
        search.find(body, needle)
        search.find_last(body, needle)
        search.count(body, needle)

    assert time.process_time() - began < 2
