"""Words for people in a header."""

from __future__ import annotations

from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.server.api.extraction import to_header


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
