"""The simulated year of adaptive checking, with few pages."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from benchmarks.freshness.__main__ import main
from benchmarks.freshness.outcome import Outcome
from benchmarks.freshness.pages import DATES, DAY, HOUR, KINDS, RATES, START, make_page
from benchmarks.freshness.simulation import ADAPTIVE, FIXED, KNOWN, Result, simulate
from benchmarks.freshness.year import check_adaptively, check_regularly, first_check, settings_of
from tocsin.engine.judging.cadence import next_check

DAYS = 365
DAILY = timedelta(days=1)


@pytest.fixture(scope="module")
def year() -> Result:
    return simulate(300, DAYS, 7)


def test_changes_are_noticed_much_sooner_than_at_one_interval_of_the_same_cost(year: Result) -> None:
    adaptive, fixed = year.main[ADAPTIVE], year.main[FIXED]

    assert adaptive.requests_a_day == pytest.approx(fixed.requests_a_day, rel=0.02)
    assert adaptive.mean_delay_h < 0.65 * fixed.mean_delay_h
    assert adaptive.quantile_h(0.5) < 0.65 * fixed.quantile_h(0.5)
    assert adaptive.freshness > fixed.freshness + 0.02
    assert adaptive.missed < fixed.missed


def test_to_know_all_rates_beforehand_would_not_make_much_of_a_difference(year: Result) -> None:
    assert year.main[ADAPTIVE].mean_delay_h < 1.3 * year.main[KNOWN].mean_delay_h


def test_the_same_seed_makes_the_same_pages() -> None:
    assert [make_page(number, 30, 1) for number in range(50)] == [make_page(number, 30, 1) for number in range(50)]
    assert make_page(5, 30, 1) != make_page(5, 30, 2)


def test_every_kind_of_page_and_of_date_is_there_and_changes_lie_within_the_year() -> None:
    pages = [make_page(number, DAYS, 1) for number in range(1000)]

    assert {page.kind for page in pages} == {name for name, _, _ in KINDS[1:]} | {name for _, name in RATES}
    assert {page.dates for page in pages} == {name for name, _, _ in DATES}
    assert sum(share for _, share, _ in KINDS) == pytest.approx(1)
    assert sum(share for _, share, _ in DATES) == pytest.approx(1)
    for page in pages:
        assert page.changes == sorted(page.changes)
        assert all(START <= at < START + DAYS * DAY for at in page.changes)
        assert page.before <= START


def test_regular_checks_stand_where_the_service_would_make_them() -> None:
    page, every = make_page(11, 60, 1)._replace(changes=[START + DAY, START + 9 * DAY, START + 9 * DAY + HOUR]), DAILY
    settings = settings_of(every, adaptive=False)
    times = [first_check(page, settings)]
    while times[-1] < START + 60 * DAY:
        times.append(next_check(page.number, times[-1], settings)[0])

    outcome = Outcome()
    check_regularly(page, times[0], every, 60, outcome)

    assert outcome.requests == len(times) - 1
    assert {after - before for before, after in pairwise(times)} == {DAY}
    late = [next(at for at in times if at >= change) - change for change in page.changes if change > times[0]]
    assert outcome.delay_us == sum(late)
    assert outcome.changes == len(late)


def test_what_is_counted_adds_up() -> None:
    page = make_page(3, 10, 1)._replace(kind="still", changes=[START + 4 * DAY, START + 4 * DAY + 600_000_000])
    outcome = Outcome()

    check_adaptively(page, settings_of(DAILY, adaptive=True), 10, outcome)

    assert (outcome.pages, outcome.changes, outcome.noticed, outcome.missed) == (1, 2, 1, 0.5)
    assert outcome.stale_us == (outcome.delay_us + 600_000_000) // 2
    assert outcome.freshness == 1 - outcome.stale_us / outcome.watched_us


def test_tables_and_plot_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--pages", "40", "--days", "60", "--processes", "1", "--svg", str(tmp_path / "plot.svg")])

    assert status == 0
    assert "| adaptive |" in capsys.readouterr().out
    plot = ET.parse(tmp_path / "plot.svg").getroot()  # noqa: S314 - our own
    assert {"adaptive", "fixed", "known"} <= {element.get("class") for element in plot.iter()}
