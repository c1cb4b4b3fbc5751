"""Values of headers: validators, and texts in ASCII."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.server.header_values import is_known, to_header

TAG = '"5d7321a05bce10b2"'


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (TAG, True),
        (f"W/{TAG}", True),  # behind nginx, which compresses
        ('"5d7321a05bce10b2-gzip"', True),  # behind Apache
        ('W/"5d7321a05bce10b2-br"', True),
        (f'"other-gzip", {TAG}', True),
        ("*", True),
        ('"other"', False),
        ('"5d7321a05bce10b2-other"', False),
        ('"-gzip5d7321a05bce10b2"', False),
        ("", False),
    ],
)
def test_a_tag_is_known_whatever_a_proxy_that_compresses_made_of_it(said: str, *, known: bool) -> None:
    assert is_known(said, None, TAG, None) is known
    assert is_known(said, None, f"W/{TAG}", None) is known


def test_where_a_reader_says_a_tag_its_date_does_not_count() -> None:
    assert not is_known('"other"', "Sun, 22 Nov 2026 07:00:00 GMT", TAG, 1)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('write <meta content="…"> into it', 'write <meta content="..."> into it'),
        ("“Jazz” \N{EN DASH} it\N{RIGHT SINGLE QUOTATION MARK}s", '"Jazz" - it\'s'),
        ("Jürgen", "J%C3%BCrgen"),
        ("100 % of 5%20", "100 % of 5%2520"),
        ("a\r\nX-Evil: 1\t\x00b", "a X-Evil: 1 b"),
        ("left\N{RIGHT-TO-LEFT OVERRIDE}right", "left%E2%80%AEright"),
        ("half \ud83d", "half %3F"),
    ],
)
def test_what_a_header_cannot_have_can_be_read_all_the_same(text: str, written: str) -> None:
    assert to_header(text) == written


@given(st.text())
def test_any_text_is_a_header_of_one_line_that_is_not_too_long(text: str) -> None:
    written = to_header(text)

    assert written.isascii()
    assert written.isprintable()
    assert len(written) <= 500
    assert written == written.strip()


@given(st.text(st.characters(categories=["L", "N"]), max_size=50))
def test_letters_come_back_as_they_were(text: str) -> None:
    assert unquote(to_header(text)) == text


def test_no_letter_is_cut_in_half() -> None:
    assert to_header("x" + "ü" * 200) == "x" + "%C3%BC" * 83
