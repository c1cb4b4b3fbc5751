"""`tocsin check --from`: many pages on slow hosts, at once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bench.measure import Child, Figure, Sizes, figure, run_child, settings
from benchmarks.bench.processes import Origin

DELAY_MS = 300
_CONCURRENCY = 16
_SETTINGS = f'[hosts]\ndelay = "0s"\nconcurrency = {_CONCURRENCY}\n'


async def measure(sizes: Sizes) -> list[Figure]:
    """Check a list of new pages from a fresh store, beside bare requests for the same ones."""
    ours: list[Child] = []
    bare: list[Child] = []
    seen: list[float] = []
    async with Origin() as origin:
        await origin.ask(f"set?delay_ms={DELAY_MS}")
        for _ in range(sizes.rounds):
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                listed = folder / "pages.txt"
                listed.write_text("\n".join(origin.url(n, sizes.hosts) for n in range(sizes.pages)), encoding="utf-8")
                in_flight = str(sizes.hosts * _CONCURRENCY)
                bare.append(run_child(folder, str(listed), in_flight, module="benchmarks.bench.bare"))
                await origin.ask("set")
                configuration = settings(folder, more=_SETTINGS)
                ours.append(run_child(folder, "--config", str(configuration), "check", "--from", str(listed), "--json"))
                seen.append(float((await origin.ask("stats"))["most_in_flight"]))
                _demand_whole(ours[-1], sizes.pages)
    return list(_figures(sizes, ours, bare, seen))


def _figures(sizes: Sizes, ours: list[Child], bare: list[Child], seen: list[float]) -> Iterator[Figure]:
    what = f"check --from: {sizes.pages:,} pages, {sizes.hosts} hosts, {DELAY_MS} ms"
    walls = [child.wall_s for child in ours]
    yield figure(what, walls, "s", beside="bare aiohttp", reference=[child.wall_s for child in bare], note="under 3 s")
    bound = DELAY_MS / 1000 * sizes.pages / max(seen)
    yield figure("…", walls, "s", beside="delay x pages / in flight", reference=[bound])
    yield figure("… in flight at most, as the site saw it", seen, "requests", note="over 500")
    costs = [child.cpu_s for child in ours]
    yield figure("… processor time", costs, "s", beside="bare aiohttp", reference=[child.cpu_s for child in bare])
    peaks = [child.peak_mb for child in ours]
    yield figure(
        "… peak memory",
        peaks,
        "MB",
        beside="bare aiohttp",
        reference=[child.peak_mb for child in bare],
        note="under 150 MB",
    )


def _demand_whole(child: Child, pages: int) -> None:
    first = sum(json.loads(line)["outcome"] == "first" for line in child.said.splitlines() if line.startswith("{"))
    if child.status or first != pages:
        raise RuntimeError(f"check ended with {child.status}, {first} of {pages} pages stored: {child.said[-500:]}")
