"""A long list of pages, taken from a file: time, and memory that does not grow with it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bench.measure import figure, run_child, settings

if TYPE_CHECKING:
    from benchmarks.bench.measure import Child, Figure, Sizes

_HOSTS = 1000
_SHORTER = 10


async def measure(sizes: Sizes) -> list[Figure]:
    """Import a list, and one that is ten times shorter."""
    long, short = [], []
    for _ in range(sizes.rounds):
        short.append(_import(sizes.listed // _SHORTER))
        long.append(_import(sizes.listed))
    what = f"import of {sizes.listed:,} pages from a file"
    beside = f"{sizes.listed // _SHORTER:,} pages"
    walls = [child.wall_s for child in long]
    return [
        figure(what, walls, "s", beside=beside, reference=[child.wall_s for child in short], note="under 8 s"),
        figure(
            "… processor time",
            [child.cpu_s for child in long],
            "s",
            beside=beside,
            reference=[child.cpu_s for child in short],
        ),
        figure(
            "… peak memory",
            [child.peak_mb for child in long],
            "MB",
            beside=beside,
            reference=[child.peak_mb for child in short],
            note="flat",
        ),
    ]


def _import(pages: int) -> Child:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        listed = folder / "pages.txt"
        with listed.open("w", encoding="utf-8") as file:
            file.writelines(f"https://h{number % _HOSTS}.example.org/pages/{number}.html\n" for number in range(pages))
        child = run_child(folder, "--config", str(settings(folder)), "watch", "import", str(listed))
        if child.status:
            raise RuntimeError(f"import ended with {child.status}: {child.said[-500:]}")
        return child
