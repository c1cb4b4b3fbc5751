"""Pages without topper elements, which are read whole, beside Scrapy at its best and bare requests.

`./dev bench silent [--pages DIR]` checks each page three times: a first time, with other bytes that mean the same, and
with a sentence more, which is received once more and told. The pages are the pairs of noise in DIR, as `tocsin compare
--pairs` reads them; or the pages of DIR, with another nonce in a script; else pairs made as those of `./dev pairs`.
"""

from __future__ import annotations

import csv
import json
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench.client import Client
from benchmarks.bench.corpus import DOCUMENTS
from benchmarks.bench.measure import Aim, Figure, NotMeasured, Sizes, figure, on_last_core, run_program
from benchmarks.bench.pages import read_folder
from benchmarks.bench.rivals import HOSTS, PROGRAMS, set_up
from benchmarks.bench.site import Site, serve
from benchmarks.pairs.plan import pairs

BEST, BARE = "Scrapy, at its best", "bare aiohttp"
# What a check does with each version, and how many times as fast as Scrapy it should be.
AIMS = {"first": Aim(">=", 1.5), "other bytes": Aim(">=", 3.5), "all changed": Aim(">=", 1.0)}
INDEX = "pairs.csv"
_SEED = 3
_SENTENCE = b" A sentence that was not here before says something else than the others do.</p>"


class Versions(NamedTuple):
    """A page as it was, with other bytes that mean the same, and with a sentence more."""

    first: bytes
    rewritten: bytes
    changed: bytes


async def measure(sizes: Sizes, folder: Path | None = None) -> list[Figure]:
    """Check all pages in each of their versions, in turns with Scrapy and bare requests for the same ones."""
    if not await set_up():
        raise NotMeasured("Scrapy is not there")
    found = read_versions(folder)
    cpu: dict[str, list[float]] = defaultdict(list)
    outcomes: dict[str, dict[str, int]] = {}
    async with (
        serve(hosts=min(HOSTS, sizes.rival_pages)) as site,
        Client(site, sizes.rival_pages, ("unconditional",)) as client,
    ):
        if not site.folder:
            raise NotMeasured("nginx is not there")
        for store in range(sizes.rounds):
            for number, what in enumerate(AIMS):
                _publish(site, [versions[number] for versions in found])
                done = await client.tell("check", "unconditional", store=store)
                cpu[what].append(done.cpu_us)
                outcomes[what] = done.outcomes
            cpu[BEST].append(_scrapy([site.url(number, "unconditional") for number in range(client.pages)]))
            cpu[BARE].append((await client.tell("bare", "unconditional")).cpu_us)
    kib = sum(len(versions.first) for versions in found) / len(found) / 1024
    lines = []
    for what, aim in AIMS.items():
        note = f"{len(found)} pages of {kib:.0f} KiB; " + ", ".join(f"{n} {end}" for end, n in outcomes[what].items())
        for beside in (BEST, BARE):
            line = figure(f"silent: {what}", cpu[what], "us CPU/page", beside=beside, reference=cpu[beside], speed=True)
            lines.append(line._replace(note=note, aim=aim if beside == BEST else None))
    return lines


def read_versions(folder: Path | None) -> list[Versions]:
    """Read the pages of a folder, or make some; of many as many as the site has documents, spread over all."""
    if folder is None:
        both = [(pair.old, pair.new) for pair in pairs(_SEED, 2 * DOCUMENTS) if pair.label == "noise"]
    elif (folder / INDEX).exists():
        with (folder / INDEX).open(encoding="utf-8-sig", newline="") as stream:
            names = [row["name"] for row in csv.DictReader(stream) if row["label"] == "noise"]
        places = (folder / name for name in names)
        both = [((place / "old.html").read_bytes(), (place / "new.html").read_bytes()) for place in places]
    else:
        both = [(body, body + b"<script>var nonce = 42;</script>") for body in read_folder(folder)]
    step = max(len(both) / DOCUMENTS, 1.0)
    chosen = [both[int(number * step)] for number in range(min(len(both), DOCUMENTS))]
    return [Versions(old, new, _edit(new)) for old, new in chosen]


def _edit(body: bytes) -> bytes:
    """Add a sentence to the middle one of the paragraphs, which is the likeliest to be content."""
    first, *others = body.split(b"</p>")
    if not others:
        return body.replace(b"</body>", b"<p>" + _SENTENCE + b"</body>")
    middle = len(others) // 2
    return b"</p>".join([first, *others[:middle]]) + _SENTENCE + b"</p>".join(others[middle:])


def _publish(site: Site, bodies: Sequence[bytes]) -> None:
    for number in range(DOCUMENTS):
        Path(site.folder, "pages", "p", str(number)).write_bytes(bodies[number % len(bodies)])


def _scrapy(urls: Sequence[str]) -> float:
    with tempfile.TemporaryDirectory() as name, on_last_core():
        listed = Path(name, "urls.txt")
        listed.write_text("\n".join(urls), encoding="utf-8")
        script = str(Path(__file__).with_name("rival_scrapy.py"))
        child = run_program(Path(name), [str(PROGRAMS / "python"), script, "best", str(listed)])
    told = json.loads(child.said.splitlines()[-1])
    if child.status or len(told["found"]) < len(urls):
        raise RuntimeError(f"Scrapy ended with {child.status} and {len(told['found'])} pages: {child.said[:500]}")
    cpu_us: float = told["cpu_us"]
    return cpu_us
