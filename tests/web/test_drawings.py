"""Two states of a page side by side: laws of the pure parts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import SECOND, fields
from tests.fakes import START
from tocsin.model import StateEntry
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
