"""Content lines of vCard and iCalendar."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.spec.microdata.cards import components_of, read, to_icalendar, to_vcard
from tocsin.spec.microdata.formats.content_lines import (
    Budget,
    Sheet,
    clean,
    escape,
    fold_letters,
    fold_octets,
    is_name,
    write_line,
)
from tocsin.spec.microdata.values import HCARD, VEVENT


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
    assert fold_letters("x" * letters) == fold_octets("x" * letters) == "".join(f"{line}\r\n" for line in lines)


def test_VC19_letters_are_code_points_and_none_is_split() -> None:
    first, second, end = fold_letters("\U0001f600" * 80).split("\r\n")

    assert (first, second, end) == ("\U0001f600" * 75, " " + "\U0001f600" * 5, "")


def test_VC19_the_name_is_in_ascii_capitals_and_parameters_in_their_order() -> None:
    assert (
        write_line("x-\u017f\xe9a", "v", [("TYPE", "work"), ("VALUE", "URI")], fold=fold_octets)
        == "X-\u017f\xe9A;TYPE=work;VALUE=URI:v\r\n"
    )


def test_a_lone_surrogate_does_not_keep_a_file_from_being_written() -> None:
    assert write_line("a", "\ud800", fold=fold_octets).encode() == b"A:\xef\xbf\xbd\r\n"


@given(st.text())
def test_VC19_unfolding_gives_the_line_again(text: str) -> None:
    line = escape(text).replace("\r", "").replace("\n", "")

    assert fold_letters(line).replace("\r\n ", "").removesuffix("\r\n") == line


@given(st.text(st.sampled_from("ax\xe9\u0416\u2014\u65e5\U0001f600"), max_size=300))
def test_a_line_of_an_export_has_75_octets_at_most_and_no_letter_is_cut(text: str) -> None:
    *lines, end = fold_octets(text).encode().split(b"\r\n")

    assert end == b""
    assert all(0 < len(line) <= 75 for line in lines if text)
    assert all(line.decode().startswith(" ") for line in lines[1:])
    assert "".join(line.decode().removeprefix(" ") for line in lines) == text
    # No line is shorter than it must be: the next letter would not have fitted.
    assert all(len(line) + len(after.decode()[1].encode()) > 75 for line, after in pairwise(lines))


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
    sheet = Sheet(budget, fold_octets)

    for value in ("a" * 10, "b" * 10, ""):
        sheet.add("x", value)
    sheet.frame("end", "x")

    assert sheet.text == f"X:{'a' * 10}\r\nEND:x\r\n"
    assert budget.is_spent


@pytest.mark.parametrize("letter", ["\xfc", "\u65e5", "\U0001f600"])
@pytest.mark.parametrize("of", ["calendar", "contact"])
def test_no_line_of_an_export_is_longer_than_75_octets(of: str, letter: str) -> None:
    text = f"a {letter * 300}, " * 3
    if of == "calendar":
        body = (
            f"<p itemprop=summary>{text}</p><p itemprop=x-{letter}>{text}</p><time itemprop=dtstart>2026-05-05</time>"
        )
        page = read(f"<title>{text}</title><div itemscope itemtype={VEVENT}>{body}</div>")
        written = to_icalendar(page)
    else:
        agent = f"<div itemprop=agent itemscope itemtype={HCARD}><p itemprop=fn>{text}</p></div>"
        page = read(f"<title>{text}</title><div itemscope itemtype={HCARD}><p itemprop=note>{text}</p>{agent}</div>")
        written = to_vcard(page)

    assert written is not None
    assert max(len(line) for line in written.encode().split(b"\r\n")) == 75
    assert components_of(written)[0].name == ("VCALENDAR" if of == "calendar" else "VCARD")
    assert text.strip().replace(",", "\\,") in written.replace("\r\n ", "")
