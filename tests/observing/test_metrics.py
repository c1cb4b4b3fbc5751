"""What Prometheus is told is what happened."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec.structs import replace
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes import START
from tests.observing.measured import FIGURES, LIVE, SECOND, metrics_of, result_of
from tocsin.engine.activity import EngineCounts
from tocsin.events import Happening

if TYPE_CHECKING:
    from tocsin.adapters.metrics import Metrics


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
    metrics = metrics_of(EngineCounts(), replace(LIVE, outage_since=START, crowded_hosts=3))

    assert value(metrics, "tocsin_build_info", version="1.2.3", python=_python(metrics)) == 1
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
