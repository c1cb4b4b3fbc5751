"""Tells whether each change of a page that a script makes was found once, told once, and read in the browser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.soak.evidence import Evidence
from benchmarks.soak.judge import CHANGED, judge_alerts, judge_pages, judge_questions


def judge(evidence: Evidence, taken: Sequence[tuple[str, dict[str, Any]]], versions: Mapping[str, int]) -> list[str]:
    """Find whatever is wrong.

    taken     alerts that the receiver got, under their ids, in order
    versions  the version that each page has in the end; the first was 1
    """
    return [
        *judge_pages(evidence, versions),
        *judge_alerts(evidence),
        *judge_questions(evidence),
        *_judge_counts(evidence, versions),
        *_judge_taken(evidence, taken),
    ]


def _judge_counts(evidence: Evidence, versions: Mapping[str, int]) -> Iterator[str]:
    """Each change has one verdict and one alert, and was read in the browser both times."""
    alerts = [alert for alert in evidence.alerts if alert.type == CHANGED]
    told = Counter(alert.page_id for alert in alerts)
    for page, url in evidence.pages.items():
        changes = versions[url] - 1
        if (verdicts := len(evidence.verdicts.get(page, ()))) != changes:
            yield f"{url}: {changes} changes, {verdicts} verdicts"
        if told[page] != changes:
            yield f"{url}: {changes} changes, {told[page]} alerts"
    for alert in alerts:
        if (kind := alert.event["data"]["rendering"]["kind"]) != "browser":
            yield f"alert {alert.id}: its rendering is of kind {kind}"


def _judge_taken(evidence: Evidence, taken: Sequence[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Every alert arrived; one that came again is the same."""
    events = {alert.id: alert.event for alert in evidence.alerts}
    yield from (f"alert {id_} never arrived" for id_ in events.keys() - {id_ for id_, _ in taken})
    for id_, event in taken:
        if event != events.get(id_):
            yield f"alert {id_} came with another content than the outbox holds"
