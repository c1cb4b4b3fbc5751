"""What a page costs: processor time of the whole way (fetch, assess, decide, store, schedule) beside bare requests."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from benchmarks.bench.client import Client, Done, Signals
from benchmarks.bench.corpus import DOCUMENTS
from benchmarks.bench.measure import Aim, Figure, Sizes, figure
from benchmarks.bench.site import Kind, Site, serve

BARE, KNOWN = "bare aiohttp, 200", "bare aiohttp, 304"
AIMS = {
    "all changed": None,
    "5 % changed": Aim(">=", 0.5),
    "5 % changed, the others sent with other bytes": None,
    "all 304": Aim(">=", 0.95),
}
SIGNALS: tuple[Signals, ...] = ("auto", "none", "all")
"""Which pages a check reads whole for their signals: those that the default says (the usual way), none, all."""
USUAL = SIGNALS[:2]
"""The others take their turn in the first round only, and of fewer pages: ten times as long, they would take most of
the time."""
_FEWER = 5


class NotAsMeant(RuntimeError):
    """What was measured is not what was to be measured."""


async def measure(sizes: Sizes) -> list[Figure]:
    """Take the pages through in each way, in turns with bare requests for the same ones."""
    samples: dict[str, list[float]] = defaultdict(list)
    connections: dict[str, int] = {}
    async with (
        serve() as site,
        Client(site, sizes.way_pages) as client,
        Client(site, max(sizes.way_pages // _FEWER, 1)) as small,
    ):
        rounds = Rounds(site, client, small, samples, connections)
        await rounds.first()
        for number in range(sizes.rounds):
            await rounds.round(SIGNALS if number == 0 else USUAL)
    bare = f"bare {connections[BARE]:,}"
    lines = []
    others = [_named(name, signals) for signals in SIGNALS[1:] for name in AIMS if _named(name, signals) in samples]
    for name, aim in [*AIMS.items(), *((name, None) for name in others), (KNOWN, None)]:
        what = name if name == KNOWN else f"whole way, {name}"
        line = figure(what, samples[name], "us CPU/page", beside=BARE, reference=samples[BARE], speed=True, aim=aim)
        lines.append(line._replace(note=f"connections: {connections[name]:,}, {bare}; site: {site.name}"))
    return lines


class Rounds:
    """Publishes versions, has the client take the pages through, and demands that they ended as they must.

    small  has fewer pages, for ways that take long
    """

    def __init__(
        self, site: Site, client: Client, small: Client, samples: dict[str, list[float]], connections: dict[str, int]
    ) -> None:
        self._site, self._samples, self._connections = site, samples, connections
        self._client, self._small = client, small
        self._version = 0

    def _client_of(self, signals: Signals) -> Client:
        return self._client if signals in USUAL else self._small

    async def first(self) -> None:
        """Store every page a first time; this also learns robots.txt."""
        kinds: tuple[Kind, ...] = ("plain", "unconditional")
        for kind in kinds:
            for signals in SIGNALS if kind == "unconditional" else SIGNALS[:1]:
                client = self._client_of(signals)
                demand("first", await client.tell("check", kind, signals), {"first": client.pages}, 200)

    async def round(self, ways: Sequence[Signals]) -> None:
        """Measure everything once, in these ways; bare requests stand before and between."""
        await self._measured(BARE, "bare", "unconditional")
        await self.check("all changed", ways, percent=100)
        await self.check("5 % changed", ways, percent=5)
        await self._measured(BARE, "bare", "plain")
        await self._measured(KNOWN, "known", "plain")
        await self.check("5 % changed, the others sent with other bytes", ways, percent=5, rewritten=True)
        await self._client.tell("check")
        name = "all 304"
        done = await self._measured(name, "check", "plain")
        demand(name, done, {"unchanged": self._client.pages}, 304)

    async def check(self, name: str, ways: Sequence[Signals], *, percent: int, rewritten: bool = False) -> None:
        """Change so many percent of the documents, and measure checks that are sent all pages whole."""
        self._version += 1
        changed = self._site.publish(self._version, percent=percent, token=self._version if rewritten else None)
        for signals in ways:
            way, pages = _named(name, signals), self._client_of(signals).pages
            minor = sum(number % DOCUMENTS in changed for number in range(pages))
            done = await self._measured(way, "check", "unconditional", signals)
            demand(way, done, {"minor": minor, "unchanged": pages - minor}, 200)

    async def _measured(self, name: str, do: str, kind: Kind, signals: Signals = "auto") -> Done:
        client, before = self._client_of(signals), self._site.seen()
        done = await client.tell(do, kind, signals)
        after = self._site.seen()
        if after.requests - before.requests < client.pages:
            raise NotAsMeant(f"{name}: {after.requests - before.requests} requests for {client.pages} pages")
        self._samples[name].append(done.cpu_us)
        self._connections[name] = after.connections - before.connections - 1
        return done


def _named(name: str, signals: Signals) -> str:
    return name if signals == SIGNALS[0] else f"{name}, signals = {signals}"


def demand(name: str, done: Done, outcomes: dict[str, int], status: int) -> None:
    """Demand that all pages ended as they must, and were answered with this status."""
    meant = {outcome: count for outcome, count in outcomes.items() if count}
    if done.outcomes != meant or done.statuses != {status: sum(meant.values())}:
        raise NotAsMeant(f"{name}: {done.outcomes} with {done.statuses}, where {meant} with {status} were meant")
