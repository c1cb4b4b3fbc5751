"""What a page costs: processor time of the whole way (fetch, assess, decide, store, schedule) beside bare requests."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from benchmarks.bench import wrk
from benchmarks.bench.client import Client
from benchmarks.bench.corpus import DOCUMENTS
from benchmarks.bench.measure import Aim, figure
from benchmarks.bench.site import serve

if TYPE_CHECKING:
    from benchmarks.bench.client import Done
    from benchmarks.bench.measure import Figure, Sizes
    from benchmarks.bench.site import Kind, Site

BARE, KNOWN = "bare aiohttp, 200", "bare aiohttp, 304"
AIMS = {
    "all changed": None,
    "5 % changed": Aim(">=", 0.5),
    "5 % changed, the others sent with other bytes": None,
    "all 304": Aim(">=", 0.95),
}


class NotAsMeant(RuntimeError):
    """What was measured is not what was to be measured."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Take the pages through in each way, in turns with bare requests for the same ones."""
    samples: dict[str, list[float]] = defaultdict(list)
    async with serve() as site:
        served = await wrk.measure(site)
        async with Client(site, sizes.way_pages) as client:
            rounds = Rounds(site, client, samples)
            await rounds.first()
            for _ in range(sizes.rounds):
                await rounds.round()
    lines = [
        figure(
            f"whole way, {way}", samples[way], "us CPU/page", beside=BARE, reference=samples[BARE], speed=True, aim=aim
        )
        for way, aim in AIMS.items()
    ]
    bare = figure(KNOWN, samples[KNOWN], "us CPU/page", beside=BARE, reference=samples[BARE], speed=True)
    return [*lines, bare._replace(note=f"site: {site.name}"), *served]


class Rounds:
    """Publishes versions, has the client take the pages through, and demands that they ended as they must."""

    def __init__(self, site: Site, client: Client, samples: dict[str, list[float]]) -> None:
        self._site, self._client, self._samples = site, client, samples
        self._version = 0

    async def first(self) -> None:
        """Store every page a first time; this also learns robots.txt."""
        kinds: tuple[Kind, ...] = ("plain", "unconditional")
        for kind in kinds:
            demand("first", await self._client.tell("check", kind), {"first": self._client.pages}, 200)

    async def round(self) -> None:
        """Measure everything once; bare requests stand before and between."""
        await self._bare("bare", "unconditional", BARE)
        await self.check("all changed", percent=100)
        await self.check("5 % changed", percent=5)
        await self._bare("bare", "plain", BARE)
        await self._bare("known", "plain", KNOWN)
        await self.check("5 % changed, the others sent with other bytes", percent=5, rewritten=True)
        await self._client.tell("check")
        name = "all 304"
        done = await self._client.tell("check")
        demand(name, done, {"unchanged": self._client.pages}, 304)
        self._samples[name].append(done.cpu_us)

    async def check(self, name: str, *, percent: int, rewritten: bool = False) -> None:
        """Change so many percent of the documents, and measure a check that is sent all pages whole."""
        self._version += 1
        changed = self._site.publish(self._version, percent=percent, token=self._version if rewritten else None)
        done = await self._client.tell("check", "unconditional")
        minor = sum(number % DOCUMENTS in changed for number in range(self._client.pages))
        demand(name, done, {"minor": minor, "unchanged": self._client.pages - minor}, 200)
        self._samples[name].append(done.cpu_us)

    async def _bare(self, do: str, kind: Kind, name: str) -> None:
        self._samples[name].append((await self._client.tell(do, kind)).cpu_us)


def demand(name: str, done: Done, outcomes: dict[str, int], status: int) -> None:
    """Demand that all pages ended as they must, and were answered with this status."""
    meant = {outcome: count for outcome, count in outcomes.items() if count}
    if done.outcomes != meant or done.statuses != {status: sum(meant.values())}:
        raise NotAsMeant(f"{name}: {done.outcomes} with {done.statuses}, where {meant} with {status} were meant")
