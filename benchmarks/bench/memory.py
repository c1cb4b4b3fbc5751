"""What a running service's memory does: over many checks, and with many requests in flight."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.size_running import reached
from benchmarks.bench.size_service import Service, Usage
from benchmarks.bench.size_stores import Shape, make_store, site_port

_SAMPLES = 50
_WARM = 0.2
"""The share of the checks after which memory should have come to rest."""

_PATIENCE_S = 120.0
_LOOK_S = 0.05


async def measure_growth(sizes: Sizes) -> list[Figure]:
    """Let a service make very many checks, and see whether its memory grows."""
    pages = sizes.watched[0]
    samples: list[tuple[int, Usage]] = []
    open_at_first = 0
    async with SizeSite(port=site_port()) as site:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            await make_store(Shape.usual(pages), site.port, folder)
            async with Service(folder) as service:
                for number in range(1, _SAMPLES + 1):
                    await reached(site, service, number * sizes.growth // _SAMPLES)
                    seen = await site.ask("stats")
                    samples.append((seen["pages"], service.usage()))
                    if number == int(_WARM * _SAMPLES):
                        open_at_first = seen["open"]
                open_at_last = (await site.ask("stats"))["open"]
    warm = samples[int(_WARM * _SAMPLES) - 1 :]
    grown = slope([(checks, usage.main_mb + usage.child_mb) for checks, usage in warm]) * 100_000
    first, last = (usage.main_mb + usage.child_mb for _, usage in (warm[0], warm[-1]))
    what = f"memory over {sizes.growth:,} checks of {pages:,} pages"
    files = f"descriptors {warm[0][1].files} -> {warm[-1][1].files}, connections {open_at_first} -> {open_at_last}"
    note = f"least squares after the first {_WARM:.0%}: {first:.1f} -> {last:.1f} MB; {files}"
    return [figure(what, [grown], "MB/100,000", note=note, aim=Aim("<=", 1))]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """How much the second number grows with the first one, by least squares."""
    mean_x, mean_y = (sum(point[axis] for point in points) / len(points) for axis in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread if spread else 0.0


async def measure_held(sizes: Sizes) -> list[Figure]:
    """Let a site keep few and many requests waiting, each of a host of its own, and compare."""
    few, many = sizes.held
    samples = []
    for _ in range(sizes.rounds):
        less, more = await _held(few), await _held(many)
        samples.append((more - less) * 1024 / (many - few))
    note = f"{many:,} beside {few:,}, each on a host of its own that brought a page before"
    return [figure("memory of a request in flight", samples, "KB/request", note=note, aim=Aim("<=", 75))]


async def _held(count: int) -> float:
    """Megabytes of anonymous memory with so many requests in flight."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with SizeSite() as site:
            await make_store(Shape(count, count), site.port, folder)
            await site.ask("heavy")
            async with Service(folder, in_flight=count) as service:
                # Each connection has brought a page by then: it has all the buffers that it will ever have.
                await reached(site, service, 2 * count)
                await site.ask("hold")
                until = time.monotonic() + _PATIENCE_S
                while (await site.ask("stats"))["held"] < count:
                    service.demand_running()
                    if time.monotonic() > until:
                        raise RuntimeError(f"fewer than {count} requests came: {service.said()[-1000:]}")
                    await asyncio.sleep(_LOOK_S)
                usage = service.usage()
                await site.ask("release")
    return usage.main_mb + usage.child_mb
