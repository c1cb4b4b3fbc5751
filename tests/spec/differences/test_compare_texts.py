"""Comparing texts: what is marked, how lines are matched, and at what cost."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences import compare
from tocsin.spec.differences.compare import (
    By,
    Difference,
    Work,
    _Part,
    _SequenceMatching,
    changed_rows,
    compare_texts,
    find_common,
    narrow,
    to_rows,
    whole_lines,
)

WORDS = st.sampled_from(
    ["the", "The", "bell", "rings", "12", "3.50", ".", "!", " ", "  ", "\n", "鐘", "が", "ระ", "ฆั", "é", ""]
)
TEXTS = st.lists(WORDS, max_size=30).map("".join)
BYS: tuple[By, ...] = ("words", "lines")


def marked(before: str, latest: str, by: By = "words") -> str:
    """Write a difference as text: [-removed-] and {+added+}."""
    forms = {"same": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(forms[run.kind].format(run.text) for run in compare_texts(before, latest, by=by).runs)


def is_well_formed(difference: Difference) -> bool:
    kinds = [run.kind for run in difference.runs]
    return (
        all(run.text for run in difference.runs)
        and all(one != other for one, other in pairwise(kinds))
        and ("added", "removed") not in pairwise(kinds)
    )


@pytest.mark.parametrize("by", BYS)
@given(before=TEXTS | st.text(), latest=TEXTS | st.text())
def test_a_difference_applied_to_the_text_before_gives_the_latest(by: By, before: str, latest: str) -> None:
    difference = compare_texts(before, latest, by=by)

    assert (difference.before, difference.latest) == (before, latest)
    assert is_well_formed(difference)
    assert difference.is_none == (before == latest)


@given(TEXTS, TEXTS)
def test_by_lines_every_run_is_of_whole_lines(before: str, latest: str) -> None:
    runs = compare_texts(before, latest, by="lines").runs

    for kept in ("removed", "added"):
        of_one_text = [run.text for run in runs if run.kind in ("same", kept)]
        assert all(text.endswith("\n") for text in of_one_text[:-1])


def test_equal_texts_have_no_difference() -> None:
    assert compare_texts("", "", by="words").runs == ()
    assert compare_texts("a\nb", "a\nb", by="words").is_none


def test_words_are_marked_within_the_lines_that_changed() -> None:
    before = "Opening hours\nWe open at 9.30 on Monday.\nBring your bell."
    latest = "Opening hours\nWe open at 10.00 on Monday.\nBring your bell."

    assert marked(before, latest) == "Opening hours\nWe open at [-9.30-]{+10.00+} on Monday.\nBring your bell."


def test_by_lines_the_whole_line_counts() -> None:
    assert marked("a b\nc d\n", "a b\nc e\n", "lines") == "a b\n[-c d\n-]{+c e\n+}"


def test_a_line_with_little_in_common_is_shown_as_another_one() -> None:
    assert marked("The old hall is closed", "Tickets for the new tower") == (
        "[-The old hall is closed-]{+Tickets for the new tower+}"
    )


def test_a_crumb_between_two_changes_is_part_of_them() -> None:
    before = "The quick brown fox jumps over the lazy dog near here"
    latest = "The enormous, yellow fox jumps over the lazy dog near here"

    assert marked(before, latest).startswith("The [-quick brown-]{+enormous, yellow+} fox")


@pytest.mark.parametrize(
    ("before", "latest", "expected"),
    [
        ("会議は月曜日に開かれます", "会議は火曜日に開かれます", "会議は[-月-]{+火+}曜日に開かれます"),
        ("会议在一月举行", "会议在二月举行", "会议在[-一-]{+二+}月举行"),
        ("ราคาต่อวันละร้อย", "ราคาต่อคืนละร้อย", "ราคาต่อ[-วั-]{+คื+}นละร้อย"),
        ("हिन्दी में लिखा", "हिन्दी से लिखा", "हिन्दी [-में-]{+से+} लिखा"),
        ("don't stop it", "don't start it", "don't [-stop-]{+start+} it"),
        ("cafe\u0301 open now", "cafe\u0301s open now", "[-cafe\u0301-]{+cafe\u0301s+} open now"),
    ],
    ids=["Japanese", "Chinese", "Thai", "Hindi", "an apostrophe", "a combining accent"],
)
def test_words_are_those_of_the_script(before: str, latest: str, expected: str) -> None:
    assert marked(before, latest) == expected


def test_a_sentence_that_comes_in_between_leaves_its_neighbours_alone() -> None:
    before = "It rains. The bell rings. We go."
    latest = "It rains. No one sees it. The bell rings. We go."

    assert marked(before, latest) == "It rains. {+No one sees it. +}The bell rings. We go."


def test_repeated_lines_are_matched_in_order() -> None:
    assert marked("a\nb\na\nb\n", "a\nb\na\nc\nb\n", "lines") == "a\nb\na\n{+c\n+}b\n"


def test_a_line_that_went_is_removed_with_its_own_end() -> None:
    assert marked("We open at nine.\nOld\nEnd\n", "We open at ten.\nEnd\n") == (
        "We open at [-nine-]{+ten+}.\n[-Old\n-]End\n"
    )
    assert marked("We open at nine.\nOld\n", "We open at ten.\n") == "We open at [-nine-]{+ten+}.\n[-Old\n-]"


@pytest.mark.parametrize("by", ["words", "lines"])
def test_a_line_that_follows_the_last_one_is_no_change_of_it(by: By) -> None:
    found = compare_texts(whole_lines("one"), whole_lines("one\ntwo"), by=by)

    assert [(run.kind, run.text) for run in found.runs] == [("same", "one\n"), ("added", "two\n")]
    assert whole_lines("") == ""


LETTERS = 120_000

Texts = Callable[[random.Random], tuple[str, str]]


def shuffled(chance: random.Random) -> tuple[str, str]:
    lines = [f"line {number} of them" for number in range(LETTERS // 20)]
    return "\n".join(lines), "\n".join(chance.sample(lines, len(lines)))


def of_few_letters(chance: random.Random) -> tuple[str, str]:
    return "\n".join(chance.choices("ab", k=LETTERS // 2)), "\n".join(chance.choices("ab", k=LETTERS // 2))


def of_words(chance: random.Random) -> tuple[str, str]:
    return " ".join(chance.choices("abc", k=LETTERS // 2)), " ".join(chance.choices("abc", k=LETTERS // 2))


def in_periods(_: random.Random) -> tuple[str, str]:
    return "a\nb\nc\n" * (LETTERS // 6), "b\nc\nd\n" * (LETTERS // 6)


def swapped(_: random.Random) -> tuple[str, str]:
    half = LETTERS // 4
    return "a\n" * half + "b\n" * half, "b\n" * half + "a\n" * half


def of_one_sentence(_: random.Random) -> tuple[str, str]:
    words = [f"w{number}" for number in range(LETTERS // 7)]
    return " ".join(words), " ".join(word for number, word in enumerate(words) if number % 2)


def nested(_: random.Random) -> tuple[str, str]:
    numbers = range(LETTERS // 10)
    return "\n".join(f"u{n}\nx\nx" for n in numbers), "\n".join(f"u{n}\nx\ny" for n in numbers)


@pytest.mark.parametrize("by", ["words", "lines"])
@pytest.mark.parametrize("texts", [shuffled, of_few_letters, of_words, in_periods, swapped, of_one_sentence, nested])
def test_the_work_is_bounded_whatever_the_texts_are(monkeypatch: pytest.MonkeyPatch, texts: Texts, by: By) -> None:
    before, latest = texts(random.Random(5))  # noqa: S311 - the same texts each time
    made: list[Work] = []

    class Counted(Work):
        def __init__(self, steps: int) -> None:
            super().__init__(steps)
            made.append(self)

    monkeypatch.setattr(compare, "Work", Counted)

    difference = compare_texts(before, latest, by=by)

    assert (difference.before, difference.latest) == (before, latest)
    # What is begun when the work runs out may look at each letter a few times more.
    assert made[0].left > -4 * (len(before) + len(latest))


def test_too_many_letters_of_replaced_sentences_are_shown_as_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "_MOST_IN_WORDS", 30)

    difference = compare_texts("one bell rings\n" * 3, "two bells ring\n" * 3, by="words")

    assert [run.kind for run in difference.runs] == ["removed", "added"]


ITEMS = st.lists(st.integers(0, 5), max_size=40)


def length_of_longest(one: list[int], other: list[int]) -> int:
    """How much two lists have in common at most, by the textbook's table."""
    row = [0] * (len(other) + 1)
    for item in one:
        new = [0]
        for place, against in enumerate(other):
            new.append(row[place] + 1 if item == against else max(row[place + 1], new[-1]))
        row = new
    return row[-1]


@given(ITEMS, ITEMS, st.sampled_from([0, 5, 50, 100_000]))
def test_what_is_found_stands_in_both_and_in_order_however_little_work_is_allowed(
    before: list[int], latest: list[int], steps: int
) -> None:
    i = j = 0
    for run in find_common(before, latest, Work(steps)):
        assert run.length > 0
        assert (run.i > i or run.j > j) or i == j == 0
        assert run.i >= i
        assert run.j >= j
        assert before[run.i : run.i + run.length] == latest[run.j : run.j + run.length]
        i, j = run.i + run.length, run.j + run.length


@given(ITEMS)
def test_equal_sequences_are_one_run(items: list[int]) -> None:
    found = find_common(items, items, Work(1000))

    assert [(run.i, run.j, run.length) for run in found] == ([(0, 0, len(items))] if items else [])


@given(ITEMS, ITEMS)
def test_the_shortest_way_is_the_shortest(before: list[int], latest: list[int]) -> None:
    matching = _SequenceMatching(before, latest, Work(100_000))

    found = matching._shortest(_Part(0, len(before), 0, len(latest)))

    assert sum(run.length for run in found) == length_of_longest(before, latest)


def test_where_the_shortest_way_is_too_long_the_nth_stands_for_the_nth() -> None:
    # A thousand things twice each in another order: no anchors, and far more edits than are looked for.
    before = [place % 1000 for place in range(2000)]
    latest = [number for place in before for number in (place, 5000 + place)]

    found = sum(run.length for run in find_common(before, latest, Work(1_000_000)))

    assert found == 2000


LINES = st.lists(st.sampled_from(["a", "b", "ab", ""]), max_size=12).map("\n".join)


@given(LINES, LINES)
def test_what_is_taken_off_are_whole_lines_that_both_begin_or_end_with(before: str, latest: str) -> None:
    was, now, is_cut = narrow(before, latest, 1000)

    assert not is_cut
    assert len(before) - len(was) == len(latest) - len(now)
    starts = [
        start
        for start in range(len(before) - len(was) + 1)
        if before[start:].startswith(was)
        and latest[start:].startswith(now)
        and before[:start] == latest[:start]
        and before[start + len(was) :] == latest[start + len(now) :]
        and (start == 0 or before[start - 1] == "\n")
        and (start + len(was) == len(before) or (before[:start] + was).endswith("\n") or not was)
    ]
    assert starts


def test_lines_in_the_middle_are_left() -> None:
    assert narrow("one\ntwo\nthree\nfour\n", "one\n2\nthree\nfour\n", 1000) == ("two\n", "2\n", False)
    assert narrow("one\ntwo\n", "one\nand\ntwo\n", 1000) == ("", "and\n", False)


def test_what_is_beyond_is_cut_and_said_to_be() -> None:
    assert narrow("x" * 50, "y" * 60, 10) == ("x" * 10, "y" * 10, True)


@given(st.text("ab .\n", max_size=60), st.text("ab .\n", max_size=60))
def test_lines_that_differ_are_those_of_all_lines(before: str, latest: str) -> None:
    difference = compare_texts(before, latest, by="words")
    found = list(changed_rows(difference))
    every = to_rows(difference)

    rows = [row for row in found if not isinstance(row, int)]
    assert [row for row in rows if row.kind != "same"] == [row for row in every if row.kind != "same"]
    assert sum(row if isinstance(row, int) else 1 for row in found) == len(every)
