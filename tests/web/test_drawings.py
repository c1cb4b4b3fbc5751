"""The picture of a page's states, and two states side by side: laws of the pure parts."""

from __future__ import annotations

from datetime import UTC

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DAY, SECOND, fields
from tests.fakes import START
from tocsin.model import StateEntry, VerdictEntry
from tocsin.server.web.activity import draw_timeline
from tocsin.server.web.page_views import choose, compare_kept, field_rows


def state(number: int, first_at: int, last_at: int | None = None) -> StateEntry:
    return StateEntry(
        number,
        first_at,
        first_at if last_at is None else last_at,
        1,
        in_table=True,
        fields=fields(topper_major=str(number)),
    )


def verdict(at: int, outcome: str = "major") -> VerdictEntry:
    return VerdictEntry(1, 1, at, outcome, None, "T44", "declared", {})


def test_a_page_without_states_has_no_picture() -> None:
    assert draw_timeline([], [], None, now=START, zone=UTC) is None


@given(st.lists(st.integers(0, 10**15), min_size=1, max_size=50, unique=True), st.integers(-(10**12), 10**15))
def test_every_state_lies_within_the_picture_and_none_over_another(times: list[int], ahead: int) -> None:
    states = [state(at, at) for at in sorted(times, reverse=True)]

    drawn = draw_timeline(states, [verdict(at) for at in times], None, now=max(times) + ahead, zone=UTC)

    assert drawn is not None
    places = [span.x for span in drawn.spans]
    assert places == sorted(places)
    assert all(0 <= span.x <= 100 and span.width > 0 for span in drawn.spans)
    assert all(0 <= mark.x <= 100 for mark in drawn.marks)


def test_a_state_holds_until_the_next_one_is_found() -> None:
    drawn = draw_timeline([state(2, START + DAY), state(1, START)], [], START + 2 * DAY, now=START + 2 * DAY, zone=UTC)

    assert drawn is not None
    first, second = drawn.spans
    assert abs(first.x + first.width - second.x) < 0.02
    assert abs(second.x + second.width - drawn.now_x) < 0.02


def test_the_picture_says_in_words_what_it_shows() -> None:
    found = [verdict(START + DAY), verdict(START + DAY, "minor"), verdict(START + DAY, "first")]

    drawn = draw_timeline([state(2, START + DAY), state(1, START)], found, None, now=START + 2 * DAY, zone=UTC)

    assert drawn is not None
    assert drawn.said == "2 versions since 2026-11-18 11:06:40 UTC, stored 2 times: 1 major change, 1 minor change."
    assert [mark.outcome for mark in drawn.marks] == ["minor", "major"]


def test_fields_that_neither_state_has_are_left_out() -> None:
    rows = field_rows(fields(topper="1"), fields(topper="1", refresh="60"))

    assert [(row.name, row.is_changed) for row in rows] == [("refresh", True), ("topper", False)]


@given(
    st.lists(st.integers(1, 9), min_size=1, max_size=5, unique=True),
    st.none() | st.integers(0, 10),
    st.none() | st.integers(0, 10),
)
def test_whatever_is_asked_for_two_different_states_are_chosen_in_their_order(
    ids: list[int], older: int | None, newer: int | None
) -> None:
    states = [state(number, START - place * SECOND) for place, number in enumerate(ids)]

    before, latest = choose(states, older, newer)

    assert latest in states
    assert before is None or before.first_at < latest.first_at
    assert before is not None or latest == states[-1]


def test_equal_texts_have_no_difference() -> None:
    assert compare_kept("a\nb", "a\nb\n").is_none


def test_lines_that_are_the_same_are_counted_and_not_shown() -> None:
    same = "".join(f"line {number}\n" for number in range(100))

    found = compare_kept(f"{same}old words", f"{same}new words")

    assert found.rows[0] == 97
    assert not found.is_cut
    assert found.within + found.added + found.removed > 0
