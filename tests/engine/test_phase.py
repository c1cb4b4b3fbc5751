"""Jitter: a place in the interval that stays with the page."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tocsin.model import phase_of

MINUTES = 24 * 60
SIXTEEN = 16
STEP = 1 / 65_536


@given(st.integers(1, 2**62))
def test_T63_a_phase_is_less_than_one_and_always_the_same(page_id: int) -> None:
    assert 0 <= phase_of(page_id) < 1
    assert phase_of(page_id) == phase_of(page_id)


@settings(max_examples=10)
@given(first=st.integers(1, 2**40))
def test_a_large_list_is_spread_evenly_over_the_minutes_of_a_day(first: int) -> None:
    pages = 200_000
    counts = [0] * MINUTES
    for page_id in range(first, first + pages):
        counts[int(phase_of(page_id) * MINUTES)] += 1

    mean = pages / MINUTES
    # Of 1,440 minutes by chance, the square errors would sum up to 1,440 means; and one would have 180 instead of 139.
    assert sum((count - mean) ** 2 for count in counts) / mean < MINUTES
    assert max(counts) <= mean + 2 * SIXTEEN


@given(st.integers(0, 2**40))
def test_pages_added_together_come_one_shortly_after_the_other(group: int) -> None:
    phases = [phase_of(group * SIXTEEN + place) for place in range(SIXTEEN)]

    assert all(abs((after - before) % 1 - STEP) < STEP / 1000 for before, after in pairwise(phases))


@given(st.integers(0, 2**40))
def test_the_next_ones_come_far_from_them(group: int) -> None:
    apart = (phase_of((group + 1) * SIXTEEN) - phase_of(group * SIXTEEN)) % 1

    assert 1 / 3 < apart < 2 / 3
