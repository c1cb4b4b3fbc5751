from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.bench.client import Done
from benchmarks.bench.measure import Aim, Figure, figure
from benchmarks.bench.report import Report, to_text
from benchmarks.bench.rival_watchers import WATCHERS, reported
from benchmarks.bench.way import NotAsMeant, demand

URLS = ["http://127.0.0.1:80/p/1", "http://127.0.0.2:80/p/2"]


def test_the_pages_that_a_watcher_calls_changed_are_read_from_what_it_says() -> None:
    said = f"CHANGED: a page ({URLS[0]})\nCHANGED: {URLS[1]}\n--- old\n+++ new\n"

    assert reported(said) == set(URLS)


@pytest.mark.parametrize("line", ["ERROR: a page (http://127.0.0.1/)", "NEW: a page", "Traceback (most recent call)"])
def test_a_watcher_that_says_something_went_wrong_has_no_figure(line: str) -> None:
    with pytest.raises(ValueError, match="it says: "):
        reported(f"CHANGED: {URLS[0]}\n{line}\n")


@pytest.mark.parametrize("watcher", WATCHERS, ids=lambda watcher: watcher.name)
def test_a_watcher_has_a_job_for_each_page(tmp_path: Path, watcher: object) -> None:
    folder = tmp_path / "its"
    found = next(one for one in WATCHERS if one is watcher)

    found.prepare(folder, URLS)

    jobs = (folder / "jobs.yaml").read_text("utf-8").split("---\n")
    assert [next(url for url in URLS if url in job) for job in jobs] == URLS
    assert all("xpath: //meta" in job for job in jobs)


def test_a_check_that_ended_otherwise_than_planted_is_no_measurement() -> None:
    with pytest.raises(NotAsMeant, match="were meant"):
        demand("x", Done(1, 1, {"minor": 1, "unchanged": 9}, {200: 10}), {"minor": 2, "unchanged": 8}, 200)
    with pytest.raises(NotAsMeant, match="were meant"):
        demand("x", Done(1, 1, {"unchanged": 10}, {304: 9, 200: 1}), {"unchanged": 10}, 304)


def test_a_cost_that_tells_speed_is_divided_into_its_reference() -> None:
    line = figure("x", [50.0], "us", beside="y", reference=[100.0], speed=True, aim=Aim(">=", 1.9))

    assert (line.ratio, line.is_met) == (2.0, True)


def test_an_aim_is_about_the_value_where_nothing_stands_beside_it() -> None:
    assert Figure("x", 999.0, "1/s", aim=Aim(">=", 1000)).is_met is False


def test_a_missed_aim_is_seen_in_the_table() -> None:
    assert ">= 1,000 MISSED" in to_text(Figure("x", 999.0, "1/s", aim=Aim(">=", 1000)))


def test_a_row_that_took_longer_than_it_may_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    told = Report(as_json=False)

    told.row("way", [Figure("x", 1.0, "s")], 61, 60)
    told.close(None)

    assert "way took 61 s, and should take 60 s at most" in capsys.readouterr().out
