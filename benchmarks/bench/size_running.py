"""The real service at each length of its list: when it starts, what it takes, how fast it checks."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import LARGE, Shape, make_store, postpone, site_port

_LOOK_S = 0.02
_PATIENCE_S = 300.0


class Run(NamedTuple):
    """One service's figures.

    start_s   from the process's start to `engine.started`
    first_s   to the first page that the site was asked for
    main_mb   anonymous memory after the checks: of the main process, and
    child_mb  of its fetchers
    cost_us   processor time of a check
    """

    start_s: float
    first_s: float
    main_mb: float
    child_mb: float
    cost_us: float


async def measure(sizes: Sizes) -> list[Figure]:
    """Run the service on each list, in turns."""
    shapes = [Shape.usual(pages) for pages in sizes.watched]
    # What hosts cost: ten times as many, and one for each page, where nothing can be shared.
    longest = sizes.watched[-1]
    others = [Shape.wide(longest), Shape(longest, longest)] if longest > LARGE else []
    runs: dict[Shape, list[Run]] = {shape: [] for shape in (*shapes, *others)}
    async with SizeSite(port=site_port()) as site:
        for number in range(sizes.rounds):
            for shape in (*shapes, *(() if number else others)):
                runs[shape].append(await run_once(site, shape, sizes.checks))
        overdue = await start_overdue(site, shapes[-1])
    least = runs[shapes[0]]
    lines = []
    for shape, found in runs.items():
        lines += _figures(shape, found, least if shape is not shapes[0] else (), is_judged=shape in shapes[1:])
    what = f"service, {shapes[-1].pages:,} pages, stopped for a day: started"
    return [
        *lines,
        figure(what, [overdue[0]], "s", note="every page is overdue, and is spread"),
        figure("… first page asked for", [overdue[1]], "s", note="from the process's start"),
    ]


async def run_once(site: SizeSite, shape: Shape, checks: int) -> Run:
    """Start the service on a store of this shape, and let it make so many checks, twice: the first ones warm it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        await make_store(shape, site.port, folder)
        await site.ask("clear")
        async with Service(folder) as service:
            await reached(site, service, 1)
            first_s = (await site.ask("stats"))["first_at"] - service.begun_at
            await reached(site, service, checks)
            before, seen = service.usage(), (await site.ask("stats"))["pages"]
            await reached(site, service, seen + checks)
            after, seen = service.usage(), (await site.ask("stats"))["pages"] - seen
        if troubles := service.troubles():
            raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    cost_us = (after.cpu_s - before.cpu_s) / seen * 1e6
    return Run(service.ready_at - service.begun_at, first_s, after.main_mb, after.child_mb, cost_us)


async def start_overdue(site: SizeSite, shape: Shape) -> tuple[float, float]:
    """Start the service on a store that was left alone for a day; returns seconds to its start, and to a first page."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        postpone(await make_store(shape, site.port, folder))
        await site.ask("clear")
        async with Service(folder, at_launch="1h") as service:
            await reached(site, service, 1)
            first_s = (await site.ask("stats"))["first_at"] - service.begun_at
        return service.ready_at - service.begun_at, first_s


async def reached(site: SizeSite, service: Service, pages: int) -> None:
    """Wait until the site was asked for so many pages."""
    until = time.monotonic() + _PATIENCE_S
    while (await site.ask("stats"))["pages"] < pages:
        service.demand_running()
        if time.monotonic() > until:
            raise RuntimeError(f"fewer than {pages} checks within {_PATIENCE_S:.0f} s: {service.said()[-1000:]}")
        await asyncio.sleep(_LOOK_S)


def _figures(shape: Shape, runs: Sequence[Run], least: Sequence[Run], *, is_judged: bool) -> list[Figure]:
    what = f"service, {shape.pages:,} pages on {shape.hosts:,} hosts"
    beside = "the shortest list" if least else ""
    costs, least_costs = [run.cost_us for run in runs], [run.cost_us for run in least]
    return [
        figure(f"{what}: started", [run.start_s for run in runs], "s"),
        figure("… first page asked for", [run.first_s for run in runs], "s", note="from the process's start"),
        figure(
            "… processor time",
            costs,
            "us/check",
            beside=beside,
            reference=least_costs,
            speed=True,
            aim=Aim(">=", 0.95) if is_judged else None,
            note="all 304",
        ),
        *_memory(runs, least, is_judged=is_judged),
    ]


def _memory(runs: Sequence[Run], least: Sequence[Run], *, is_judged: bool) -> list[Figure]:
    taken = [run.main_mb + run.child_mb for run in runs]
    note = f"anonymous; fetchers {max(run.child_mb for run in runs):.0f} MB of it"
    lines = [figure("… memory", taken, "MB", note=note)]
    if least:
        before = min(run.main_mb + run.child_mb for run in least)
        more = [each - before for each in taken]
        lines.append(
            figure("… memory more than the shortest list", more, "MB", aim=Aim("<=", 64) if is_judged else None)
        )
    return lines
