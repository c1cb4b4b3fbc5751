"""A difference as an excerpt and as rows."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences.compare import AROUND, LINE_END, By, DiffGap, DiffRow, compare_texts, folded, to_rows
from tocsin.spec.differences.excerpt import MOST_ROWS, MOST_SENTENCES, excerpt, show_by_word

WORDS = st.sampled_from(["The", "bell", "rings", "12", ". ", "! ", " ", "\n", "鐘。", "x" * 700])
TEXTS = st.lists(WORDS, max_size=40).map("".join)


def shown(before: str, latest: str, letters: int = 2000) -> dict[str, Any]:
    return excerpt(compare_texts(before, latest, by="words"), letters)


@given(TEXTS, TEXTS, st.integers(1, 3000))
def test_an_excerpt_is_never_longer_than_it_may_be(before: str, latest: str, letters: int) -> None:
    found = shown(before, latest, letters)

    assert set(found) == {"added", "removed", "cut"}
    assert sum(map(len, found["added"] + found["removed"])) <= letters
    assert all(text.strip() for text in found["added"] + found["removed"])


@given(TEXTS, TEXTS)
def test_an_excerpt_is_empty_only_where_nothing_but_space_changed(before: str, latest: str) -> None:
    found = shown(before, latest)

    assert bool(found["added"] or found["removed"]) == ("".join(before.split()) != "".join(latest.split())) or (
        before.split() != latest.split()
    )


def test_equal_texts_have_an_empty_excerpt() -> None:
    assert shown("A bell. It rings.", "A bell. It rings.") == {"added": [], "removed": [], "cut": False}


def test_spaces_are_no_change() -> None:
    assert shown("a  b\n\nc", "a b\nc") == shown("a b\nc", "a  b\n\nc") == {"added": [], "removed": [], "cut": False}


def test_a_sentence_that_changed_is_shown_whole_as_it_was_and_as_it_is() -> None:
    found = shown("It rains. We open at nine. Come!", "It rains. We open at ten. Come!")

    assert found == {"added": ["We open at ten."], "removed": ["We open at nine."], "cut": False}


def test_a_word_that_went_leaves_its_sentence_in_both_lists() -> None:
    found = shown("The house is red today\n", "The house is red\n")

    assert found == {"added": ["The house is red"], "removed": ["The house is red today"], "cut": False}


def test_a_sentence_that_went_leaves_its_neighbours_out() -> None:
    assert shown("A bell. It rings.\n", "A bell.\n") == {"added": [], "removed": ["It rings."], "cut": False}


def test_what_is_new_as_a_whole_comes_first() -> None:
    found = shown("We open at nine. Come!\n", "We open at ten. Come! Bring your own bell.\n")

    assert found["added"] == ["Bring your own bell.", "We open at ten."]


def test_what_only_moved_is_left_out_where_anything_else_changed() -> None:
    assert shown("one\ntwo\n", "two\none\nthree\n") == {"added": ["three"], "removed": [], "cut": False}
    assert shown("one\ntwo\n", "two\none\n")["cut"] is False
    assert shown("one\ntwo\n", "two\none\n")["added"] == shown("one\ntwo\n", "two\none\n")["removed"] != []


def test_of_a_very_long_sentence_the_words_around_the_change_are_shown() -> None:
    found = shown("x " * 600 + "old" + " y" * 600, "x " * 600 + "new" + " y" * 600)

    (text,) = found["added"]
    assert text.startswith("…x x")
    assert " new y y" in text
    assert text.endswith("y…")
    assert len(text) < 500
    assert not found["cut"]


def test_a_very_long_sentence_that_is_all_new_is_cut_and_said_to_be() -> None:
    found = shown("", "x " * 6000)

    assert found["cut"]
    assert 400 < len(found["added"][0]) <= 502


def test_what_finds_no_room_is_left_out_and_said_to_be() -> None:
    found = shown("", "".join(f"Sentence {number}. " for number in range(100)), letters=60)

    assert found == {
        "added": ["Sentence 0.", "Sentence 1.", "Sentence 2.", "Sentence 3.", "Sentence 4."],
        "removed": [],
        "cut": True,
    }


def test_many_little_sentences_are_not_all_shown() -> None:
    found = shown("", "".join(f"w{number}. " for number in range(300)))

    assert len(found["added"]) == MOST_SENTENCES
    assert found["cut"]


def test_a_sentence_that_came_more_than_once_is_shown_once() -> None:
    assert shown("", "The bell. It rings. The bell. The bell.")["added"] == ["The bell.", "It rings."]


def test_both_sides_get_their_half_where_both_have_much_to_say() -> None:
    found = shown("".join(f"Old {n}. " for n in range(200)), "".join(f"New {n}. " for n in range(200)), letters=200)

    assert sum(map(len, found["removed"])) > 60
    assert sum(map(len, found["added"])) > 60


def test_places_in_one_very_long_sentence_are_looked_at_once_each() -> None:
    """Else twice as many would take four times as long."""
    words = [f"w{number}" for number in range(60_000)]

    found = shown(" ".join(words), " ".join(word for number, word in enumerate(words) if number % 2))

    assert found["cut"]
    assert len(found["added"]) == len(found["removed"]) == 1


def test_of_very_many_sentences_the_first_are_looked_at() -> None:
    found = shown("", "".join(f"Same {number}.\n" for number in range(5000)))

    assert found["cut"]
    assert found["added"][0] == "Same 0."


LINES = st.lists(st.sampled_from(["The bell", " rings", " twice", ".", "\n", "\n\n"]), max_size=20).map("".join)

MARKS = {"same": "  ", "removed": "- ", "added": "+ ", None: "~ "}


def shown_rows(before: str, latest: str, by: By = "words") -> list[str]:
    return [MARKS[row.kind] + row.text for row in to_rows(compare_texts(before, latest, by=by))]


def test_lines_are_the_same_gone_new_or_changed_within() -> None:
    before = "Hours\nWe open at nine sharp.\nOld\nEnd\n"
    latest = "Hours\nWe open at ten sharp.\nEnd\nBrand new words\n"

    assert shown_rows(before, latest) == [
        "  Hours",
        "~ We open at nineten sharp.",
        "- Old",
        "  End",
        "+ Brand new words",
    ]


def test_what_changed_within_a_line_is_in_its_pieces() -> None:
    (row,) = to_rows(compare_texts("We open at nine.\n", "We open at ten.\n", by="words"))

    assert row == DiffRow(None, (("same", "We open at "), ("removed", "nine"), ("added", "ten"), ("same", ".")))


def test_by_lines_no_line_changes_within() -> None:
    assert shown_rows("a b\nc\n", "a d\nc\n", "lines") == ["- a b", "+ a d", "  c"]


def test_an_empty_line_that_went_is_a_line() -> None:
    assert shown_rows("a\n\nb\n", "a\nb\n", "lines") == ["  a", "- ", "  b"]


def test_a_line_that_was_broken_in_two_shows_where() -> None:
    rows = to_rows(compare_texts("one two three\n", "one two\nthree\n", by="words"))

    assert any(LINE_END in row.text or row.kind is None for row in rows)


@given(LINES, LINES)
def test_rows_hold_both_texts_line_by_line(before: str, latest: str) -> None:
    rows = to_rows(compare_texts(before + "\n", latest + "\n", by="lines"))

    assert [row.text for row in rows if row.kind != "added"] == before.split("\n")
    assert [row.text for row in rows if row.kind != "removed"] == latest.split("\n")


@given(st.lists(st.sampled_from(["same", "same", "same", "same", "same", "same", "added", "removed"]), max_size=60))
def test_folding_hides_what_is_the_same_and_far_from_changes_and_nothing_else(kinds: list[str]) -> None:
    # Nothing tells that a strategy's texts are literals.
    rows = [DiffRow(kind, ((kind, str(number)),)) for number, kind in enumerate(kinds)]  # type: ignore[arg-type]

    items = list(folded(rows))

    whole = [row for item in items for row in (item.rows if isinstance(item, DiffGap) else [item])]
    assert whole == rows
    for item in items:
        if isinstance(item, DiffGap):
            assert len(item.rows) > 1
            assert all(row.kind == "same" for row in item.rows)
    places = {place for place, row in enumerate(rows) if row.kind != "same"}
    near = {place + step for place in places for step in range(-AROUND, AROUND + 1)}
    hidden = {row.text for item in items if isinstance(item, DiffGap) for row in item.rows}
    assert not hidden & {str(place) for place in near}


@pytest.mark.parametrize(
    ("before", "latest", "rows", "lines"),
    [
        ("A 8\n", "A 9\n", [("changed", 1, [["same", "A "], ["removed", "8"], ["added", "9"]])], "1 0 0 0 0"),
        ("One.\nTwo.\n", "One.\nTwo.\nNew.\n", [("added", 1, [["added", "New."]])], "0 1 0 0 2"),
        ("Old.\nOne.\n", "One.\n", [("removed", 1, [["removed", "Old."]])], "0 0 1 0 1"),
        (
            "A.\n" * 5,
            "New.\n" + "A.\n" * 5 + "Other.\n",
            [("added", 1, [["added", "New."]]), ("unchanged", 5, []), ("added", 1, [["added", "Other."]])],
            "0 2 0 0 5",
        ),
        ("One two.\nThree four.\n", "Three four.\nOne two.\n", [], "0 0 0 1 1"),
    ],
)  # fmt: skip
def test_what_differs_is_shown_by_word_in_the_order_of_the_page(
    before: str, latest: str, rows: list[tuple[str, int, list[list[str]]]], lines: str
) -> None:
    shown = show_by_word(compare_texts(before, latest, by="words"), len(before) + len(latest))

    assert [(row["kind"], row["lines"], row["pieces"]) for row in shown["rows"]] == rows
    assert (
        " ".join(str(shown["lines"][kind]) for kind in ("changed", "added", "removed", "moved", "unchanged")) == lines
    )


def test_what_differs_by_word_is_bounded_and_the_rest_counted() -> None:
    before, latest = (
        "".join(f"Row {n} is old.\n" for n in range(5000)),
        "".join(f"Row {n} is new.\n" for n in range(5000)),
    )

    shown = show_by_word(compare_texts(before, latest, by="words"), len(before) + len(latest))

    assert len(shown["rows"]) == MOST_ROWS
    assert shown["rows"][-1] == {"kind": "more", "lines": 5000 - MOST_ROWS + 1, "pieces": []}


def test_equal_text_around_a_changed_word_is_shortened() -> None:
    before, latest = "x " * 500 + "old " + "y " * 500, "x " * 500 + "new " + "y " * 500

    (row,) = show_by_word(compare_texts(before, latest, by="words"), 2000)["rows"]

    assert sum(len(text) for _, text in row["pieces"]) < 200
    assert ["removed", "old"] in row["pieces"]
