"""A day as bars and as rows."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START
from tocsin.model import ActivityRow
from tocsin.server.web.charts import HEIGHT, SPAN_US, SPANS, WIDTH, charts, coarser, gather, stack

BAR = re.compile(r"M([\d.]+) ([\d.-]+)h([\d.]+)v([\d.]+)h-([\d.]+)z")
COUNTS = st.lists(st.lists(st.integers(0, 10**9), min_size=1, max_size=60), min_size=1, max_size=6)


def bars(path: str) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of each bar of a path."""
    return [(float(left), float(top), float(wide), float(high)) for left, top, wide, high, _ in BAR.findall(path)]


def test_what_was_noted_every_five_minutes_is_added_up_to_half_hours() -> None:
    rows = [ActivityRow(START - place * SPAN_US // 6, {"unchanged": 2}, 1, 1, 10, 100) for place in range(3)]

    spans = gather(rows, START)

    assert (len(spans), sum(span.checks for span in spans)) == (SPANS, 6)
    assert sum(span.wire_bytes for span in spans) == 30


def test_the_last_span_is_the_one_that_goes_on_now() -> None:
    spans = gather([ActivityRow(START, {"major": 1})], START)

    assert spans[-1].of("major") == 1
    assert spans[-1].at <= START < spans[-1].at + SPAN_US


def test_what_lies_outside_of_the_day_is_left_out() -> None:
    rows = [ActivityRow(START - 49 * SPAN_US, {"major": 1}), ActivityRow(START + SPAN_US, {"major": 1})]

    assert all(not span.outcomes for span in gather(rows, START))


def test_hours_hold_what_their_half_hours_hold() -> None:
    spans = gather([ActivityRow(START - place * SPAN_US, {"minor": place}) for place in range(SPANS)], START)

    hours = coarser(spans, 2)

    assert (len(hours), sum(hour.of("minor") for hour in hours)) == (24, sum(span.of("minor") for span in spans))


def test_a_day_without_anything_draws_nothing() -> None:
    for chart in charts(gather([], START)):
        assert (chart.total, [series.path for series in chart.series]) == (0, [""] * len(chart.series))


def test_one_major_change_among_a_million_checks_is_seen() -> None:
    checks = next(chart for chart in charts(gather([ActivityRow(START, {"unchanged": 10**6, "major": 1})], START)))

    changed = next(series for series in checks.series if series.name == "changed")
    ((_, _, _, height),) = bars(changed.path)
    assert height >= 1.5


@given(COUNTS)
def test_no_bar_leaves_its_drawing(values: list[list[int]]) -> None:
    number = min(map(len, values))
    columns = [series[:number] for series in values]
    most = max(map(sum, zip(*columns, strict=True)))

    for path in stack(columns, most):
        for left, top, wide, high in bars(path):
            assert left >= 0
            assert left + wide <= WIDTH + 0.2
            assert top >= -0.3
            assert top + high <= HEIGHT + 0.3


@given(COUNTS)
def test_what_is_nothing_has_no_bar(values: list[list[int]]) -> None:
    number = min(map(len, values))
    columns = [series[:number] for series in values]
    most = max(map(sum, zip(*columns, strict=True)))

    for series, path in zip(columns, stack(columns, most), strict=True):
        assert len(bars(path)) == sum(value > 0 for value in series)
