"""Metrics of a running service for Prometheus."""

# A scrape reads nothing from the store: counts are in memory, figures are the last ones read. No label holds text from
# a page or a host: every label has few values, from the program or the configuration.

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, get_args

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from tocsin.engine.activity import EngineCounts, Histogram
from tocsin.engine.hosts.duties import Duty, SoleDuty
from tocsin.model import ChannelFigures, CheckOutcome, Instant, LiveState, StoreFigures
from tocsin.model.nodes import NodeState

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_S: Final = 1_000_000
_RENDERINGS: Final = ("given", "failed")
_DELIVERIES: Final = ("accepted", "refused", "failed", "gone", "ours")
_VISITS: Final = (
    "read", "withheld", "missing", "dns", "connect", "tls", "timeout", "protocol", "too-large", "too-complex",
    "blocked-address", "crashed", "step", "redirect",
)  # fmt: skip
_PROBLEMS: Final = ("warning", "error")
_ANSWERS: Final = ("2xx", "3xx", "4xx", "5xx", "none")


class Metrics(Collector):
    """All metrics, in a registry of their own.

    counts  of the engine
    alerts  gives the number of alerts published since the start, by kind and outcome
    live    gives the state of the service
    now     gives the time
    leads   of several nodes one tells of the store, or sums over nodes would count it several times
    """

    def __init__(
        self,
        counts: EngineCounts,
        alerts: Callable[[], Mapping[tuple[str, str], int]],
        live: Callable[[], LiveState],
        now: Callable[[], Instant],
        *,
        leads: Duty | None = None,
    ) -> None:
        self._counts, self._alerts, self._live, self._now = counts, alerts, live, now
        self._leads: Duty = leads or SoleDuty()
        self._registry = CollectorRegistry()
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Give all metrics in Prometheus's text format (`CONTENT_TYPE`)."""
        return generate_latest(self._registry)

    def describe(self) -> Iterable[Metric]:
        """Describe nothing ahead: a registry then takes the names from `collect`."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Give every metric of the service."""
        live, counts, now = self._live(), self._counts, self._now()
        yield from _of_process(live, counts)
        yield from _of_checks(counts, live)
        yield from _of_renders(counts, live)
        yield from _of_browser(counts)
        yield from _of_alerts(counts, self._alerts())
        if live.figures is not None and self._leads.is_held:
            yield from _of_store(live.figures, live.unread_channels, now)


def _of_process(live: LiveState, counts: EngineCounts) -> Iterator[Metric]:
    build = {"version": live.version, "python": platform.python_version(), "node": live.node}
    yield InfoMetricFamily("tocsin_build", "The program that runs.", value=build)
    yield _gauge("tocsin_started_timestamp_seconds", "When the service was started.", live.started_at / _S)
    problems = CounterMetricFamily("tocsin_problems", "Warnings and errors in the log.", labels=("level",))
    _fill(problems, {level: counts.problems[level] for level in _PROBLEMS})
    yield problems
    answers = CounterMetricFamily(
        "tocsin_http_answers", "Answers of the HTTP edge, by class; none: broken off before.", labels=("code",)
    )
    _fill(answers, {code: counts.answers[code] for code in _ANSWERS})
    yield answers
    yield _counter("tocsin_clock_steps_back", "How often the wall clock was set back.", counts.clock_steps_back)
    yield _gauge("tocsin_event_streams", "Readers of /events.", counts.streams)
    # A fetcher of number 0 is the main process itself.
    lags = {"main": live.lag_s} | {f"fetcher-{each.number}": each.lag_s for each in live.fetchers if each.number}
    lag = GaugeMetricFamily(
        "tocsin_loop_lag_seconds", "Delay of ready work in the event loop of a process.", labels=("process",)
    )
    _fill(lag, lags)
    yield lag


def _of_checks(counts: EngineCounts, live: LiveState) -> Iterator[Metric]:
    checks = CounterMetricFamily("tocsin_checks", "Checks whose result was written, by outcome.", labels=("outcome",))
    _fill(checks, {outcome: counts.outcomes[outcome] for outcome in map(str, CheckOutcome)})
    yield checks
    yield _histogram("tocsin_check_duration_seconds", "Duration of checks.", counts.checks_took)
    yield _counter("tocsin_not_modified", "Answers 304: the server did not send the page again.", counts.not_modified)
    yield _counter("tocsin_wire_bytes", "Bytes of answers, as they came over the wire.", counts.wire_bytes)
    yield _counter("tocsin_saved_bytes", "Bytes saved by answers 304.", counts.saved_bytes)
    yield _histogram(
        "tocsin_commit_seconds", "Duration of writing a batch of results to the store.", counts.commits_took
    )
    yield _gauge("tocsin_parts_held", "Parts of the hosts that this node works on.", live.parts)
    refused = "Results that were not written, because another node had taken their part of the hosts."
    yield _counter("tocsin_refused_results", refused, counts.refused_results)
    yield _counter("tocsin_store_failures", "Failed writes to the store; they are tried again.", counts.store_failures)
    yield _gauge(
        "tocsin_store_unwritten_seconds",
        "How long results could not be written; 0 if they can.",
        live.unwritten.for_s,
    )
    yield _gauge("tocsin_requests_in_flight", "Requests under way.", live.in_flight)
    yield _gauge(
        "tocsin_lateness_seconds",
        "How long the longest due page has waited for its request.",
        live.late_s,
    )
    yield _gauge("tocsin_hosts_crowded", "Hosts with more pages than can be checked in time.", live.crowded.total)
    yield _gauge(
        "tocsin_outage", "1 while this machine's own connection seems to be down.", live.outage_since is not None
    )
    yield _gauge(
        "tocsin_shortage",
        "1 while this machine is short of files, memory, ports or certificates.",
        live.shortage.error is not None,
    )
    yield _counter(
        "tocsin_shortages", "Checks, renderings and deliveries put off by a shortage.", live.shortage.put_off
    )
    ready = sum(fetcher.is_ready for fetcher in live.fetchers)
    yield _gauge("tocsin_fetchers", "Fetcher processes.", len(live.fetchers))
    yield _gauge("tocsin_fetchers_ready", "Fetcher processes that are ready for pages.", ready)
    restarts = counts.fetcher_restarts
    yield _counter("tocsin_fetcher_restarts", "Fetcher processes that had to be replaced.", restarts)


def _of_renders(counts: EngineCounts, live: LiveState) -> Iterator[Metric]:
    yield _gauge("tocsin_render_queue_limit", "Pages that may be rendered at once.", live.renders.limit)
    yield _gauge("tocsin_render_queue_running", "Pages that are rendered now.", live.renders.taken)
    renderings = CounterMetricFamily("tocsin_renderings", "Renderings that ended, by result.", labels=("result",))
    _fill(renderings, {result: counts.renderings[result] for result in _RENDERINGS})
    yield renderings


def _of_browser(counts: EngineCounts) -> Iterator[Metric]:
    visits = CounterMetricFamily(
        "tocsin_browser_visits", "Visits of pages in the browser, by what became of them.", labels=("result",)
    )
    _fill(visits, {result: counts.browser_visits[result] for result in _VISITS})
    yield visits
    yield _histogram("tocsin_browser_visit_seconds", "Duration of visits in the browser.", counts.visits_took)
    waited = "How long visits waited for a slot of the browser, and of the render limit."
    yield _histogram("tocsin_browser_wait_seconds", waited, counts.visits_waited)
    refused = "Requests of pages in the browser that the address policy refused, or that failed."
    yield _counter("tocsin_browser_refused", refused, counts.browser_refusals)


def _of_alerts(counts: EngineCounts, alerts: Mapping[tuple[str, str], int]) -> Iterator[Metric]:
    given = CounterMetricFamily(
        "tocsin_alerts", "Alerts, by type and outcome of the change.", labels=("type", "outcome")
    )
    for (kind, outcome), number in sorted(alerts.items()):
        given.add_metric((kind, outcome), number)
    yield given
    deliveries = CounterMetricFamily(
        "tocsin_channel_deliveries",
        "Attempts to deliver alerts to channels, by result.",
        labels=("channel", "result"),
    )
    refused = "Connections that the address policy refused to processes of channels, or that failed."
    yield _counter("tocsin_egress_refused", refused, counts.egress_refusals)
    for channel in sorted({channel for channel, _ in counts.deliveries}):
        for result in _DELIVERIES:
            deliveries.add_metric((channel, result), counts.deliveries[channel, result])
    yield deliveries


def _of_store(figures: StoreFigures, unread: Sequence[str], now: Instant) -> Iterator[Metric]:
    def age_s(since: Instant | None) -> float:
        return max(now - since, 0) / _S if since is not None else 0.0

    yield _gauge("tocsin_figures_age_seconds", "Age of the figures of the store.", age_s(figures.at))
    yield _gauge("tocsin_pages", "Pages that are watched.", figures.pages)
    yield _gauge("tocsin_render_queue_waiting", "Pages in the render queue.", figures.renders_waiting)
    oldest_s = age_s(figures.renders_oldest_at)
    yield _gauge(
        "tocsin_render_queue_oldest_seconds", "How long the oldest page in the render queue has waited.", oldest_s
    )
    yield _gauge("tocsin_questions_open", "Open questions without an answer.", figures.questions_open)
    asked_s = age_s(figures.questions_oldest_at)
    yield _gauge("tocsin_question_oldest_seconds", "Age of the oldest open question.", asked_s)
    yield _gauge("tocsin_store_bytes", "Bytes of the store's files.", figures.bytes)
    yield _gauge("tocsin_snapshot_bytes", "Bytes of the texts kept in the store.", figures.snapshot_bytes)
    if figures.free_bytes is not None:
        yield _gauge("tocsin_store_free_bytes", "Free bytes of the store's file system.", figures.free_bytes)
    yield from _of_channels(figures.channels, unread, age_s)
    nodes = GaugeMetricFamily("tocsin_nodes", "Nodes that work on the store, by state.", labels=("state",))
    _fill(nodes, {state: figures.nodes.get(state, 0) for state in get_args(NodeState)})
    yield nodes
    yield _gauge("tocsin_parts_without_node", "Parts of the hosts that no node works on.", figures.parts_alone)
    yield _gauge("tocsin_unrouted_alerts", "Alerts of the last week that no route took.", figures.unrouted)


def _of_channels(
    channels: Mapping[str, ChannelFigures], unread: Sequence[str], age_s: Callable[[Instant | None], float]
) -> Iterator[Metric]:
    failing = {name: float(channel.is_failing) for name, channel in channels.items()} | dict.fromkeys(unread, 1.0)
    of_channels: tuple[tuple[str, str, dict[str, float]], ...] = (
        (
            "tocsin_channel_backlog",
            "Alerts that wait for delivery to a channel.",
            {n: s.waiting for n, s in channels.items()},
        ),
        (
            "tocsin_channel_lag_seconds",
            "Age of the oldest alert that waits for a channel.",
            {n: age_s(s.oldest_at) for n, s in channels.items()},
        ),
        (
            "tocsin_dead_letters",
            "Alerts that a channel did not accept in time.",
            {n: s.dead for n, s in channels.items()},
        ),
        ("tocsin_channel_failing", "1 while a channel is backed off, or its secret cannot be read.", failing),
        (
            "tocsin_channel_disabled",
            "1 for a channel whose receiver answered 410 Gone.",
            {n: s.is_disabled for n, s in channels.items()},
        ),
        (
            "tocsin_channel_gathered",
            "Alerts that wait in digests of a channel.",
            {n: s.gathered for n, s in channels.items()},
        ),
        (
            "tocsin_channel_silenced",
            "Alerts for a channel that silences held back, as far as they are kept.",
            {n: s.silenced for n, s in channels.items()},
        ),
        (
            "tocsin_digest_overdue_seconds",
            "How long ago the oldest digest that a channel has not accepted was due.",
            {n: age_s(s.digest_due_at) for n, s in channels.items()},
        ),
    )
    for name, help_text, values in of_channels:
        gauge = GaugeMetricFamily(name, help_text, labels=("channel",))
        _fill(gauge, values)
        yield gauge
    digests = GaugeMetricFamily("tocsin_digests", "Digests of a channel, by state.", labels=("channel", "state"))
    for name, channel in channels.items():
        for state in ("open", "sealed", "accepted", "dead"):
            digests.add_metric((name, state), float(channel.bundles.get(state, 0)))
    yield digests


def _gauge(name: str, help_text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, help_text, value=float(value))


def _counter(name: str, help_text: str, value: float) -> Metric:
    return CounterMetricFamily(name, help_text, value=value)


def _histogram(name: str, help_text: str, spread: Histogram) -> Metric:
    buckets, so_far = [], 0
    for bound_ms, count in zip((*spread.bounds, None), spread.counts, strict=True):
        so_far += count
        buckets.append((str(bound_ms / 1000) if bound_ms is not None else "+Inf", so_far))
    return HistogramMetricFamily(name, help_text, buckets=buckets, sum_value=spread.total_ms / 1000)


def _fill(family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[str, float]) -> None:
    for label, value in values.items():
        family.add_metric((label,), float(value))
