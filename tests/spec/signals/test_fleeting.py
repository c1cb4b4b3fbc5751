from __future__ import annotations

import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.html.blocks import Blocks
from tocsin.spec.signals.content import to_content
from tocsin.spec.signals.fleeting import is_fleeting, words_of

_TEXTS = st.text(st.sampled_from(string.printable + "äßж日本\u0130\u212a·"), max_size=80)


@given(_TEXTS)
def test_words_are_runs_of_letters_in_any_script(text: str) -> None:
    assert words_of(text) == re.findall(r"[^\W\d_]+", text)


@pytest.mark.parametrize("text", ["4.5 out of 5 stars", "Rated 4,5 von 5", "\uff14.5 / 5", "5点中4.5"])
def test_a_rating_tells_of_the_visit(text: str) -> None:
    assert is_fleeting(text)


@pytest.mark.parametrize("text", ["v4.5 / 5", "A4,5 von 5"])
def test_figures_within_a_word_are_no_rating(text: str) -> None:
    assert not is_fleeting(text)


@pytest.mark.parametrize("padding", ["", "a" * 300])
def test_a_part_that_tells_of_the_visit_is_left_out_whatever_other_lines_hold(padding: str) -> None:
    lines = [f"{padding} other", "By Jane Doe · 123 views", "By Jane Doe yesterday"]

    contents = [to_content(Blocks([line], [0], [0]), 0).fingerprint for line in ("By Jane Doe", *lines[1:])]

    assert contents[0] == contents[1] == contents[2]
