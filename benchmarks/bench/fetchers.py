"""What a second fetcher process brings: the real service on pages that are always due and always sent whole.

Nothing is pinned but nginx: the processes of the service and the site share all cores, as they would on one machine.
"""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.site import Site, serve
from benchmarks.bench.size_service import Service
from tocsin.adapters.stores import open_store
from tocsin.model import NewPage
from tocsin.spec.html.urls import watch_url

ARMS = (0, 1, 2)
IN_FLIGHT = 1000
"""As it is by default."""
_LOOK_S = 0.02
_PATIENCE_S = 120.0
_SOME = 1000


class Run(NamedTuple):
    """What a page cost, once things ran evenly: microseconds of processor (all processes) and on the wall."""

    cpu_us: float
    wall_us: float


async def measure(sizes: Sizes) -> list[Figure]:
    """Let services with so many fetchers work, in turns."""
    runs: dict[int, list[Run]] = defaultdict(list)
    async with serve() as site:
        for _ in range(sizes.rounds):
            for count in ARMS:
                runs[count].append(await _run(site, count, sizes.fetched))
    cpu = {count: [run.cpu_us for run in runs[count]] for count in ARMS}
    wall = {count: [run.wall_us for run in runs[count]] for count in ARMS}
    note = f"200s, nothing changed; {site.name} shares the cores"
    return [
        figure("service, no fetcher processes", cpu[0], "us CPU/page", beside="one", reference=cpu[1], note=note),
        figure(
            "service, two fetcher processes", cpu[2], "us CPU/page", beside="one", reference=cpu[1], aim=Aim("<=", 1.08)
        ),
        figure(
            "… pace, two fetcher processes",
            wall[2],
            "us/page",
            beside="one",
            reference=wall[1],
            speed=True,
            aim=Aim(">=", 1.5),
        ),
        figure("…", wall[2], "us/page", beside="none", reference=wall[0], speed=True),
    ]


async def _run(site: Site, fetchers: int, pages: int) -> Run:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await watch_due([site.url(number, "unconditional") for number in range(pages)], folder)
        async with Service(folder, in_flight=IN_FLIGHT, fetchers=fetchers) as service:
            # The web pages are loaded while the engine works already: that is the start's cost, not a page's.
            await _served(service)
            await _until(site, service, site.seen().requests + pages // 2)
            usage, seen, began = service.usage(), site.seen().requests, time.perf_counter()
            await _until(site, service, seen + pages)
            spent, done, ended = service.usage(), site.seen().requests, time.perf_counter()
        if troubles := service.troubles():
            raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    checks = done - seen
    return Run((spent.cpu_s - usage.cpu_s) / checks * 1e6, (ended - began) / checks * 1e6)


async def watch_due(urls: Sequence[str], folder: Path) -> None:
    """Watch pages that are all due at once: first checks would be spread, and the service would wait for them."""
    found = [watch_url(url) for url in urls]
    new = [NewPage(page.url, page.url, page.host, page.shard) for page in found]
    now = time.time_ns() // 1000
    async with await open_store(f"sqlite:{folder}/store.db", engine=True) as store:
        for start in range(0, len(new), _SOME):
            await store.add_pages(new[start : start + _SOME], now)
    with closing(sqlite3.connect(folder / "store.db")) as db, db:
        db.execute("update pages set next_at = ?", (now,))


async def _served(service: Service) -> None:
    until = time.monotonic() + _PATIENCE_S
    while '"http.ready"' not in service.said():
        service.demand_running()
        if time.monotonic() > until:
            raise RuntimeError(f"no web pages within {_PATIENCE_S:.0f} s: {service.said()[-1000:]}")
        await asyncio.sleep(_LOOK_S)


async def _until(site: Site, service: Service, requests: int) -> None:
    """Wait until the site has had so many requests."""
    until = time.monotonic() + _PATIENCE_S
    while (await asyncio.to_thread(site.seen)).requests < requests:
        service.demand_running()
        if time.monotonic() > until:
            raise RuntimeError(f"fewer than {requests} requests within {_PATIENCE_S:.0f} s: {service.said()[-1000:]}")
        await asyncio.sleep(_LOOK_S)
