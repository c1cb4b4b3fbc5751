"""Numbers and tokens as HTML reads them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.conformance.microsyntaxes import (
    LONGEST_INTEGER,
    Ratio,
    are_unique,
    find_by_hash_name,
    is_valid_float,
    is_valid_int,
    is_valid_int_list,
    parse_float,
    parse_int,
    parse_int_list,
    parse_nonneg,
    parse_ratio,
    read_state,
    remove_token,
)
from tocsin.spec.html.microsyntax import (
    is_valid_boolean,
    is_valid_hash_name,
    is_valid_keyword,
    is_valid_nonneg,
    split_tokens,
)

MANY = 200_000


@pytest.mark.parametrize(
    ("text", "value"), [("8", 8), ("\n\f 08px", 8), ("8.9", 8), ("00", 0), ("9" * 300, 10**300 - 1)]
)
def test_NUM05_leading_digits_are_a_non_negative_integer(text: str, value: int) -> None:
    assert parse_nonneg(text) == parse_int(text) == value


@pytest.mark.parametrize("text", ["", " ", "-8", "+8", "x8", ".8", "\v8", "\u00a08", "\u0668", "\u00b2"])
def test_NUM01_and_NUM05_without_leading_digits_there_is_none(text: str) -> None:
    assert parse_nonneg(text) is None


@pytest.mark.parametrize(("text", "value"), [("-8", -8), (" -08px", -8), ("-0", 0), ("8-9", 8)])
def test_NUM07_an_integer_may_have_a_minus(text: str, value: int) -> None:
    assert parse_int(text) == value


@pytest.mark.parametrize("text", ["-", "--8", "- 8", "+8", "-x", ""])
def test_NUM07_other_texts_are_no_integer(text: str) -> None:
    assert parse_int(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [("8", "8"), ("-8.250kg", "-8.25"), ("8.", "8"), (".125", ".125"), ("-.5.5", "-.5"), ("8e2", "8"), ("-0.0", "0")],
)
def test_NUM09_a_real_number_is_read_exactly_without_exponent(text: str, value: str) -> None:
    assert parse_float(text) == Decimal(value)


def test_NUM09_no_digit_of_a_real_number_is_lost_and_zero_has_no_sign() -> None:
    assert parse_float("0." + "1" * 60) == Decimal("0." + "1" * 60)
    assert str(parse_float("-0")) == "0"


@pytest.mark.parametrize("text", ["", ".", "-", "-.", ". 5", "+.5", "-x.5", "e5", "\u0665"])
def test_NUM09_other_texts_are_no_number(text: str) -> None:
    assert parse_float(text) is None


@pytest.mark.parametrize(
    ("text", "nonneg", "integer", "real", "integers"),
    [
        ("0", True, True, True, True),
        ("0042", True, True, True, True),
        ("-1", False, True, True, True),
        ("1.5", False, False, True, False),
        ("-1.", False, False, True, False),
        ("-.5", False, False, True, False),
        ("1,-2,3", False, False, False, True),
        ("1, 2", False, False, False, False),
        (",1", False, False, False, False),
        ("1,", False, False, False, False),
        ("-", False, False, False, False),
        (".", False, False, False, False),
        ("1.2.3", False, False, False, False),
        ("+1", False, False, False, False),
        ("1e3", False, False, False, False),
        (" 1", False, False, False, False),
        ("1\n", False, False, False, False),
        ("\u0661", False, False, False, False),
        ("", False, False, False, False),
    ],
)
def test_NUM04_NUM06_NUM08_NUM14_what_an_author_may_write(
    text: str, *, nonneg: bool, integer: bool, real: bool, integers: bool
) -> None:
    found = (is_valid_nonneg(text), is_valid_int(text), is_valid_float(text), is_valid_int_list(text))

    assert found == (nonneg, integer, real, integers)


@pytest.mark.parametrize(
    ("text", "ratio"),
    [
        ("75%", Ratio(Decimal(75), denominator="%")),
        ("about 7.5\u3000\ufe6a done", Ratio(Decimal("7.5"), denominator="\ufe6a")),
        ("-3\u2031", Ratio(Decimal(3), denominator="\u2031")),
        ("step 2 of .5", Ratio(Decimal(2), Decimal("0.5"))),
        ("2/3", Ratio(Decimal(2), Decimal(3))),
        ("2 x 3 %", Ratio(Decimal(2), Decimal(3))),
        ("2% 3", None),
        ("2 3%", None),
        ("2\n%", None),
        ("2 3 4", None),
        ("2", None),
        ("2 .", None),
        (". 2 3", None),
        ("2 3.3.3", None),
        ("no", None),
        ("", None),
    ],
)
def test_NUM10_a_ratio_is_two_numbers_or_one_with_its_denominator(text: str, ratio: Ratio | None) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize(
    ("sign", "value"),
    [("%", 100), ("\u066a", 100), ("\ufe6a", 100), ("\uff05", 100), ("\u2030", 1000), ("\u2031", 10_000)],
)
def test_NUM11_each_denominator_has_its_value(sign: str, value: int) -> None:
    found = parse_ratio(f"1{sign}")

    assert found is not None
    assert found.denominator_value == value


def test_NUM11_two_numbers_have_no_denominator() -> None:
    found = parse_ratio("1 2")

    assert found is not None
    assert found.denominator_value is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("4,5;6 7", [4, 5, 6, 7]),
        (",; 4,,5,", [4, 5]),
        ("-4,--5,---6", [-4, 5, 6]),
        ("4.9,5-6,-7.-8", [4, 5, -7]),
        ("x4,5", [4, 5]),
        ("x-4", [4]),
        (".4,-.5", [4, 5]),
        ("x.-4", [4]),
        ("4,5x,6", [4]),
        ("4,-x,6", [4]),
        ("4,-,6", [4]),
        ("4,x,6", [4]),
        ("4,5.x,6", [4, 5, 6]),
        ("4\t5,6", []),
        ("", []),
    ],
)
def test_NUM15_junk_in_a_list_is_skipped_or_ends_it(text: str, numbers: list[int]) -> None:
    assert parse_int_list(text) == numbers


@given(st.lists(st.integers(), min_size=1))
def test_NUM14_and_NUM15_a_valid_list_is_read_whole(numbers: list[int]) -> None:
    text = ",".join(map(str, numbers))

    assert is_valid_int_list(text)
    assert parse_int_list(text) == numbers


@given(st.text(st.sampled_from("0123456789.-+e,; %\u2030") | st.characters()))
def test_no_text_raises_and_what_is_valid_is_read(text: str) -> None:
    assert parse_nonneg(text) is not None or not is_valid_nonneg(text)
    assert parse_int(text) is not None or not is_valid_int(text)
    assert parse_float(text) is not None or not is_valid_float(text)
    parse_ratio(text)


def test_CI08_an_integer_without_end_is_the_largest_that_is_read() -> None:
    largest = 10**LONGEST_INTEGER - 1

    assert parse_nonneg("1" * MANY) == largest
    assert parse_int("-" + "1" * MANY) == -largest
    assert parse_int_list("1" * MANY + ",2") == [largest, 2]
    assert parse_int("0" * MANY + "7") == 7
    assert parse_int("1" * LONGEST_INTEGER) == (largest // 9)
    assert parse_float("1" * MANY) is not None
    assert not parse_int_list("x" * MANY + "." * MANY)


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
