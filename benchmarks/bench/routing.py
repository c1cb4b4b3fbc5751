"""Alerts and routes: one alert against a hundred of them, and renderings written with routes beside those without."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from benchmarks.bench.alerting import RENDERING, changed_alerts
from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.results import result_of
from benchmarks.bench.storing import add, all_tasks, claimed
from tocsin.adapters.stores import open_store
from tocsin.configuration.routes import read_routes
from tocsin.engine.alerting.routing import RouteList
from tocsin.events import CHANGED
from tocsin.model import AlertDraft, CheckResult, NewState, PageFlags, RateLimit, RenderCommit, RenderJob, Silence

CHANNELS = ("chat", "mail")
_MANY = 100
_AT_ONCE = 4  # renderings in a transaction, as many as there are slots
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
# What people would write; of three routes the first takes few alerts, the last all.
_FEW: tuple[dict[str, Any], ...] = (
    {"name": "press", "channels": "chat", "match": {"group": "press", "outcome": "major"}},
    {"name": "strikes", "channels": "chat", "match": {"words": ["strike", "closed today"]}, "continue": True},
    {"name": "rest", "channels": ["chat", "mail"], "quiet": "22:00-07:00"},
)
_WAYS: dict[str, tuple[dict[str, Any], ...]] = {
    "one route": ({"name": "all", "channels": list(CHANNELS), "match": {"outcome": ["minor", "major"]}},),
    "three routes": _FEW,
    "a digest": ({"name": "daily", "channels": list(CHANNELS), "digest": "24h"},),
}


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
    """Route alerts, and write renderings with an alert each."""
    many, none = _route_all(_routes(_many()), sizes), _route_all(_routes([]), sizes)
    without: list[float] = []
    routed: dict[str, list[float]] = {what: [] for what in _WAYS}
    for _ in range(sizes.rounds):
        without.append(await _write(max(sizes.alerts // 8, 8), _routes([])))
        for what, routes in _WAYS.items():
            routed[what].append(await _write(max(sizes.alerts // 8, 8), _routes(routes)))
    return [
        figure(f"an alert against {_MANY} routes", many, "us CPU/alert", aim=Aim("<=", 50)),
        figure("… against none", none, "us CPU/alert"),
        figure("renderings written, each alert to two channels", without, "us CPU/rendering"),
        *(
            figure(f"… {what}", costs, "us CPU/rendering", beside="no routes", reference=without, aim=Aim("<=", 1.05))
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


async def _write(count: int, routes: RouteList) -> float:
    """Write the renderings of changed pages, an alert each; returns microseconds of the processor for each."""
    with tempfile.TemporaryDirectory() as name:
        async with await open_store(f"sqlite:{Path(name)}/store.db", engine=True) as store:
            await store.set_channels(CHANNELS)
            names = [] if routes.routes[0].name == "" else [route.name for route in routes.routes]
            await store.set_routes(routes, names, _NOW)
            await add(store, count, hot=0)
            claim = await claimed(store)
            await store.commit(
                claim, [result_of(task, 1, changed=False) for task in await all_tasks(store, claim, count)]
            )
            tasks = await all_tasks(store, claim, count)
            await store.commit(claim, [_told(result_of(task, 1, changed=True)) for task in tasks])
            jobs = await store.claim_renders(claim, [task.page_id for task in tasks])
            drafts = changed_alerts([job.task for job in jobs])
            renderings = [_rendering_of(job, draft) for job, draft in zip(jobs, drafts, strict=True)]
            began = time.process_time()
            for start in range(0, count, _AT_ONCE):
                await store.commit_renderings(claim, renderings[start : start + _AT_ONCE])
            return (time.process_time() - began) / count * 1e6


def _told(result: CheckResult) -> CheckResult:
    verdict = result.verdict
    return result if verdict is None else replace(result, verdict=replace(verdict, awareness=True))


def _rendering_of(job: RenderJob, draft: AlertDraft) -> RenderCommit:
    at, state = (job.task.last.checked_at or 0) + 1, job.task.state
    return RenderCommit(
        page_id=job.page_id,
        host_id=job.task.host_id,
        rendering=RENDERING,
        served=tuple(verdict.id for verdict in job.verdicts),
        alerts=(draft,),
        set_at=at,
        state=None if state is None else NewState(at, state.fields, equal=True, validators=None, body_digest=None),
        prune=True,
        flags=PageFlags(),
        copies=(),
    )
