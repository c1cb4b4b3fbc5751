from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tocsin.spec.microdata.vevent import parse_duration

amounts = st.integers(0, 10**6)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("P2W", 1_209_600), ("P1D", 86_400), ("PT2H", 7_200), ("PT3M", 180), ("PT4S", 4), ("P1DT4S", 86_404)),
        *(("PT1H1M", 3_660), ("PT1M1S", 61), ("PT1H1M1S", 3_661), ("P001D", 86_400), ("P0D", 0)),
    ],
)
def test_IC03_a_duration_is_the_sum_of_its_parts(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        *("P", "PT", "P1DT", "P1WT1H", "P1W1D", "PT1H1S", "1D", "P1D ", " P1D", "PT1.5H", "-PT1H", "+P1D", "p1d"),
        *("P1H", "PT1D", "P1M", "P1Y", "PT1S1M", "", "P1D\n", "P\u0661D", "P" + "9" * 5000 + "D"),
    ],
)
def test_IC03_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@given(amounts, amounts, amounts, amounts)
def test_IC03_days_and_a_time_are_counted_together(days: int, hours: int, minutes: int, seconds: int) -> None:
    assert (
        parse_duration(f"P{days}DT{hours}H{minutes}M{seconds}S") == ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    )
