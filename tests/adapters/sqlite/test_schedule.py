"""Jitter: spread by a fraction that stays with the page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tocsin.adapters.stores.sql.values import HOUR_US, spread_at, window_us


def test_the_window_grows_with_the_list_up_to_an_hour() -> None:
    assert window_us(1) == 20_000
    assert window_us(1000) == 20_000_000
    assert window_us(10_000_000) == HOUR_US


@given(st.integers(1, 2**62), st.integers(0, HOUR_US))
def test_a_spread_time_lies_in_its_window(page_id: int, window: int) -> None:
    assert 5 <= spread_at(page_id, 5, window) <= 5 + window
