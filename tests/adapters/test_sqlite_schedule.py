"""Jitter: spread by a fraction that stays with the page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.stores.sqlite.schedule import HOUR_US, fraction, spread_at, window_us


@given(st.integers(1, 2**62))
def test_a_fraction_is_less_than_one_and_always_the_same(page_id: int) -> None:
    assert 0 <= fraction(page_id) < 1
    assert fraction(page_id) == fraction(page_id)


def test_neighbours_are_spread_evenly() -> None:
    tenths = [int(fraction(page_id) * 10) for page_id in range(1, 10_001)]

    assert all(990 <= tenths.count(tenth) <= 1010 for tenth in range(10))


def test_the_window_grows_with_the_list_up_to_an_hour() -> None:
    assert window_us(1) == 20_000
    assert window_us(1000) == 20_000_000
    assert window_us(10_000_000) == HOUR_US


@given(st.integers(1, 2**62), st.integers(0, HOUR_US))
def test_a_spread_time_lies_in_its_window(page_id: int, window: int) -> None:
    assert 5 <= spread_at(page_id, 5, window) <= 5 + window
