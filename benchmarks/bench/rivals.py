"""What people would use instead, at its documented best, for the same list: Scrapy, webchanges and urlwatch.

They live in an environment of their own (`./dev rivals` makes it). What they found is demanded to be what we find:
Scrapy's twelve fields on every page, and of the others that they report the planted changes and no more.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.bench.client import Client, Done
from benchmarks.bench.corpus import DOCUMENTS
from benchmarks.bench.measure import Aim, Child, Figure, NotMeasured, Sizes, figure, on_last_core, run_program
from benchmarks.bench.rival_watchers import WATCHERS, Watcher, reported
from benchmarks.bench.site import Site, serve
from benchmarks.bench.way import NotAsMeant, demand
from tocsin.spec.html.page import read_page
from tocsin.spec.topper.state import read_state

ROOT = Path(__file__).parents[2]
PROGRAMS = ROOT / "build/bench-venv/bin"
HOSTS = 50
PERCENT = 5
OURS, REWRITTEN = "ours", "ours, where all pages have other bytes"
AIMS = {
    "Scrapy, tuned": Aim(">=", 7.5),
    "Scrapy, at its best": Aim(">=", 3.7),
    "webchanges": Aim(">=", 10),
    "urlwatch": Aim(">=", 10),
}
_SPIDERS = {"Scrapy, tuned": "tuned", "Scrapy, at its best": "best"}


async def measure(sizes: Sizes) -> list[Figure]:
    """Change some pages, and let each of them check the list, in turns.

    Pages that did not change are sent as they were, which spares us reading them; what it costs where they come with
    other bytes stands in the note. To the others it is all the same.
    """
    if not await set_up():
        raise NotMeasured("Scrapy, webchanges and urlwatch are not there")
    cpu: dict[str, list[float]] = defaultdict(list)
    wall: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        async with serve(hosts=min(HOSTS, sizes.rival_pages)) as site, Client(site, sizes.rival_pages) as client:
            contest = Contest(site, client, Path(name))
            await contest.first()
            for _ in range(sizes.rounds):
                for who, (cpu_us, wall_us) in (await contest.round()).items():
                    cpu[who].append(cpu_us)
                    wall[who].append(wall_us)
    what = f"whole way of {sizes.rival_pages} pages, {PERCENT} % changed"
    lines = []
    for who, aim in AIMS.items():
        others = f"{_ratio(cpu[who], cpu[REWRITTEN]):.1f} x where all have other bytes, and none changed"
        note = f"{others}; wall {_ratio(wall[who], wall[OURS]):.1f} x; found the same on every page"
        line = figure(what, cpu[OURS], "us CPU/page", beside=who, reference=cpu[who], speed=True, aim=aim, note=note)
        lines.append(line._replace(settings=contest.settings[who]))
    return lines


class Contest:
    """All of them, their lists, and who of them found what."""

    def __init__(self, site: Site, client: Client, folder: Path) -> None:
        self._site, self._client, self._folder = site, client, folder
        self._urls = [site.url(number, "unconditional") for number in range(client.pages)]
        self._version = 0
        self.settings = {watcher.name: watcher.settings for watcher in WATCHERS}

    async def first(self) -> None:
        """Let all that keep something see every page a first time."""
        demand("first", await self._client.tell("check", "unconditional"), {"first": self._client.pages}, 200)
        (self._folder / "urls.txt").write_text("\n".join(self._urls), encoding="utf-8")
        for watcher in WATCHERS:
            for urls in (self._urls, self._urls[:1]):
                folder = self._folder / f"{watcher.name}-{len(urls)}"
                watcher.prepare(folder, urls)
                self._run(watcher.command(PROGRAMS, folder))

    async def round(self) -> dict[str, tuple[float, float]]:
        """Let each of them check the list once; returns microseconds of processor and on the wall for a page."""
        self._version += 1
        changed = self._site.publish(self._version, percent=PERCENT)
        spent = {OURS: await self._ours(changed)}
        self._site.publish(self._version, percent=0, token=self._version)
        spent[REWRITTEN] = await self._ours(set())
        truth = self._truth()
        for who, arm in _SPIDERS.items():
            spent[who] = self._scrapy(who, arm, truth)
        for watcher in WATCHERS:
            spent[watcher.name] = self._watcher(watcher, changed)
        return spent

    async def _ours(self, changed: set[int]) -> tuple[float, float]:
        done: Done = await self._client.tell("check", "unconditional")
        minor = sum(number % DOCUMENTS in changed for number in range(self._client.pages))
        demand(OURS, done, {"minor": minor, "unchanged": self._client.pages - minor}, 200)
        return done.cpu_us, done.wall_us

    def _truth(self) -> dict[str, dict[str, str]]:
        """What we read of every page."""
        found: dict[int, dict[str, str]] = {}
        for number, url in enumerate(self._urls[:DOCUMENTS]):
            with urlopen(url) as answer:  # noqa: S310 - a page of our own site
                state = read_state(read_page(answer.read(), "text/html").metas)
            found[number] = {field: value for field, value in state.to_dict().items() if value is not None}
        return {url: found[number % DOCUMENTS] for number, url in enumerate(self._urls)}

    def _scrapy(self, who: str, arm: str, truth: dict[str, dict[str, str]]) -> tuple[float, float]:
        script = str(Path(__file__).with_name("rival_scrapy.py"))
        child = self._run([str(PROGRAMS / "python"), script, arm, str(self._folder / "urls.txt")])
        told: dict[str, Any] = json.loads(child.said.splitlines()[-1])
        if told["found"] != truth:
            unlike = [url for url in self._urls if told["found"].get(url) != truth[url]]
            raise NotAsMeant(f"{who} found something else on {len(unlike)} pages, among them {unlike[0]}")
        self.settings[who] = json.dumps(told["settings"], indent=1)
        return told["cpu_us"], told["wall_us"]

    def _watcher(self, watcher: Watcher, changed: set[int]) -> tuple[float, float]:
        """Its cost for a page is that of the list without that of a list of one, which is mostly its start."""
        one, all_ = [
            self._run(watcher.command(PROGRAMS, self._folder / f"{watcher.name}-{len(urls)}"))
            for urls in (self._urls[:1], self._urls)
        ]
        planted = {url for number, url in enumerate(self._urls) if number % DOCUMENTS in changed}
        if reported(all_.said) != planted:
            raise NotAsMeant(f"{watcher.name} reported {len(reported(all_.said))} changes, {len(planted)} were planted")
        more = len(self._urls) - 1
        return (all_.cpu_s - one.cpu_s) / more * 1e6, (all_.wall_s - one.wall_s) / more * 1e6

    def _run(self, command: list[str]) -> Child:
        with on_last_core():
            child = run_program(self._folder, command)
        if child.status:
            raise RuntimeError(f"{command[0]} ended with {child.status}: {child.said[-1000:]}")
        return child


async def set_up() -> bool:
    """See that they are there, in the versions of the lock; those of an older lock are taken where no others are."""
    process = await asyncio.create_subprocess_exec(
        str(ROOT / "dev"), "rivals", stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    await process.communicate()
    return (PROGRAMS.parent / ".made").exists()


def _ratio(theirs: Sequence[float], ours: Sequence[float]) -> float:
    return sorted(theirs)[len(theirs) // 2] / sorted(ours)[len(ours) // 2]
