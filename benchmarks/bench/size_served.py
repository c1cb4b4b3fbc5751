"""The lists of web pages and API on a long list of pages, over sockets; and a list taken by the API."""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from pathlib import Path

import aiohttp

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import LARGE, Shape, make_store, site_port

_LISTS = (
    "/pages",
    "/pages?view=problems",
    "/pages?view=recent&group=main",
    "/pages?view=quiet",
    "/pages?sort=title",
    "/pages?sort=host&more=1",
    "/pages?by=host&q=127.1.0.0",
    "/pages?q=page",
    "/pages?q=page+benchmark+nowhere",
    "/pages?q=town+hall",
    "/pages?q=notices+elsewhere",
    "/changes",
    "/changes?show=problems",
    "/questions",
    "/questions?show=rules",
    "/activity",
    "/settings/audit",
    "/api/docs",
    "/api/openapi.json",
    "/api/v1/pages?total=true&limit=200",
    "/api/v1/pages?q=of&total=true&limit=200",
    "/api/v1/pages?q=town+hall&total=true",
    "/api/v1/pages?sort=changed_at&total=true",
    "/api/v1/pages?view=quiet&group=main&total=true",
    "/api/v1/alerts",
    "/api/v1/alerts/unseen",
    "/api/v1/alerts?problems=true",
    "/api/v1/alerts?since=2026-01-01T00:00:00Z",
    "/feed.atom",
    "/metrics",
)
_REQUESTS, _FEW = 40, 3
_SOON_MS = 100
_WITHIN_S = 20
_LOOK_S = 0.2
_QUIET_S = 3.0
"""After a start the engine looks through all pages; who comes then is measured as the first."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Ask for each list, the first time after a start and then again and again; then have a list taken."""
    pages = sizes.watched[-1]
    shape = Shape.usual(pages)._replace(is_due=False)
    async with SizeSite(port=site_port()) as site:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            await make_store(shape, site.port, folder)
            async with Service(folder, every="24h") as service, aiohttp.ClientSession() as session:
                url, is_long = service.url(), pages >= LARGE
                await answered(session, f"{url}/readyz")
                firsts = [await _ms(session, url + path) for path in _LISTS]
                await asyncio.sleep(_QUIET_S if is_long else 0)
                rest = [
                    [await _ms(session, url + path) for _ in range(_REQUESTS if is_long else _FEW)] for path in _LISTS
                ]
                took_s = await _import(session, url, shape, site.port, sizes.listed)
    worst = max(range(len(_LISTS)), key=lambda at: _p95(rest[at]))
    aim = Aim("<=", _SOON_MS)
    what = f"lists of {pages:,} pages, {len(_LISTS)} of them: the slowest first request"
    return [
        figure(what, [max(firsts)], "ms", aim=aim, note=_LISTS[firsts.index(max(firsts))]),
        figure("… the slowest at the 95th percentile", [_p95(rest[worst])], "ms", aim=aim, note=_LISTS[worst]),
        *(
            figure(f"… {path} at the 95th percentile", [_p95(each)], "ms", aim=aim)
            for path, each in zip(_LISTS, rest, strict=True)
        ),
        figure("… the median of all", [statistics.median(each for some in rest for each in some)], "ms"),
        figure(
            f"{sizes.listed:,} pages added by POST /api/v1/imports",
            [took_s],
            "s",
            aim=Aim("<=", max(sizes.listed / 100_000, 1) * _WITHIN_S),
            note=f"to {pages:,} that are watched",
        ),
    ]


async def answered(session: aiohttp.ClientSession, url: str) -> None:
    """Wait until it is answered with success."""
    while True:
        async with session.get(url) as response:
            if response.ok:
                return
        await asyncio.sleep(_LOOK_S)


async def _ms(session: aiohttp.ClientSession, url: str) -> float:
    began = time.perf_counter()
    async with session.get(url, headers={"Accept": "text/html, application/json, */*"}) as response:
        await response.read()
        response.raise_for_status()
    return (time.perf_counter() - began) * 1000


async def _import(session: aiohttp.ClientSession, url: str, shape: Shape, port: int, pages: int) -> float:
    text = "\n".join(f"{shape.url(number, port)}?new" for number in range(pages))
    began = time.perf_counter()
    async with session.post(f"{url}/api/v1/imports", data=text.encode()) as response:
        response.raise_for_status()
        at = response.headers["Location"]
    while True:
        async with session.get(url + at) as response:
            job = await response.json()
        if job["state"] != "running":
            break
        await asyncio.sleep(_LOOK_S)
    if job["state"] != "done" or job["result"]["added"] != pages:
        raise RuntimeError(f"the list was not taken: {job}")
    return time.perf_counter() - began


def _p95(samples: list[float]) -> float:
    return sorted(samples)[int(0.95 * len(samples))]
