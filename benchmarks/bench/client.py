"""The client of the benchmarks: a process alone on the last core, which does what it is told, a line at a time.

    python -m benchmarks.bench.client SITE PAGES [KIND...]     with the site as JSON

A line asks for one thing, as JSON: bare requests for all pages of a kind, or a check of them; the answer tells the
processor time (all threads and children) for a page, and what became of the pages.
"""

from __future__ import annotations

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import msgspec
import uvloop

from benchmarks.bench.bare import get_all
from benchmarks.bench.measure import as_the_program_runs, settings
from benchmarks.bench.processes import ModuleProcess
from benchmarks.bench.site import Kind, Site
from tocsin.app.assembly import open_store_for
from tocsin.app.executing import keep_freed_memory
from tocsin.app.once import check
from tocsin.configuration import load
from tocsin.model import CheckReport, NewPage
from tocsin.settings import Settings
from tocsin.spec.html.urls import watch_url

Signals: TypeAlias = Literal["none", "auto", "all"]
IN_FLIGHT = 200
# Changes are minor, and only major ones are told: a rendering would be a second request, and is no part of this; but
# for silent pages, where it is measured.
_SETTINGS = """
[fetch]
fetchers = 0
in_flight = {in_flight}
unconditional_every = 1000000
[hosts]
delay = "0s"
[pages]
min_gap = "0s"
tell = "{tell}"
minor_threshold = 1000
signals = "{signals}"
"""


class Order(msgspec.Struct, frozen=True):
    """What the client is to do with all pages of a kind: `bare` gets them, `known` with validators; `check` checks.

    signals  which pages a check reads whole; each way has a store of its own
    store    a store of its own for silent pages, whose changes are told
    """

    do: str
    kind: Kind = "plain"
    signals: Signals = "auto"
    store: int | None = None


class Done(msgspec.Struct, frozen=True):
    """What came of an order.

    cpu_us    processor time for a page, user and system
    wall_us   time on the wall for a page
    outcomes  of a check: how many pages ended how
    statuses  how many answers had which status
    changed   numbers of the documents with a verdict
    """

    cpu_us: float
    wall_us: float
    outcomes: dict[str, int] = {}
    statuses: dict[int, int] = {}
    changed: set[int] = set()


class Client(ModuleProcess):
    """The client, seen by who tells it what to do."""

    def __init__(self, site: Site, pages: int, kinds: Sequence[Kind] = get_args(Kind)) -> None:
        super().__init__("client", msgspec.json.encode(site).decode(), str(pages), *kinds)
        self.pages = pages

    async def tell(self, do: str, kind: Kind = "plain", signals: Signals = "auto", store: int | None = None) -> Done:
        """Have something done, and hear what came of it."""
        self.write_line(msgspec.json.encode(Order(do, kind, signals, store)))
        return msgspec.json.decode(await self.read_line(), type=Done)


class _Client:
    """The same, seen from within."""

    def __init__(self, site: Site, pages: int, kinds: Sequence[Kind], folder: Path) -> None:
        self._urls: dict[Kind, list[str]] = {kind: [site.url(n, kind) for n in range(pages)] for kind in kinds}
        self._folder = folder
        self._settings: dict[tuple[Kind, Signals, int | None], Settings] = {}
        self._validators: dict[str, str] = {}

    async def do(self, order: Order) -> Done:
        """Do one thing."""
        urls = self._urls[order.kind]
        if order.do == "check":
            return await self._check(order, len(urls))
        known = self._validators if order.do == "known" else None
        with _measuring(len(urls)) as spent:
            given = await get_all(urls, in_flight=IN_FLIGHT, validators=known)
        self._validators = given if known is None else known
        cpu_us, wall_us = spent
        return Done(cpu_us, wall_us, statuses={304 if known else 200: len(given)})

    async def _check(self, order: Order, pages: int) -> Done:
        way = order.kind, order.signals, order.store
        if way not in self._settings:
            self._settings[way] = await self._watch(*way)
        reports: list[CheckReport] = []
        with as_the_program_runs(), _measuring(pages) as spent:
            summary = await check(self._settings[way], page_ids=None, on_report=reports.append)
        statuses = Counter(report.status or 0 for report in reports)
        told = (report for report in reports if report.outcome in {"minor", "major"})
        changed = {int(report.url.rpartition("/")[2]) for report in told}
        cpu_us, wall_us = spent
        return Done(cpu_us, wall_us, summary.outcomes, dict(statuses), changed)

    async def _watch(self, kind: Kind, signals: Signals, store: int | None) -> Settings:
        folder = self._folder / f"{kind}-{signals}-{store}"
        folder.mkdir()
        tell = "major" if store is None else "any"
        path = settings(folder, more=_SETTINGS.format(in_flight=IN_FLIGHT, signals=signals, tell=tell))
        configured = load(config=str(path), environ={}, cwd=folder).settings
        found = [watch_url(url) for url in self._urls[kind]]
        pages = [NewPage(page.url, page.url, page.host, page.shard) for page in found]
        async with open_store_for(configured, engine=True) as opened:
            for start in range(0, len(pages), 1000):
                await opened.add_pages(pages[start : start + 1000], 0)
        return configured


@contextmanager
def _measuring(pages: int) -> Iterator[list[float]]:
    """Time a block; the list has microseconds of processor and of wall time for a page when it ends."""
    spent: list[float] = []
    cpu, wall = _cpu_s(), time.perf_counter()
    yield spent
    spent += [(now - then) / pages * 1e6 for now, then in ((_cpu_s(), cpu), (time.perf_counter(), wall))]


def _cpu_s() -> float:
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


async def _work(site: Site, pages: int, kinds: Sequence[Kind]) -> None:
    with tempfile.TemporaryDirectory() as name:
        client = _Client(site, pages, kinds, Path(name))
        while line := await asyncio.to_thread(sys.stdin.readline):
            done = await client.do(msgspec.json.decode(line, type=Order))
            print(msgspec.json.encode(done).decode(), flush=True)


def main() -> None:
    """Do what is told, on the last core, until nobody tells anything."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    site, pages, *named = sys.argv[1:]
    kinds = [kind for kind in get_args(Kind) if kind in named]
    keep_freed_memory()
    uvloop.run(_work(msgspec.json.decode(site, type=Site), int(pages), kinds))


if __name__ == "__main__":
    main()
