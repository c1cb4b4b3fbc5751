"""What a page costs besides fetching it: the real engine and store, and answers that are there at once.

python -m benchmarks.bench.engine PAGES ROUNDS     measures, alone on its core; prints its samples as JSON
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import msgspec
import uvloop

from benchmarks.bench.measure import Figure, Sizes, Stopwatch, figure, run_child, settings, stopwatch
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.app.assembly import Assembly, open_store_for
from tocsin.app.channels import OpenChannels
from tocsin.app.executing import GC_THRESHOLDS, keep_freed_memory
from tocsin.configuration import load
from tocsin.model import CheckResult, HopRequest, HopResponse, NewPage
from tocsin.ports import Session
from tocsin.settings import Settings
from tocsin.spec.html.urls import shard_of

WAYS = ("all changed", "5 % changed", "all 304")
HOSTS = 200
_TURNS = 5
_SETTINGS = """
[fetch]
in_flight = 200
fetchers = 0
unconditional_every = 1000000
[hosts]
delay = "0s"
[pages]
min_gap = "0s"
tell = "major"
minor_threshold = 1000000
durational_threshold = "3650d"
"""
_PAGE = """<!doctype html><html lang=en><head><meta charset="utf-8"><title>A page</title>
<meta name="created" content="2020-05-01"><meta name="topper-major" content="2021-03-04">
<meta name="topper-minor" content="2022-05-06 2023-07-08"><meta name="page-version" content="{}"></head><body>Text"""


class InstantSite:
    """Implements `ports.Fetcher` and its session: every page is there at once, in the version it is set to.

    percent  of the pages change between two requests for them
    is_304   a request with conditions is told that nothing changed
    """

    def __init__(self) -> None:
        self.percent, self.is_304 = 0, False
        self._asked: Counter[str] = Counter()

    def shared(self) -> Session:
        """The session that all checks share."""
        return self

    @asynccontextmanager
    async def fresh(self) -> AsyncIterator[Session]:
        """The same one."""
        yield self

    async def get(self, request: HopRequest) -> HopResponse:
        """Answer at once."""
        url = request.url
        if url.endswith("/robots.txt"):
            return HopResponse(url, 404, (("content-type", "text/plain"),), b"none", 4, 1)
        if self.is_304 and any(name == "If-None-Match" for name, _ in request.headers):
            return HopResponse(url, 304, (("etag", '"1"'),), b"", 0, 1)
        self._asked[url] += int(int(url.rpartition("/")[2]) % 100 < self.percent)
        body = _PAGE.format(self._asked[url]).encode()
        headers = (("content-type", "text/html; charset=utf-8"), ("etag", '"1"'))
        return HopResponse(url, 200, headers, body, len(body), 1)


async def measure(sizes: Sizes) -> list[Figure]:
    """Measure in a child that has the second core to itself, where there are two."""
    with tempfile.TemporaryDirectory() as name:
        numbers = (str(max(sizes.way_pages, HOSTS)), str(max(sizes.rounds, 1)))
        child = run_child(Path(name), *numbers, module="benchmarks.bench.engine")
    if child.status:
        raise RuntimeError(f"the engine ended with {child.status}: {child.said[-2000:]}")
    samples: dict[str, list[float]] = json.loads(child.said.splitlines()[-1])
    return [figure(f"engine without fetching, {way}", samples[way], "us CPU/page") for way in WAYS]


class Bench:
    """One engine on one store, over and over."""

    def __init__(self, configured: Settings, pages: int) -> None:
        pages_settings = msgspec.structs.replace(configured.pages, every=timedelta(milliseconds=2))
        self._settings = msgspec.structs.replace(configured, pages=pages_settings)
        self._pages = pages
        self._site = InstantSite()
        self.samples: dict[str, list[float]] = defaultdict(list)

    async def watch(self) -> None:
        """Put the pages on the list."""
        hosts = [f"127.0.0.{number + 1}" for number in range(HOSTS)]
        new = [f"http://{hosts[number % HOSTS]}/p/{number}" for number in range(self._pages)]
        async with open_store_for(self._settings, engine=True) as store:
            for start in range(0, len(new), 1000):
                some = new[start : start + 1000]
                names = [url.split("/")[2] for url in some]
                rows = [NewPage(url, url, host, shard_of(host)) for url, host in zip(some, names, strict=True)]
                # Long ago, so that their first checks are due.
                await store.add_pages(rows, 0)

    async def run(self, way: str, checks: int) -> None:
        """Check so many times as a service does, every page again and again; the rest of the last batch is beside."""
        self._site.is_304 = way == "all 304"
        self._site.percent = {"all changed": 100, "5 % changed": 5}.get(way, 0)
        seen: Counter[str] = Counter()
        stopping = asyncio.Event()

        def committed(results: Sequence[CheckResult]) -> None:
            seen.update(str(result.report.outcome) for result in results)
            # Pages are due again at once: some are checked a second time before the last one is stored first.
            if (seen["first"] if way == "first" else seen.total()) >= checks:
                stopping.set()

        watch = Stopwatch([], [])
        async with open_store_for(self._settings, engine=True) as store:
            telemetry = LogTelemetry(msgspec.structs.replace(self._settings.log, level="warning"))
            engine = Assembly(
                self._settings,
                store,
                self._site,
                OpenChannels(self._settings),
                telemetry,
                request_id=None,
                on_committed=committed,
            )
            with stopwatch(watch):
                await engine.runner.serve(stopping, at_launch=timedelta(days=36500), cron="")
        _demand(way, seen)
        self.samples[way].append(watch.cpu_s[0] / seen.total() * 1e6)


def _demand(way: str, seen: Counter[str]) -> None:
    """Raise unless all went as planned."""
    changed = seen["minor"] / seen.total()
    planned = {"all changed": 1.0, "5 % changed": 0.05}.get(way, 0.0)
    if way != "first" and (set(seen) - {"minor", "unchanged"} or abs(changed - planned) > 0.02):
        raise RuntimeError(f"{way}: {dict(seen)}")


async def run_engine(pages: int, rounds: int) -> dict[str, list[float]]:
    """Measure all ways, so many times over."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        configured = load(config=str(settings(folder, more=_SETTINGS)), environ={}, cwd=folder).settings
        bench = Bench(configured, pages)
        await bench.watch()
        await bench.run("first", pages)
        for _ in range(rounds):
            for way in WAYS:
                await bench.run(way, _TURNS * pages)
        return bench.samples


def main() -> None:
    """Measure with the numbers given, on the last core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    pages, rounds = (int(argument) for argument in sys.argv[1:3])
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    keep_freed_memory()
    print(json.dumps(uvloop.run(run_engine(pages, rounds))))


if __name__ == "__main__":
    main()
