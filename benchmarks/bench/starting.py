"""How soon a service answers after its start: beside an engine with much to do, and beside one with nothing to do."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import aiohttp

from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.size_asking import SizeSite
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import Shape, make_store, site_port

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.bench.measure import Figure, Sizes

ASKED: Final = {"/readyz": "*/*", "/": "text/html", "/api/v1/service": "application/json"}
"""What is asked for again and again until it is answered 200, and what is accepted."""
_NAMES: Final = {"/readyz": "ready", "/": "… first web page", "/api/v1/service": "… first answer of the API"}
_LOOK_S: Final = 0.02
_PATIENCE_S: Final = 300.0
_MOST_PAGES: Final = 10_000


async def measure(sizes: Sizes) -> list[Figure]:
    """Start the service on a list that is due all the time, and on the same list with nothing due, in turns."""
    pages = min(sizes.watched[-1], _MOST_PAGES)
    busy: dict[str, list[float]] = {path: [] for path in ASKED}
    idle: dict[str, list[float]] = {path: [] for path in ASKED}
    async with SizeSite(port=site_port()) as site:
        for _ in range(sizes.rounds):
            for is_busy, found in ((False, idle), (True, busy)):
                for path, took_s in (await start_once(site, pages, is_busy=is_busy)).items():
                    found[path].append(took_s)
    return [
        figure(
            f"service, {pages:,} pages always due: {name}" if path == "/readyz" else name,
            busy[path],
            "s",
            beside="the same, nothing due",
            reference=idle[path],
            aim=Aim("<=", 1.5),
            note="from the process's start",
        )
        for path, name in _NAMES.items()
    ]


async def start_once(site: SizeSite, pages: int, *, is_busy: bool) -> Mapping[str, float]:
    """Start a service; returns the seconds from its process's start to the first 200 of each path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await make_store(Shape.usual(pages)._replace(is_due=is_busy), site.port, folder)
        service = Service(folder, every="1s" if is_busy else "24h")
        async with asyncio.TaskGroup() as group:
            # Beside the wait for its start: what is answered before that counts, too.
            asking = group.create_task(answered(service), name="first answers")
            async with service:
                found = await asking
        if troubles := service.troubles():
            raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    return found


async def answered(service: Service) -> dict[str, float]:
    """Ask for all paths, one after the other, until each was answered 200."""
    until, found = time.monotonic() + _PATIENCE_S, dict[str, float]()
    async with aiohttp.ClientSession() as session:
        while len(found) < len(ASKED):
            if time.monotonic() > until:
                raise RuntimeError(f"not answered within {_PATIENCE_S:.0f} s: {ASKED.keys() - found.keys()}")
            await asyncio.sleep(_LOOK_S)
            if not service.is_listening():
                continue
            for path in ASKED.keys() - found.keys():
                async with session.get(service.url() + path, headers={"Accept": ASKED[path]}) as answer:
                    if answer.status == 200:
                        found[path] = time.time() - service.begun_at
    return found
