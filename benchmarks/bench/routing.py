"""Alerts and routes: one alert against a hundred of them, and publishing with routes beside publishing without."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.bench.alerting import changed_alerts
from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.results import result_of
from benchmarks.bench.storing import BATCH, add, all_tasks, claimed
from tocsin.adapters.stores import open_store
from tocsin.configuration.routes import read_routes
from tocsin.engine.alerting.routing import RouteList
from tocsin.events import CHANGED
from tocsin.model import AlertDraft, RateLimit, Silence

CHANNELS = ("chat", "mail")
_MANY = 100
_NONE = "no routes"
_NOW = 1_790_000_000_000_000
_ADDED = [f"The office is closed on Fridays and on {number} other days." for number in range(20)]
_DATA = {
    "page": {"id": "1", "url": "https://www.example.org/news/a", "group": "press", "text": "The council"},
    "outcome": "minor",
    "basis": "declared",
    "rule": "T44",
    "changes": [{"field": "topper"}],
    "difference": {"added": _ADDED, "removed": [], "cut": False},
    "rendering": {"title": "A page of the council"},
}
# What people would write: the first takes few alerts, the last all.
_FEW: tuple[dict[str, Any], ...] = (
    {"name": "press", "channels": "chat", "match": {"group": "press", "outcome": "major"}},
    {"name": "strikes", "channels": "chat", "match": {"words": ["strike", "closed today"]}, "continue": True},
    {"name": "rest", "channels": ["chat", "mail"], "quiet": "22:00-07:00"},
)


class _Context:
    """A store that has counted nothing."""

    silences: Sequence[Silence] = ()

    def page_route(self, _page_id: int) -> str | None:
        """No page names a route."""
        return None

    def take(self, _channel: str, _route: str, _limit: RateLimit) -> bool:
        """No limit is reached."""
        return True


async def measure(sizes: Sizes) -> list[Figure]:
    """Route alerts, and publish them."""
    many, none = _route_all(_routes(_many()), sizes), _route_all(_routes([]), sizes)
    without: list[float] = []
    routed: dict[str, list[float]] = {_NONE: [], "three routes": []}
    for _ in range(sizes.rounds):
        without.append(await _publish(sizes.alerts, None))
        for what, routes in ((_NONE, ()), ("three routes", _FEW)):
            routed[what].append(await _publish(sizes.alerts, _routes(routes)))
    return [
        figure(f"an alert against {_MANY} routes", many, "us CPU/alert", aim=Aim("<=", 50)),
        figure("… against none", none, "us CPU/alert"),
        *(
            figure(
                f"alerts published, two channels, {what}",
                costs,
                "us CPU/alert",
                beside="without a router",
                reference=without,
                aim=None if what != _NONE else Aim("<=", 1.05),
            )
            for what, costs in routed.items()
        ),
    ]


def _many() -> list[dict[str, Any]]:
    """A hundred routes with all kinds of matchers, of which only the last takes the alert."""
    found: list[dict[str, Any]] = []
    for number in range(_MANY - 1):
        matches: tuple[dict[str, Any], ...] = (
            {"group": f"g{number}", "outcome": "major"},
            {"host": f"*.h{number}.example", "kind": ["changed", "recovered"]},
            {"url": f"https://h{number}.example/*/news"},
            {"words": [f"word{number}", "closed on mondays"]},
            {"kind": "changed", "rule": "T46"},
        )
        found.append({"name": f"r{number}", "channels": "chat", "match": matches[number % len(matches)]})
    return [*found, {"name": "rest", "channels": list(CHANNELS), "quiet": "22:00-07:00", "at_most": "20 per hour"}]


def _routes(routes: Sequence[dict[str, Any]]) -> RouteList:
    return RouteList(read_routes(list(routes), "bench"), CHANNELS, "Europe/Berlin")


def _route_all(routes: RouteList, sizes: Sizes) -> list[float]:
    draft, context, samples = AlertDraft("id", CHANGED, 1, _NOW, {"data": _DATA}), _Context(), []
    for _ in range(sizes.rounds * 3):
        began = time.process_time()
        for number in range(sizes.alerts):
            routes.route(draft, _NOW + number, context)
        samples.append((time.process_time() - began) / sizes.alerts * 1e6)
    return samples


async def _publish(count: int, routes: RouteList | None) -> float:
    """Publish so many alerts; returns microseconds of the processor for each."""
    with tempfile.TemporaryDirectory() as name:
        async with await open_store(f"sqlite:{Path(name)}/store.db", engine=True) as store:
            await store.set_channels(CHANNELS)
            await store.set_routes(routes, [route.name for route in routes.routes] if routes else [], _NOW)
            await add(store, count, hot=0)
            claim = await claimed(store)
            tasks = await all_tasks(store, claim, count)
            drafts = list(changed_alerts(tasks))
            cost_s = 0.0
            for start in range(0, count, BATCH):
                pairs = list(zip(tasks, drafts, strict=True))[start : start + BATCH]
                results = [result_of(task, 1, changed=False, alerts=(draft,)) for task, draft in pairs]
                began = time.process_time()
                await store.commit(claim, results)
                cost_s += time.process_time() - began
    return cost_s / count * 1e6
