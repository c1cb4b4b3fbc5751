"""Ten people who look at a service of many pages, and edit now and then, while it checks: what checks that costs."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from contextlib import asynccontextmanager, suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp

from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.size_asking import SizeSite
from benchmarks.bench.size_running import reached
from benchmarks.bench.size_served import answered
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import LARGE, Shape, make_store, site_port

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from benchmarks.bench.measure import Figure, Sizes

PEOPLE = 10
_EVERY_S = 1.0
_LOOKED_AT = (
    "/",
    "/?view=problems",
    "/?q=page+benchmark",
    "/pages/{page}",
    "/changes",
    "/questions",
    "/activity",
    "/settings/force",
    "/api/v1/pages?view=new&total=true",
    "/api/v1/alerts",
    "/api/v1/live",
)
_EDIT_EACH = 12
"""Every so many looks a page is paused, and resumed the next time."""
_TURN_S, _SHORT_TURN_S = 10.0, 1.0


async def measure(sizes: Sizes) -> list[Figure]:
    """Let the service check the longest list, in turns alone and with people."""
    pages = sizes.watched[-1]
    turn_s = _TURN_S if pages >= LARGE else _SHORT_TURN_S
    rates: dict[bool, list[float]] = defaultdict(list)
    costs: dict[bool, list[float]] = defaultdict(list)
    async with SizeSite(port=site_port()) as site:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            await make_store(Shape.usual(pages), site.port, folder)
            async with Service(folder) as service:
                await reached(site, service, sizes.checks)
                for _ in range(sizes.rounds):
                    for is_used in (False, True):
                        rate, cost = await _turn(site, service, turn_s, is_used=is_used)
                        rates[is_used].append(rate)
                        costs[is_used].append(cost)
            if troubles := service.troubles():
                raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    what = f"checks of {pages:,} pages while {PEOPLE} people use the web pages"
    note = f"each looks once a second and follows the stream; every {_EDIT_EACH}th look is an edit"
    return [
        figure(what, rates[True], "1/s", beside="nobody", reference=rates[False], aim=Aim(">=", 0.9), note=note),
        figure("… processor time", costs[True], "us/check", beside="nobody", reference=costs[False], speed=True),
    ]


async def _turn(site: SizeSite, service: Service, turn_s: float, *, is_used: bool) -> tuple[float, float]:
    """Give checks a second, and processor time of the service for each, in us."""
    async with people(service.url() if is_used else None):
        before, seen = service.usage(), (await site.ask("stats"))["pages"]
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(turn_s)
        seen = (await site.ask("stats"))["pages"] - seen
        took_s = asyncio.get_running_loop().time() - began
        after = service.usage()
    return seen / took_s, (after.cpu_s - before.cpu_s) / max(seen, 1) * 1e6


@asynccontextmanager
async def people(url: str | None) -> AsyncIterator[None]:
    """Have ten people use the service at this URL inside; with None, nobody."""
    if url is None:
        yield
        return
    turns = count()
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session, asyncio.TaskGroup() as group:
        await answered(session, f"{url}/readyz")
        tasks = []
        for number in range(PEOPLE):
            tasks.append(group.create_task(_look(session, url, number, turns), name=f"person-{number}"))
            tasks.append(group.create_task(_follow(session, url), name=f"follower-{number}"))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _look(session: aiohttp.ClientSession, url: str, number: int, turns: count[int]) -> None:
    await asyncio.sleep(number * _EVERY_S / PEOPLE)
    loop = asyncio.get_running_loop()
    next_at = loop.time()
    while True:
        turn = next(turns)
        if turn % _EDIT_EACH == _EDIT_EACH - 1:
            verb = "pause" if turn // _EDIT_EACH % 2 else "resume"
            asked = session.post(f"{url}/api/v1/pages/1/{verb}")
        else:
            path = _LOOKED_AT[turn % len(_LOOKED_AT)].format(page=turn % PEOPLE + 1)
            asked = session.get(url + path, headers={"Accept": "text/html, application/json"})
        async with asked as response:
            await response.read()
            response.raise_for_status()
        next_at += _EVERY_S
        await asyncio.sleep(max(next_at - loop.time(), 0))


async def _follow(session: aiohttp.ClientSession, url: str) -> None:
    timeout = aiohttp.ClientTimeout(total=None)
    async with session.get(f"{url}/events", timeout=timeout) as response:
        response.raise_for_status()
        with suppress(aiohttp.ClientPayloadError):
            async for _ in response.content:
                pass
