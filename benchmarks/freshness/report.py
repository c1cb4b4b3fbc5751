"""The figures of a simulation as tables in Markdown, as they stand in docs/adaptive.md."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from benchmarks.freshness.outcome import Outcome
from benchmarks.freshness.pages import KINDS, RATES
from benchmarks.freshness.simulation import ADAPTIVE, BOUNDED, FIXED, Result

_MEASURES: Final = ("requests", "freshness", "mean delay")


def table(result: Result) -> str:
    """Write what was found: first the ways compared, then each kind of page."""
    hours = result.interval / timedelta(hours=1)
    of = f"{result.pages:,} pages, {result.days} days, seed {result.seed}"
    lines = [
        f"{of}; the interval that costs as much as adaptive checking: {hours:.1f} h",
        "",
        "| way | requests a page and day | freshness | mean delay | median | nine of ten | hidden |",
        "|---|---|---|---|---|---|---|",
        *(f"| {name} | {_cells(outcome)} |" for name, outcome in result.main.items()),
        "",
        f"| kind | share |{''.join(f' {what}: adaptive | at most 4 d | fixed |' for what in _MEASURES)}",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    kinds = [*(name for _, name in RATES), *(name for name, _, _ in KINDS)]
    for kind in (kind for kind in kinds if (kind, ADAPTIVE) in result.kinds):
        ways = [result.kinds.get((kind, way), Outcome()) for way in (ADAPTIVE, BOUNDED, FIXED)]
        cells = [f"{one.requests_a_day:.2f}" for one in ways]
        cells += [f"{one.freshness:.1%}" for one in ways]
        cells += [f"{one.mean_delay_h:.1f} h" if one.changes else "-" for one in ways]
        lines.append(f"| {kind} | {ways[0].pages / result.pages:.0%} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cells(one: Outcome) -> str:
    delays = f"{one.mean_delay_h:.1f} h | {one.quantile_h(0.5):.1f} h | {one.quantile_h(0.9):.1f} h"
    return f"{one.requests_a_day:.3f} | {one.freshness:.1%} | {delays} | {one.missed:.1%}"
