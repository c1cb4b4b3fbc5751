from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.microdata.lines import Budget, Sheet, clean, escape, fold, is_name, write_line


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a,b;c\\d", "a\\,b\\;c\\\\d"),
        ("a\r\nb\rc\nd", "a\\nb\\nc\\nd"),
        ("\n\r", "\\n\\n"),
        ("\\n", "\\\\n"),
        ('a:b"c', 'a:b"c'),
        ("", ""),
    ],
)
def test_VC18_backslash_comma_semicolon_and_line_ends_are_escaped(text: str, written: str) -> None:
    assert escape(text) == written


def test_VC18_where_semicolons_part_a_value_they_stay() -> None:
    assert escape("1;2,3", with_semicolons=False) == "1;2\\,3"


@pytest.mark.parametrize(
    ("letters", "lines"),
    [
        (75, ["x" * 75]),
        (76, ["x" * 75, " x"]),
        (149, ["x" * 75, " " + "x" * 74]),
        (150, ["x" * 75, " " + "x" * 74, " x"]),
    ],
)
def test_VC19_a_line_is_folded_after_75_letters_and_then_after_74(letters: int, lines: list[str]) -> None:
    assert fold("x" * letters) == "".join(f"{line}\r\n" for line in lines)


def test_VC19_letters_are_code_points_and_none_is_split() -> None:
    first, second, end = fold("\U0001f600" * 80).split("\r\n")

    assert (first, second, end) == ("\U0001f600" * 75, " " + "\U0001f600" * 5, "")


def test_VC19_the_name_is_in_ascii_capitals_and_parameters_in_their_order() -> None:
    assert (
        write_line("x-\u017f\xe9a", "v", [("TYPE", "work"), ("VALUE", "URI")])
        == "X-\u017f\xe9A;TYPE=work;VALUE=URI:v\r\n"
    )


def test_a_lone_surrogate_does_not_keep_a_file_from_being_written() -> None:
    assert write_line("a", "\ud800").encode() == b"A:\xef\xbf\xbd\r\n"


@given(st.text())
def test_VC19_unfolding_gives_the_line_again(text: str) -> None:
    line = escape(text).replace("\r", "").replace("\n", "")

    assert fold(line).replace("\r\n ", "").removesuffix("\r\n") == line


@given(st.text())
def test_what_is_clean_and_escaped_is_one_line_for_every_reader(text: str) -> None:
    written = escape(clean(text))

    assert len(f"{written}.".splitlines()) == 1
    assert all(letter >= " " or letter == "\t" for letter in written)


def test_tabs_and_line_ends_of_all_kinds_stay_when_a_text_is_cleaned() -> None:
    assert clean(" \n a\tb\u2028c\x85d\x0be\0\x07\x7ff \r\n") == "a\tb\nc\nd\nef"


@pytest.mark.parametrize(
    ("text", "is_one"), [("x-foo", True), ("a.b", False), ("a:b", False), ("", False), ("\xe9", False)]
)
def test_names_are_letters_digits_and_hyphens(text: str, is_one: bool) -> None:  # noqa: FBT001 - a table's column
    assert is_name(text) is is_one


def test_what_does_not_fit_is_left_out_and_nothing_after_it_is_added() -> None:
    budget = Budget(20)
    sheet = Sheet(budget)

    for value in ("a" * 10, "b" * 10, ""):
        sheet.add("x", value)
    sheet.frame("end", "x")

    assert sheet.text == f"X:{'a' * 10}\r\nEND:x\r\n"
    assert budget.is_spent
