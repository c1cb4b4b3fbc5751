"""What measuring costs, as the number of functions that are called for it."""

from __future__ import annotations

from tests.effort import calls_of
from tests.observing.measured import metrics_of, result_of
from tocsin.engine.activity import EngineCounts


def test_a_check_pays_little_for_being_counted() -> None:
    counts = EngineCounts()
    batch = [result_of("unchanged", elapsed_ms=number % 900, saved=500) for number in range(1000)]

    calls = calls_of(lambda: counts.committed(batch))

    assert counts.outcomes["unchanged"] == 1000
    assert calls < 2 * len(batch)


def test_a_scrape_costs_the_same_however_much_was_counted() -> None:
    def calls_after(checks: int) -> int:
        counts = EngineCounts()
        counts.committed([result_of("unchanged", elapsed_ms=number % 900) for number in range(checks)])
        return calls_of(metrics_of(counts, alerts={("changed", "major"): 1}).text)

    calls_after(1)  # whatever is made once, for all scrapes

    assert calls_after(10_000) < 1.1 * calls_after(10)
