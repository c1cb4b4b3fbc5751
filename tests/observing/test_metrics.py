"""Metrics tell what happened, cost little, and the alert rules use those that exist."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
import yaml
from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from tests.effort import calls_of
from tests.fakes import START
from tests.house.sources import ROOT
from tests.observing.measured import FIGURES, LIVE, SECOND, families, metrics_of, names_of, result_of, table
from tocsin.adapters.metrics import Metrics
from tocsin.engine.activity import EngineCounts
from tocsin.events import Happening
from tocsin.model import CrowdedHosts


def read(metrics: Metrics) -> dict[tuple[str, frozenset[tuple[str, str]]], float]:
    families = text_string_to_metric_families(metrics.text().decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value for each in families for sample in each.samples
    }


def value(metrics: Metrics, name: str, **labels: str) -> float:
    return read(metrics)[name, frozenset(labels.items())]


def test_checks_are_counted_by_outcome_once_they_are_written() -> None:
    counts = EngineCounts()

    counts.committed([result_of("unchanged"), result_of("unchanged"), result_of("major")])

    assert value(metrics_of(counts), "tocsin_checks_total", outcome="unchanged") == 2
    assert value(metrics_of(counts), "tocsin_checks_total", outcome="major") == 1
    assert value(metrics_of(counts), "tocsin_checks_total", outcome="minor") == 0


def test_durations_fall_into_the_buckets_that_hold_them() -> None:
    counts = EngineCounts()

    counts.committed([result_of("first", elapsed_ms=took) for took in (0, 50, 51, 99_000)])

    buckets = [
        number
        for (name, _), number in sorted(read(metrics_of(counts)).items(), key=lambda item: item[1])
        if name == "tocsin_check_duration_seconds_bucket"
    ]
    assert value(metrics_of(counts), "tocsin_check_duration_seconds_bucket", le="0.05") == 2
    assert value(metrics_of(counts), "tocsin_check_duration_seconds_bucket", le="60.0") == 3
    assert value(metrics_of(counts), "tocsin_check_duration_seconds_bucket", le="+Inf") == 4
    assert value(metrics_of(counts), "tocsin_check_duration_seconds_count") == 4
    assert value(metrics_of(counts), "tocsin_check_duration_seconds_sum") == 99.101
    assert all(before <= after for before, after in pairwise(buckets))


def test_bytes_are_those_that_came_and_those_that_were_spared() -> None:
    counts = EngineCounts()

    counts.committed([result_of("first", received=700), result_of("unchanged", received=75, saved=625)])

    assert value(metrics_of(counts), "tocsin_wire_bytes_total") == 775
    assert value(metrics_of(counts), "tocsin_saved_bytes_total") == 625
    assert value(metrics_of(counts), "tocsin_not_modified_total") == 1


def test_visits_in_the_browser_are_counted_by_what_became_of_them() -> None:
    counts = EngineCounts()

    for result in ("read", "read", "crashed"):
        counts.emit(Happening("browser.visited", "debug", {"result": result, "took_ms": 400, "waited_ms": 90}))
    counts.emit(Happening("browser.refused", "info", {"host": "a.example", "reason": "no", "times": 3}))

    metrics = metrics_of(counts)
    assert value(metrics, "tocsin_browser_visits_total", result="read") == 2
    assert value(metrics, "tocsin_browser_visits_total", result="crashed") == 1
    assert value(metrics, "tocsin_browser_visits_total", result="missing") == 0
    assert value(metrics, "tocsin_browser_visit_seconds_sum") == 1.2
    assert value(metrics, "tocsin_browser_wait_seconds_bucket", le="0.1") == 3
    assert value(metrics, "tocsin_browser_refused_total") == 3


def test_results_that_are_refused_are_counted_one_by_one() -> None:
    counts = EngineCounts()

    for results in (40, 2):
        counts.emit(Happening("claim.lost", "warning", {"results": results}))

    assert value(metrics_of(counts), "tocsin_refused_results_total") == 42


def test_the_leader_tells_of_all_nodes_and_each_says_its_name() -> None:
    metrics = metrics_of(EngineCounts())

    states = {state: value(metrics, "tocsin_nodes", state=state) for state in ("working", "draining", "gone")}
    assert states == {"working": 2, "draining": 0, "gone": 1}
    assert (value(metrics, "tocsin_parts_without_node"), value(metrics, "tocsin_parts_held")) == (3, 22)
    assert any(name == "tocsin_build_info" and ("node", "one") in labels for name, labels in read(metrics))


def test_happenings_are_counted_where_they_count() -> None:
    counts = EngineCounts()

    for happening in (
        Happening("results.committed", "debug", {"results": 3, "took_ms": 7.5}),
        Happening("fetcher.replaced", "error", {"error": "killed"}),
        Happening("store.failed", "error", {"error": "full"}),
        Happening("page.rendered", "info", {"url": "https://example.org/"}),
        Happening("page.unrendered", "warning", {"url": "https://example.org/"}),
        Happening("http.answered", "debug", {"status": 404}),
        Happening("http.answered", "debug", {"status": None}),
        Happening("stream.opened", "debug"),
        Happening("stream.opened", "debug"),
        Happening("stream.closed", "debug"),
        Happening("page.odd", "debug", {"problem": "none of ours"}),
    ):
        counts.emit(happening)

    metrics = metrics_of(counts)
    assert value(metrics, "tocsin_commit_seconds_bucket", le="0.01") == 1
    assert value(metrics, "tocsin_fetcher_restarts_total") == 1
    assert value(metrics, "tocsin_store_failures_total") == 1
    assert value(metrics, "tocsin_renderings_total", result="given") == 1
    assert value(metrics, "tocsin_renderings_total", result="failed") == 1
    assert value(metrics, "tocsin_http_answers_total", code="4xx") == 1
    assert value(metrics, "tocsin_http_answers_total", code="none") == 1
    assert value(metrics, "tocsin_event_streams") == 1
    assert value(metrics, "tocsin_problems_total", level="error") == 2
    assert value(metrics, "tocsin_problems_total", level="warning") == 1


def test_what_is_going_on_now_is_told() -> None:
    metrics = metrics_of(EngineCounts(), replace(LIVE, outage_since=START, crowded=CrowdedHosts(3)))

    assert value(metrics, "tocsin_build_info", version="1.2.3", python=_python(metrics), node="one") == 1
    assert value(metrics, "tocsin_requests_in_flight") == 17
    assert value(metrics, "tocsin_loop_lag_seconds", process="main") == 0.125
    assert value(metrics, "tocsin_loop_lag_seconds", process="fetcher-1") == 0.25
    assert value(metrics, "tocsin_fetchers") == 2
    assert value(metrics, "tocsin_fetchers_ready") == 1
    assert value(metrics, "tocsin_render_queue_limit") == 4
    assert value(metrics, "tocsin_render_queue_running") == 2
    assert value(metrics, "tocsin_lateness_seconds") == 2.5
    assert value(metrics, "tocsin_outage") == 1
    assert value(metrics, "tocsin_hosts_crowded") == 3


def test_what_the_store_holds_is_told_with_its_age() -> None:
    metrics = metrics_of(EngineCounts())

    assert value(metrics, "tocsin_figures_age_seconds") == 7
    assert value(metrics, "tocsin_pages") == 1_000_000
    assert value(metrics, "tocsin_render_queue_waiting") == 5
    assert value(metrics, "tocsin_render_queue_oldest_seconds") == 30
    assert value(metrics, "tocsin_questions_open") == 1
    assert value(metrics, "tocsin_question_oldest_seconds") == 3600
    assert value(metrics, "tocsin_channel_backlog", channel="ops") == 3
    assert value(metrics, "tocsin_channel_lag_seconds", channel="ops") == 60
    assert value(metrics, "tocsin_dead_letters", channel="ops") == 2
    assert value(metrics, "tocsin_channel_failing", channel="ops") == 1
    assert value(metrics, "tocsin_channel_disabled", channel="ops") == 0
    assert value(metrics, "tocsin_store_free_bytes") == 9_000_000_000


def test_digests_silenced_and_unrouted_alerts_are_told() -> None:
    metrics = metrics_of(EngineCounts())

    assert value(metrics, "tocsin_channel_gathered", channel="ops") == 40
    assert value(metrics, "tocsin_channel_silenced", channel="ops") == 6
    assert [value(metrics, "tocsin_digests", channel="ops", state=each) for each in ("open", "sealed", "dead")] == [
        1,
        0,
        1,
    ]
    assert value(metrics, "tocsin_digest_overdue_seconds", channel="ops") == 120
    assert value(metrics, "tocsin_digest_overdue_seconds", channel="mail") == 0
    assert value(metrics, "tocsin_unrouted_alerts") == 8


def test_a_channel_whose_secret_cannot_be_read_is_failing() -> None:
    metrics = metrics_of(EngineCounts(), replace(LIVE, unread_channels=("desk",)))

    assert value(metrics, "tocsin_channel_failing", channel="desk") == 1


def test_a_clock_that_was_set_back_makes_nothing_negative() -> None:
    figures = replace(FIGURES, at=START + 60 * SECOND, questions_oldest_at=START + SECOND)
    metrics = metrics_of(EngineCounts(), replace(LIVE, figures=figures))

    assert value(metrics, "tocsin_figures_age_seconds") == 0
    assert value(metrics, "tocsin_question_oldest_seconds") == 0


def test_before_the_store_was_read_nothing_is_said_of_it() -> None:
    found = {name for name, _ in read(metrics_of(EngineCounts(), replace(LIVE, figures=None)))}

    assert "tocsin_pages" not in found
    assert "tocsin_checks_total" in found


def test_alerts_are_told_by_type_and_outcome() -> None:
    metrics = metrics_of(EngineCounts(), alerts={("changed", "major"): 3, ("unreachable", ""): 1})

    assert value(metrics, "tocsin_alerts_total", type="changed", outcome="major") == 3
    assert value(metrics, "tocsin_alerts_total", type="unreachable", outcome="") == 1


def _python(metrics: Metrics) -> str:
    labels = next(dict(labels) for name, labels in read(metrics) if name == "tocsin_build_info")
    return labels["python"]


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


RULES = ROOT / "config/prometheus/alerts.rules.yml"
CONFIG = ROOT / "config/prometheus/prometheus.yml"
UNIT_TESTS = ROOT / "tests/observing/alerts_test.yml"
DASHBOARD = ROOT / "config/grafana/tocsin.json"
DOCUMENT = (ROOT / "docs/metrics.md").read_text("utf-8")
PROMTOOL = shutil.which("promtool")
NAME = re.compile(r"\b(?:tocsin|process)_[a-z_]+\b")

rules: list[dict[str, Any]] = yaml.safe_load(RULES.read_text("utf-8"))["groups"][0]["rules"]

unit_tests: list[dict[str, Any]] = yaml.safe_load(UNIT_TESTS.read_text("utf-8"))["tests"]

panels: list[dict[str, Any]] = json.loads(DASHBOARD.read_text("utf-8"))["panels"]


@cache
def known() -> set[str]:
    return {name for metric in families() for name in names_of(metric)}


def shown() -> list[str]:
    return [target["expr"] for panel in panels for target in panel.get("targets", ())]


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_asks_for_metrics_that_there_are(rule: dict[str, Any]) -> None:
    assert set(NAME.findall(rule["expr"])) <= known()
    assert set(re.findall(r"\b(?:tocsin_[a-z_]+)\b", " ".join(rule["annotations"].values()))) <= known() | {
        "tocsin_commit_seconds"
    }


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_says_what_it_is_how_bad_and_the_mend(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert set(rule["annotations"]) == {"summary", "description"}
    assert f"| `{rule['alert']}` | {rule['labels']['severity']} |" in DOCUMENT


@pytest.mark.parametrize("rule", rules, ids=lambda rule: rule["alert"])
def test_every_alert_is_tried(rule: dict[str, Any]) -> None:
    assert rule["alert"] in json.dumps([test for test in unit_tests if "says nothing" not in test["name"]])


@pytest.mark.parametrize("expr", shown())
def test_the_dashboard_shows_metrics_that_there_are(expr: str) -> None:
    names = set(NAME.findall(expr))

    assert names
    assert names <= known()


def test_every_metric_of_ours_is_on_the_dashboard() -> None:
    said = DASHBOARD.read_text("utf-8")

    assert {
        name
        for name in known()
        if name.startswith("tocsin_") and name.removesuffix("_count").removesuffix("_sum") not in said
    } == set()


def test_the_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        taken |= cells

    assert len({panel["id"] for panel in panels}) == len(panels)


def test_every_metric_is_explained() -> None:
    assert table() in DOCUMENT, "print it anew with: python -m tests.observing.measured"


def test_no_label_has_values_that_pages_or_hosts_choose() -> None:
    labels = {label for metric in families() for sample in metric.samples for label in sample.labels}

    assert labels == {
        "le",
        "level",
        "code",
        "outcome",
        "result",
        "type",
        "channel",
        "state",
        "process",
        "version",
        "python",
        "node",
    }


def test_names_follow_the_conventions() -> None:
    for metric in families():
        assert metric.documentation.endswith("."), metric.name
        assert metric.type != "counter" or names_of(metric)[0].endswith("_total"), metric.name
        assert not re.search(r"_(?:ms|minutes|hours|kib|mib)(?:_|$)", metric.name), metric.name


# It comes with Debian's `prometheus`; .ci/run installs it, and runs the same there.
if PROMTOOL is not None:

    @pytest.mark.parametrize(
        "arguments",
        [
            ("check", "config", "--syntax-only", str(CONFIG)),
            ("check", "rules", str(RULES)),
            ("test", "rules", str(UNIT_TESTS)),
        ],
        ids=["config", "rules", "alerts"],
    )
    def test_promtool_agrees(arguments: tuple[str, ...]) -> None:
        assert PROMTOOL is not None
        done = subprocess.run([PROMTOOL, *arguments], capture_output=True, text=True, check=False)

        assert done.returncode == 0, done.stdout + done.stderr
