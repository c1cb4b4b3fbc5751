"""Letters that a text from elsewhere must not bring to where it is shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.infrastructure.unsafe import safe_line, safe_text

UNSAFE = [
    *["\x00", "\x07", "\x0b", "\x1b", "\x7f", "\x85", "\x9b"],
    *["\u061c", "\u200e", "\u200f", "\u2028", "\u2029", "\u202a", "\u202e", "\u2066", "\u2069"],
    *["\ufeff", "\ufff9", "\ufffe", "\uffff", "\ud800", "\udfff"],
]


@pytest.mark.parametrize("letter", UNSAFE)
def test_what_moves_turns_or_is_no_letter_is_not_shown(letter: str) -> None:
    assert safe_line(f"a{letter}b") == safe_text(f"a{letter}b") == "a\ufffdb"


@pytest.mark.parametrize("letter", ["\t", "\n", "\r"])
def test_a_text_has_lines_and_a_line_has_none(letter: str) -> None:
    assert safe_text(f"a{letter}b") == f"a{letter}b"
    assert safe_line(f"a{letter}b") == "a\ufffdb"


@pytest.mark.parametrize(
    "text", ["\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\U0001f468\u200d\U0001f469", "\u05d0", "\u65e5\u672c"]
)
def test_letters_of_all_languages_and_what_joins_them_stay(text: str) -> None:
    assert safe_line(text) == safe_text(text) == text


@given(st.text())
def test_as_many_letters_are_shown_as_there_were_and_all_can_be_encoded(text: str) -> None:
    assert len(safe_line(text).encode().decode()) == len(text)
    assert safe_text(safe_line(text)) == safe_line(text)
