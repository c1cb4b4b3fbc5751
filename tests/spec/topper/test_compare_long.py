from __future__ import annotations

import time
from datetime import timedelta

from tests.spec.pages import state_of
from tocsin.spec.topper.compare import compare


def test_states_of_many_dates_are_compared_in_no_time() -> None:
    dates = [f"2014-01-01T00:00:{second:02}.{number}Z" for second in range(60) for number in range(1, 400)]
    before, latest = (state_of(major=" ".join(sorted(some))) for some in (dates[:-1], dates[1:]))
    began = time.process_time()

    found = compare(before, latest, timedelta(days=1))

    assert len(found.new_dates.major) == 1
    assert time.process_time() - began < 5
