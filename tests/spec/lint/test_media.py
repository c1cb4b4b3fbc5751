from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.lint.links import is_media_query_list

VALID = (
    "",
    " ",
    "all",
    "SCREEN, print",
    "not screen",
    "only screen and (max-width: 600px)",
    "screen and (min-width:0\\0)",
    "(width >= 600px)",
    "(400px <= width <= 700px)",
    "not (color)",
    "(a) and (b) and (c)",
    "(a) or (b)",
    "((a) or (b)) and (not (c))",
    "(min-width: calc(1px + (2px)))",
    "print and (orientation: landscape), (aspect-ratio: 16/9)",
    "screen /* large */ and (color)",
)
INVALID = (
    "screen and (",
    "screen;",
    "screen and",
    "and",
    "screen print",
    "screen or (color)",
    "screen and (a) or (b)",
    "(a) and (b) or (c)",
    "min-width: 3px",
    "(min-width:)",
    "(:3px)",
    "()",
    ")(",
    "not(color)",
    "screen and(color)",
    ",screen",
    "(a",
)


@pytest.mark.parametrize("text", VALID)
def test_CI11_what_media_queries_may_be_is_passed_over(text: str) -> None:
    assert is_media_query_list(text)


@pytest.mark.parametrize("text", INVALID)
def test_CI11_what_no_media_query_is_is_noticed(text: str) -> None:
    assert not is_media_query_list(text)


@given(st.sampled_from(VALID), st.sampled_from(VALID[2:]))
def test_a_list_of_valid_queries_is_valid(first: str, second: str) -> None:
    assert is_media_query_list(f"{first}, {second}") is bool(first.strip())


@given(st.text(alphabet="(a):,<= notandor", max_size=60))
def test_no_text_raises(text: str) -> None:
    is_media_query_list(text)


def test_brackets_that_nobody_writes_so_deep_are_not_looked_into() -> None:
    assert is_media_query_list("(" * 40 + "()" + ")" * 40)
    assert is_media_query_list("x y" * 4000)
