"""A long list of pages, taken from a file: time, and memory that does not grow with it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks.bench.measure import Aim, Child, Figure, Sizes, figure, run_child, settings
from benchmarks.bench.size_stores import Shape

_SHORTER = 10
_LONG = 100_000
"""From so many pages on, one round tells enough."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Import a list, and one that is ten times shorter."""
    long, short = [], []
    for _ in range(1 if sizes.listed >= _LONG else sizes.rounds):
        short.append(_import(sizes.listed // _SHORTER))
        long.append(_import(sizes.listed))
    beside = f"{sizes.listed // _SHORTER:,} pages"
    walls, short_walls = ([child.wall_s for child in children] for children in (long, short))
    costs = [child.cpu_s / sizes.listed * 1e6 for child in long]
    short_costs = [child.cpu_s / (sizes.listed // _SHORTER) * 1e6 for child in short]
    peaks, short_peaks = ([child.peak_mb for child in children] for children in (long, short))
    return [
        figure(f"import of {sizes.listed:,} pages from a file", walls, "s", aim=Aim("<=", sizes.listed / 10_000)),
        figure(f"… of {beside}", short_walls, "s"),
        figure("… processor time", costs, "us/page", beside=beside, reference=short_costs),
        figure("… peak memory", peaks, "MB", beside=beside, reference=short_peaks, note="flat"),
    ]


def _import(pages: int) -> Child:
    shape = Shape.usual(pages)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = folder / "pages.txt"
        with listed.open("w", encoding="utf-8") as file:
            file.writelines(f"{shape.url(number, 1)}\n" for number in range(pages))
        child = run_child(folder, "--config", str(settings(folder)), "watch", "import", str(listed))
        if child.status:
            raise RuntimeError(f"import ended with {child.status}: {child.said[-500:]}")
        return child
