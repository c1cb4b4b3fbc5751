"""How soon a service answers after its start: beside an engine with much to do, and beside one with nothing to do."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import aiohttp

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import Shape, make_store, site_port

# Each path, what is accepted, and what its first answer of 200 means.
_ASKED = {
    "/readyz": ("*/*", "ready"),
    "/": ("text/html", "… first web page"),
    "/api/v1/service": ("application/json", "… first answer of the API"),
}
_LOOK_S, _PATIENCE_S = 0.02, 300.0
_MOST_PAGES = 10_000


async def measure(sizes: Sizes) -> list[Figure]:
    """Start the service on a list that is due all the time, and on the same list with nothing due, in turns."""
    pages = min(sizes.watched[-1], _MOST_PAGES)
    found = defaultdict[tuple[str, bool], list[float]](list)
    async with SizeSite(port=site_port()) as site:
        for _ in range(sizes.rounds):
            for is_busy in (False, True):
                for path, took_s in (await start_once(site, pages, is_busy=is_busy)).items():
                    found[path, is_busy].append(took_s)
    return [
        figure(
            f"starting, {pages:,} pages always due: {name}" if path == "/readyz" else name,
            found[path, True],
            "s",
            beside="nothing due",
            reference=found[path, False],
            aim=Aim("<=", 1.5),
            note="from the process's start",
        )
        for path, (_, name) in _ASKED.items()
    ]


async def start_once(site: SizeSite, pages: int, *, is_busy: bool) -> Mapping[str, float]:
    """Start a service; returns the seconds from its process's start to the first 200 of each path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await make_store(Shape.usual(pages)._replace(is_due=is_busy), site.port, folder)
        service = Service(folder, every="1s" if is_busy else "24h")
        async with asyncio.TaskGroup() as group:
            # Asked while it starts: what is answered before it says that it has started counts, too.
            asking = group.create_task(_ask(service), name="first answers")
            async with service:
                found = await asking
        if troubles := service.troubles():
            raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    return found


async def _ask(service: Service) -> dict[str, float]:
    """Ask for all paths, one after the other, until each was answered 200."""
    until, found = time.monotonic() + _PATIENCE_S, dict[str, float]()
    async with aiohttp.ClientSession() as session:
        while missing := _ASKED.keys() - found.keys():
            if time.monotonic() > until:
                raise RuntimeError(f"not answered within {_PATIENCE_S:.0f} s: {missing}")
            await asyncio.sleep(_LOOK_S)
            if not service.is_listening():
                continue
            for path in missing:
                async with session.get(service.url() + path, headers={"Accept": _ASKED[path][0]}) as answer:
                    if answer.status == 200:
                        found[path] = time.time() - service.begun_at
    return found
