"""What a page costs over https: on connections that are kept, on new ones, and on new ones that resume a session."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.bench import certificate, nginx
from benchmarks.bench.client import Client
from benchmarks.bench.corpus import DOCUMENTS
from benchmarks.bench.measure import NotMeasured, figure
from benchmarks.bench.site import https_answers, serve
from benchmarks.bench.way import NotAsMeant, demand

if TYPE_CHECKING:
    from benchmarks.bench.measure import Figure, Sizes
    from benchmarks.bench.site import Kind, Site

HOSTS = 50
PERCENT = 5


class Way(NamedTuple):
    """One way to connect.

    kind    of the site
    what    it is, in words
    is_new  each page has a connection of its own
    """

    kind: Kind
    what: str
    is_new: bool


WAYS = (
    Way("tls", "connections kept", is_new=False),
    Way("tls_forgetting", "a new one for each page", is_new=True),
    Way("tls_closing", "a new one for each page, sessions resumed", is_new=True),
)


async def measure(sizes: Sizes) -> list[Figure]:
    """Check pages that are all sent whole, 5 % of them changed, in turns with bare requests for the same ones."""
    if nginx.find() is None:
        raise NotMeasured(f"only nginx serves it; {nginx.HOW_TO_GET}")
    if certificate.find() is None:
        raise NotMeasured(f"openssl makes the site's certificate; {certificate.HOW_TO_GET}")
    cpu: dict[str, list[float]] = defaultdict(list)
    seen: dict[str, str] = {}
    hosts = min(HOSTS, sizes.https_pages)
    async with serve(hosts=hosts) as site, Client(site, sizes.https_pages, [way.kind for way in WAYS]) as client:
        for way in WAYS:
            demand(way.what, await client.tell("check", way.kind), {"first": sizes.https_pages}, 200)
        for version in range(1, sizes.rounds + 1):
            changed = site.publish(version, percent=PERCENT)
            minor = sum(number % DOCUMENTS in changed for number in range(client.pages))
            for way in WAYS:
                https_answers(site)
                cpu[_bare(way)].append((await client.tell("bare", way.kind)).cpu_us)
                seen[_bare(way)] = _connections(site, way, client.pages)
                done = await client.tell("check", way.kind)
                seen[way.what] = _connections(site, way, client.pages)
                demand(way.what, done, {"minor": minor, "unchanged": client.pages - minor}, 200)
                cpu[way.what].append(done.cpu_us)
    return [
        figure(
            f"https, {way.what}",
            cpu[way.what],
            "us CPU/page",
            beside="bare aiohttp, the same",
            reference=cpu[_bare(way)],
            speed=True,
            note=f"{seen[way.what]}; bare: {seen[_bare(way)]}",
        )
        for way in WAYS
    ]


def _bare(way: Way) -> str:
    return f"bare, {way.what}"


def _connections(site: Site, way: Way, pages: int) -> str:
    """Tell how the pages were connected to, as the site saw it; demand that it is what was to be measured."""
    answers = https_answers(site)
    new = sum(answer.is_new for answer in answers)
    if len(answers) != pages or (way.is_new and new != pages):
        raise NotAsMeant(f"https, {way.what}: {len(answers)} answers on {new} connections, for {pages} pages")
    resumed = sum(answer.is_new and answer.is_resumed for answer in answers)
    return f"{new} connections, {resumed} of them resumed"
