"""A service with something to measure, and its metrics as documentation shows them.

`python -m tests.observing.measured` prints the table of `docs/metrics.md` anew.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from tests.fakes import START
from tocsin.adapters.metrics import Metrics
from tocsin.engine.activity import EngineCounts
from tocsin.model import (
    ChannelFigures,
    CheckReport,
    CheckResult,
    DueTime,
    FetcherLife,
    LiveState,
    RenderSlots,
    StoreFigures,
)

SECOND = 1_000_000
FIGURES = StoreFigures(
    at=START - 7 * SECOND,
    pages=1_000_000,
    position=77,
    alerts={},
    channels={
        "ops": ChannelFigures(
            waiting=3,
            oldest_at=START - 60 * SECOND,
            dead=2,
            is_failing=True,
            gathered=40,
            silenced=6,
            bundles={"open": 1, "dead": 1},
            digest_due_at=START - 120 * SECOND,
        ),
        "mail": ChannelFigures(gathered=1, digest_due_at=START + 120 * SECOND),
    },
    renders_waiting=5,
    renders_oldest_at=START - 30 * SECOND,
    questions_open=1,
    questions_oldest_at=START - 3600 * SECOND,
    bytes=550_000_000,
    snapshot_bytes=1_000_000,
    free_bytes=9_000_000_000,
    unrouted=8,
    nodes={"working": 2, "gone": 1},
    parts_alone=3,
)


def _fetcher(number: int, *, is_ready: bool) -> FetcherLife:
    return FetcherLife(number, 11 + number, is_ready, in_flight=8, checks=2, restarts=number, lag_s=0.25 * number)


LIVE = LiveState(
    started_at=START - 3600 * SECOND,
    version="1.2.3",
    in_flight=17,
    checks=4,
    fetchers=(_fetcher(0, is_ready=True), _fetcher(1, is_ready=False)),
    renders=RenderSlots(4, 1, taken=2),
    outage_since=None,
    late_s=2.5,
    lag_s=0.125,
    figures=FIGURES,
    node="one",
    parts=22,
)


def result_of(outcome: str, *, elapsed_ms: int = 80, received: int = 1000, saved: int = 0) -> CheckResult:
    """What a check came to, as far as it is counted."""
    report = CheckReport(
        "https://example.org/",
        outcome,
        bytes=received,
        elapsed_ms=elapsed_ms,
        not_modified=bool(saved),
        saved_bytes=saved,
    )
    return CheckResult(1, 1, report, START, START, DueTime())


def metrics_of(
    counts: EngineCounts, live: LiveState = LIVE, alerts: dict[tuple[str, str], int] | None = None
) -> Metrics:
    """The metrics of a service that stands so."""
    return Metrics(counts, lambda: alerts or {}, lambda: live, lambda: START)


def families() -> Iterator[Metric]:
    """Every metric there is, with its samples."""
    counts = EngineCounts()
    counts.committed([result_of("unchanged")])
    counts.deliveries["ops", "accepted"] = 1
    text = metrics_of(counts, alerts={("changed", "major"): 1}).text().decode()
    yield from text_string_to_metric_families(text)


def names_of(metric: Metric) -> list[str]:
    """What it is called in queries."""
    kept = (sample.name for sample in metric.samples if not sample.name.endswith("_created"))
    return list(dict.fromkeys(kept))


def table() -> str:
    """The table of the documentation."""
    lines = ["| metric | type | labels | what it tells |", "|---|---|---|---|"]
    for metric in families():
        name = names_of(metric)[0].removesuffix("_bucket")
        labels = sorted({label for sample in metric.samples for label in sample.labels} - {"le"})
        lines.append(
            f"| `{name}` | {metric.type} | {' '.join(f'`{label}`' for label in labels)} | {metric.documentation} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(f"{table()}\n")
