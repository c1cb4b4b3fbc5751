from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.effort import calls_of
from tests.spec.pages import state_of
from tocsin.spec.topper.compare import compare

if TYPE_CHECKING:
    from tocsin.spec.topper.compare import Comparison


def test_states_of_many_dates_are_compared_with_little_work() -> None:
    dates = [f"2014-01-01T00:00:{second:02}.{number}Z" for second in range(60) for number in range(1, 400)]
    before, latest = (state_of(major=" ".join(sorted(some))) for some in (dates[:-1], dates[1:]))
    found: list[Comparison] = []

    calls = calls_of(lambda: found.append(compare(before, latest, timedelta(days=1))))

    assert len(found[0].new_dates.major) == 1
    assert calls < 200 * len(dates)  # comparing each with each would make millions more
