"""Which page killed a process: found by what it named, else by trying suspects a few at a time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import ManualClock
from tocsin.engine.hosts.crash_suspects import SET_ASIDE_S, CrashSuspects


@pytest.fixture
def suspects() -> CrashSuspects:
    return CrashSuspects(ManualClock())


def test_a_page_that_was_named_twice_is_set_aside(suspects: CrashSuspects) -> None:
    assert suspects.has_killed(7, {7, 8}) is None
    assert suspects.has_killed(7, {7, 8}) == 7
    assert suspects.is_set_aside(7)
    assert not suspects.is_set_aside(8)


def test_who_was_only_there_when_another_page_was_named_is_no_suspect(suspects: CrashSuspects) -> None:
    suspects.has_killed(7, {7, 8})

    assert 8 not in suspects


def test_where_none_is_named_all_are_suspects_and_one_is_tried_at_a_time(suspects: CrashSuspects) -> None:
    suspects.has_killed(None, {1, 2, 3})

    assert {1, 2, 3} == {page for page in range(9) if page in suspects}
    assert (suspects.room(0), suspects.room(1)) == (1, 0)


def test_for_each_suspect_that_comes_back_one_more_is_tried(suspects: CrashSuspects) -> None:
    suspects.has_killed(None, set(range(1, 9)))

    suspects.cleared(1)

    assert 1 not in suspects
    assert (suspects.room(0), suspects.room(1), suspects.room(2)) == (2, 1, 0)


def test_once_suspects_killed_again_they_are_tried_one_by_one(suspects: CrashSuspects) -> None:
    suspects.has_killed(None, set(range(1, 9)))
    suspects.cleared(1)

    suspects.has_killed(None, {2, 3})
    suspects.cleared(2)

    assert suspects.room(0) == 1


def test_the_only_suspect_in_hand_has_a_strike_and_who_was_beside_it_is_a_suspect_too(suspects: CrashSuspects) -> None:
    suspects.has_killed(None, {1, 2})

    assert suspects.has_killed(None, {1, 5, 6}) is None
    assert (5 in suspects, 6 in suspects) == (True, True)
    assert suspects.has_killed(None, {1}) == 1


def test_a_page_that_came_back_has_no_strikes_any_more(suspects: CrashSuspects) -> None:
    suspects.has_killed(7, {7, 8})
    suspects.cleared(7)

    assert not suspects.want_to_know
    assert suspects.has_killed(7, {7, 8}) is None


def test_new_pages_that_come_between_are_found_and_no_old_suspect_is_blamed_for_them(suspects: CrashSuspects) -> None:
    suspects.has_killed(None, {1, 2})

    assert suspects.has_killed(None, {1, 9}) is None
    suspects.cleared(1)
    assert suspects.has_killed(None, {9}) is None
    assert suspects.has_killed(None, {9}) == 9


async def test_a_page_that_was_set_aside_is_risked_once_more_later_and_then_not_twice() -> None:
    clock = ManualClock()
    suspects = CrashSuspects(clock)
    suspects.has_killed(7, {7})
    suspects.has_killed(7, {7})

    await clock.advance(SET_ASIDE_S + 1)

    assert not suspects.is_set_aside(7)
    assert suspects.has_killed(7, {7}) == 7


def test_the_user_can_have_it_tried_again(suspects: CrashSuspects) -> None:
    suspects.has_killed(7, {7})
    suspects.has_killed(7, {7})

    suspects.give_another_try(7)

    assert not suspects.is_set_aside(7)


@given(pages=st.sets(st.integers(1, 200), min_size=1, max_size=80), data=st.data())
def test_a_page_that_kills_unnamed_is_found_and_no_other_is_blamed(pages: set[int], data: st.DataObject) -> None:
    poison = data.draw(st.sampled_from(sorted(pages)))
    suspects = CrashSuspects(ManualClock())
    waiting = sorted(pages)
    deaths, blamed = 0, None
    while waiting and blamed is None:
        room = suspects.room(0) if suspects else len(waiting)
        tried = [page for page in waiting if page in suspects][:room]
        begun = [page for page in waiting if page not in suspects] + tried
        if poison in begun:
            deaths += 1
            blamed = suspects.has_killed(None, begun)
            continue
        for page in begun:
            waiting.remove(page)
            suspects.cleared(page)

    assert blamed == poison
    assert deaths <= 5
