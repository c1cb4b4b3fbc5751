"""Small pages in a browser: how many a second by number of slots, and what they cost."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from benchmarks.bench.measure import Aim, Figure, NotMeasured, Sizes, figure
from benchmarks.bench.processes import Origin
from tocsin.adapters.browser.process_trees import ProcessTrees
from tocsin.adapters.processes.aside import why_no_cells
from tocsin.adapters.processes.cell import PROXY_PORT
from tocsin.app.browser import CellBrowser, open_browser
from tocsin.ports.browser import BrowserVisit
from tocsin.ports.browser_link import StartBrowser

PROGRAM = "chromium-headless-shell"
AIMS = {2: 2.2, 4: 3.5}
_LOOK_S = 0.5


async def measure(sizes: Sizes) -> list[Figure]:
    """Visit pages in 2 and in 4 slots, and measure both."""
    if shutil.which(PROGRAM) is None:
        raise NotMeasured(f"{PROGRAM} is not installed: apt install {PROGRAM}")
    if (why := why_no_cells()) is not None:
        raise NotMeasured(why)
    figures: list[Figure] = []
    async with Origin() as origin:
        for slots in AIMS:
            figures += await _measure(origin, slots, max(2 * sizes.hosts, 2 * slots))
    return figures


async def _measure(origin: Origin, slots: int, pages: int) -> list[Figure]:
    start = StartBrowser(slots=slots, path=PROGRAM, first_port=PROXY_PORT)
    peaks: dict[str, float] = {"browsers": 0.0, "all": 0.0}
    async with open_browser(start, ("127.0.0.0/8",), lambda _: None) as browser:
        # Each slot starts its browser with its first page.
        await _visit(browser, origin, range(2 * slots))
        began, before_s = time.perf_counter(), _beside_s()
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(_look(peaks), name="bench-look")
            cpu_ms = await _visit(browser, origin, range(pages))
            looking.cancel()
        wall_s, beside_s = time.perf_counter() - began, _beside_s() - before_s
    cpu_s = (sum(cpu_ms) / 1000 + beside_s) / pages
    what = f"browser: {pages} pages in {slots} slots, each settling for 500 ms"
    return [
        figure(what, [pages / wall_s], "pages/s", aim=Aim(">=", AIMS[slots])),
        figure("… processor time, all processes", [cpu_s * 1000], "ms/page", aim=Aim("<=", 250)),
        figure(
            "… memory of the browsers, at most (PSS)",
            [peaks["browsers"]],
            "MiB",
            note=f"with worker, driver and egress {peaks['all']:.0f}",
            aim=Aim("<=", 550),
        ),
    ]


async def _visit(browser: CellBrowser, origin: Origin, numbers: Iterable[int]) -> list[int]:
    async def visit(number: int) -> int:
        url = f"http://127.0.0.1:{origin.port}/p/{number}"
        return (await browser.visit(BrowserVisit(url, total_s=90.0, ready_s=60.0), _admit)).cpu_ms

    return await asyncio.gather(*map(visit, numbers))


async def _admit(_url: str) -> None:
    """Admit each document."""


def _below() -> dict[int, str]:
    """Give our processes, each with what it is."""
    trees = ProcessTrees()
    trees.look()
    found = {}
    for pid in trees.tree(os.getpid())[1:]:
        try:
            found[pid] = Path(f"/proc/{pid}/comm").read_text("utf-8").strip()
        except OSError:
            continue
    return found


def _beside_s() -> float:
    """Give the processor time of what is no browser: worker, driver and egress process."""
    trees = ProcessTrees()
    trees.look()
    names = _below()
    used = trees.use(os.getpid()).cpu_s
    return sum(used.get(pid, 0.0) for pid, name in names.items() if not _is_browser(name))


def _is_browser(name: str) -> bool:
    return name.startswith(("chrom", "headless"))


def _pss_mib(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


async def _look(peaks: dict[str, float]) -> None:
    while True:
        browsers = every = 0.0
        for pid, name in _below().items():
            pss = _pss_mib(pid)
            every += pss
            browsers += pss if _is_browser(name) else 0.0
        peaks["browsers"], peaks["all"] = max(peaks["browsers"], browsers), max(peaks["all"], every)
        await asyncio.sleep(_LOOK_S)
