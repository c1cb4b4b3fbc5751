"""What a page costs: processor time of the whole way (fetch, assess, decide, store, schedule) beside bare requests.

python -m benchmarks.bench.way PORT PAGES ROUNDS     the client, alone on its core; prints its samples as JSON
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tempfile
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import uvloop

from benchmarks.bench.bare import get_all
from benchmarks.bench.measure import Origin, Stopwatch, figure, run_child, settings, stopwatch
from tocsin import app
from tocsin.configuration import load

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.bench.measure import Figure, Sizes
    from tocsin.model import CheckReport
    from tocsin.settings import Settings

HOSTS = 200
IN_FLIGHT = 200
# Changes are minor, and only major ones are told: a rendering would be a second request, and is no part of this.
_SETTINGS = f"""
[fetch]
in_flight = {IN_FLIGHT}
unconditional_every = 1000000
[hosts]
delay = "0s"
[pages]
min_gap = "0s"
tell = "major"
minor_threshold = 1000
"""
WAYS = ("all changed", "5 % changed", "all 304")


async def measure(sizes: Sizes) -> list[Figure]:
    """Measure in a child that has the second core to itself, where there are two."""
    async with Origin(pinned=True) as origin:
        with tempfile.TemporaryDirectory() as name:
            numbers = (str(origin.port), str(sizes.way_pages), str(max(sizes.rounds, 1)))
            child = run_child(Path(name), *numbers, module="benchmarks.bench.way")
    if child.status:
        raise RuntimeError(f"the client ended with {child.status}: {child.said[-2000:]}")
    samples: dict[str, list[float]] = json.loads(child.said.splitlines()[-1])
    lines = []
    for way in WAYS:
        bare = "bare 304" if way == "all 304" else "bare 200"
        what = f"whole way, {way}"
        lines.append(figure(what, samples[way], "us CPU/page", beside=f"{bare}, aiohttp", reference=samples[bare]))
    return lines


class Client:
    """Takes all pages through, one way after the other, and notes the processor time of each."""

    def __init__(self, port: int, pages: int, configured: Settings) -> None:
        self._base = f"http://127.0.0.1:{port}"
        self.urls = [f"http://127.0.0.{number % HOSTS + 1}:{port}/p/{number}" for number in range(pages)]
        self._settings = configured
        self._version = 0
        self.samples: dict[str, list[float]] = defaultdict(list)

    async def round(self) -> None:
        """Measure everything once; bare requests stand before and between."""
        validators = await self._bare("bare 200", None)
        await self._bare("bare 304", validators)
        await self._site(validators=1, percent=100)
        await self._way("all changed", {"minor": len(self.urls)})
        await self._way("all 304", {"unchanged": len(self.urls)})
        await self._bare("bare 200", None)
        await self._site(validators=0, percent=5)
        await self._way("5 % changed", None)

    async def first(self) -> None:
        """Store every page a first time; this also learns robots.txt."""
        await self._check("first", {"first": len(self.urls)})

    async def _site(self, *, validators: int, percent: int) -> None:
        self._version += 1
        path = f"/-/set?validators={validators}&version={self._version}&percent={percent}"
        async with aiohttp.ClientSession() as session, session.get(self._base + path) as answer:
            await answer.read()

    async def _bare(self, name: str, validators: dict[str, str] | None) -> dict[str, str]:
        watch = Stopwatch([], [])
        with stopwatch(watch):
            given = await get_all(self.urls, in_flight=IN_FLIGHT, validators=validators)
        self._note(name, watch)
        return given

    async def _way(self, name: str, wanted: dict[str, int] | None) -> None:
        watch = Stopwatch([], [])
        with as_the_program_runs(), stopwatch(watch):
            await self._check(name, wanted)
        self._note(name, watch)

    async def _check(self, name: str, wanted: dict[str, int] | None) -> None:
        reports: list[CheckReport] = []
        summary = await app.check(self._settings, page_ids=None, on_report=reports.append)
        if wanted is not None and summary.outcomes != wanted:
            raise RuntimeError(f"{name}: {summary.outcomes}, where {wanted} were meant")
        received = sum(report.status == (304 if name == "all 304" else 200) for report in reports)
        if received != len(self.urls):
            raise RuntimeError(f"{name}: {received} of {len(self.urls)} pages were answered as meant")

    def _note(self, name: str, watch: Stopwatch) -> None:
        self.samples[name].append(watch.cpu_s[0] / len(self.urls) * 1e6)


@contextmanager
def as_the_program_runs() -> Iterator[None]:
    """Let the collector be as `app.execute` sets it; bare requests are measured with Python's own settings."""
    usual = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*app.GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()
        # A whole collection lets it know again how much there is: else it looks at everything far too often.
        gc.collect()


async def run_client(port: int, pages: int, rounds: int) -> Client:
    """Measure all ways, so many times over."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        configured = load(config=str(settings(folder, more=_SETTINGS)), environ={}, cwd=folder).settings
        client = Client(port, pages, configured)
        await _watch(configured, client.urls)
        await client.first()
        await client._site(validators=1, percent=100)  # noqa: SLF001 - the same module
        for _ in range(rounds):
            await client.round()
        return client


async def _watch(configured: Settings, urls: Sequence[str]) -> None:
    from tocsin.model import NewPage  # noqa: PLC0415
    from tocsin.spec.html.urls import watch_url  # noqa: PLC0415

    pages = [NewPage(found.url, found.url, found.host, found.shard) for found in map(watch_url, urls)]
    async with app.open_store_for(configured, engine=True) as store:
        for start in range(0, len(pages), 1000):
            await store.add_pages(pages[start : start + 1000], 0)


def main() -> None:
    """Run the client with the numbers given, on the last core."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    port, pages, rounds = (int(argument) for argument in sys.argv[1:4])
    client = uvloop.run(run_client(port, pages, rounds))
    print(json.dumps(client.samples))


if __name__ == "__main__":
    main()
