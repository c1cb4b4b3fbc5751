from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.conformance.microsyntaxes import are_unique, find_by_hash_name, read_state, remove_token
from tocsin.spec.html.microsyntax import is_valid_boolean, is_valid_hash_name, is_valid_keyword, split_tokens

SHAPES = {"circle": "round", "circ": "round", "": "square"}


def test_TOK01_tokens_are_split_at_htmls_white_space_only() -> None:
    assert split_tokens(" up\tnext\r\n\fup\u00a0\vx ") == ["up", "next", "up\u00a0\vx"]


@pytest.mark.parametrize(("text", "unique"), [("", True), (" up next ", True), ("up next\tup", False), ("up UP", True)])
def test_TOK02_a_set_holds_each_token_once(text: str, *, unique: bool) -> None:
    assert are_unique(text) is unique


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("up next last", "up last"),
        (" up \n next\t last ", " up last "),
        ("next  up", "up"),
        ("  next up", "up"),
        ("up  next ", "up"),
        ("next\tnext", ""),
        ("up next next last", "up last"),
        ("up  NEXT nextnext", "up  NEXT nextnext"),
        ("", ""),
    ],
)
def test_TOK04_a_removed_token_takes_the_space_around_it_along(text: str, left: str) -> None:
    assert remove_token(text, "next") == left


@given(st.text(st.sampled_from("ab \t\n")), st.text(st.sampled_from("ab"), min_size=1))
def test_TOK04_only_that_token_is_gone(text: str, token: str) -> None:
    left = remove_token(text, token)

    assert split_tokens(left) == [other for other in split_tokens(text) if other != token]
    assert remove_token(left, token) == left


@pytest.mark.parametrize(("value", "state"), [("circle", "round"), ("CIRC", "round"), ("", "square")])
def test_ENUM01_a_keyword_in_any_case_gives_its_state(value: str, state: str) -> None:
    assert read_state(value, SHAPES, invalid_default="none", missing_default="unset") == state


@pytest.mark.parametrize("value", ["circles", " circle", "c\u0131rc"])
def test_ENUM01_another_value_gives_the_first_default_that_there_is(value: str) -> None:
    assert read_state(value, SHAPES, invalid_default="none", missing_default="unset") == "none"
    assert read_state(value, SHAPES, missing_default="unset") == "unset"
    assert read_state(value, SHAPES) is None


def test_ENUM03_an_absent_attribute_has_the_missing_value_default() -> None:
    assert read_state(None, SHAPES, invalid_default="none", missing_default="unset") == "unset"
    assert read_state(None, SHAPES, invalid_default="none") is None


@pytest.mark.parametrize(("value", "valid"), [("Circle", True), ("circ", False), (" circle", False), ("oval", False)])
def test_ENUM02_an_author_may_write_a_conforming_keyword_only(value: str, *, valid: bool) -> None:
    assert is_valid_keyword(value, SHAPES, nonconforming=["circ"]) is valid


@pytest.mark.parametrize(("value", "valid"), [("", True), ("Hidden", True), ("true", False), ("hidden ", False)])
def test_NUM03_a_boolean_attribute_is_empty_or_has_its_own_name(value: str, *, valid: bool) -> None:
    assert is_valid_boolean("hidden", value) is valid


ELEMENTS = [("nav", None), (None, "Main"), (None, None), ("main", "\u00c9t\u00e9")]


@pytest.mark.parametrize(
    ("reference", "place"),
    [
        ("#nav", 0),
        ("page.html#MAIN", 1),
        ("#\u00e9T\u00c9", 3),
        ("#e\u0301te\u0301", None),
        ("##nav", None),
        ("#na", None),
        ("nav", None),
        ("nav#", None),
        ("", None),
    ],
)
def test_REF01_a_reference_names_the_first_element_with_that_id_or_name(reference: str, place: int | None) -> None:
    assert find_by_hash_name(reference, ELEMENTS) == place


@pytest.mark.parametrize(
    ("reference", "valid"), [("#Main", True), ("#main", False), ("Main", False), ("x#Main", False)]
)
def test_REF02_an_author_writes_the_name_exactly(reference: str, *, valid: bool) -> None:
    assert is_valid_hash_name(reference, {"Main"}) is valid
