from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.differences.compare import By, Difference, compare_texts, whole_lines

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
