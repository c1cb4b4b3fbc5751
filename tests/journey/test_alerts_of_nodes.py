"""Several services on one PostgreSQL: alerts come in order, none is lost, and digests come once, whoever is killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import timedelta

import pytest

from tests.journey.running import RARELY, Home, Service, until
from tests.origin import Origin, Page
from tests.postgres import postgres
from tocsin.adapters.system import SystemClock
from tocsin.model import JobRow

HOSTS = [f"127.0.0.{number}" for number in range(1, 7)]
CHANNEL = "channel:journal"
CHANGED = "tocsin.page.changed.v1"
DIGEST = "tocsin.digest.v1"
ROUTE = """
[[routes]]
name = "gathered"
channels = ["journal"]
digest = "4s"
"""
Start = Callable[[str], Awaitable[Service]]


def version(number: int) -> Page:
    """The pages of all hosts, changed so often."""
    dates = " ".join(f"2026-01-{day:02}" for day in range(1, number + 1))
    return Page(f'<!doctype html><title>A</title><meta name=topper-major content="{dates}"><p>Text {number}.')


@pytest.fixture
async def pages(home: Home, site: Origin) -> AsyncIterator[list[str]]:
    """A store on PostgreSQL, and a page of each of some hosts."""
    server = postgres()
    home.store_url = await asyncio.to_thread(server.take)
    configure(home)
    site.pages["/a"] = version(1)
    for host in HOSTS[1:]:
        await site.start(host)
    yield [site.url("/a", host=host) for host in HOSTS]
    for running in home.services:
        await running.clear()
    await asyncio.to_thread(server.give_back, home.store_url)


def configure(home: Home, more: str = "") -> None:
    """Let nodes be noticed as gone soon."""
    settings = RARELY.replace("sqlite:tocsin.db", home.store_url).replace("[http]", '[cluster]\nlease = "5s"\n[http]')
    home.configure(settings + more)


async def holder(home: Home, *, but: str = "") -> str:
    """Wait until a node delivers, and name it."""
    async with home.store() as store:

        async def probe() -> str:
            rows = [row for row in await store.leases() if row.name == CHANNEL and row.left_s > 0]
            return rows[0].node if rows and rows[0].node != but else ""

        return await until(probe, what="a node that delivers")


async def published(home: Home, number: int) -> list[tuple[str, str]]:
    """Wait for so many changes; returns the id and the page of each, in the order of publishing."""
    async with home.store() as store:

        async def probe() -> list[tuple[str, str]]:
            rows = [row for row in await store.after(0, limit=1000) if row.type == CHANGED]
            return [(row.id, row.url or "") for row in rows] if len(rows) >= number else []

        return await until(probe, what=f"{number} published changes")


async def change(home: Home, site: Origin, pages: Sequence[str], number: int) -> list[tuple[str, str]]:
    """Let all pages change, and wait until each change is published."""
    site.pages["/a"] = version(number)
    async with home.store() as store:
        await store.request_check(None, SystemClock().now())
    return await published(home, len(pages) * (number - 1))


async def begin(home: Home, start: Start, pages: Sequence[str]) -> dict[str, Service]:
    """Start two services that share the pages, each checked once."""
    nodes = {name: await start(name) for name in ("a", "b")}
    await holder(home)
    await home.watch(*pages)
    for url in pages:
        await home.outcome(url, "first")
    return nodes


async def test_alerts_come_in_order_for_each_page_and_none_is_lost_where_the_node_that_delivers_is_killed(
    home: Home, site: Origin, start: Start, pages: list[str]
) -> None:
    nodes = await begin(home, start, pages)
    await change(home, site, pages, 2)
    killed = await holder(home)

    await nodes[killed].end(signal.SIGKILL)
    assert await holder(home, but=killed) in nodes.keys() - {killed}
    await change(home, site, pages, 3)
    alerts = await change(home, site, pages, 4)

    async def probe() -> list[str]:
        given = [alert["id"] for alert in home.alerts() if alert["type"] == CHANGED]
        return given if {alert_id for alert_id, _ in alerts} <= set(given) else []

    # What is repeated has its id; what counts is when each came first.
    given = list(dict.fromkeys(await until(probe, what="all changes in the journal")))
    urls = dict(alerts)
    for url in pages:
        assert [each for each in given if urls[each] == url] == [each for each, of in alerts if of == url]


async def test_a_digest_comes_once_where_the_node_that_gathers_it_is_killed(
    home: Home, site: Origin, start: Start, pages: list[str]
) -> None:
    configure(home, ROUTE)
    nodes = await begin(home, start, pages)
    killed = await holder(home)
    await change(home, site, pages, 2)

    await nodes[killed].end(signal.SIGKILL)

    async def probe() -> dict[str, int]:
        # On a slow machine there are several; one that is repeated has its id.
        counts = {alert["id"]: alert["data"]["count"] for alert in home.alerts() if alert["type"] == DIGEST}
        return counts if sum(counts.values()) >= len(pages) else {}

    counts = await until(probe, what="all changes in digests")
    assert sum(counts.values()) == len(pages)
    assert [alert for alert in home.alerts() if alert["type"] == CHANGED] == []


async def test_the_jobs_of_a_node_that_was_killed_are_interrupted(home: Home, start: Start, pages: list[str]) -> None:
    first = await start("a")
    await home.hears("http.ready")
    await start("b")

    async def both_are_ready() -> bool:
        return home.log.read_text("utf-8").count('"http.ready"') == 2

    # What a node finds of its own name as its edge opens is of an earlier process.
    await until(both_are_ready, what="the edges of both nodes")
    begun = SystemClock().now() - timedelta(minutes=2) // timedelta(microseconds=1)
    async with home.store() as store:
        for node in ("a", "b"):
            await store.save_job(JobRow(node, "pages.import", "ops", begun, node=node))
        await first.end(signal.SIGKILL)

        async def probe() -> bool:
            return any(row.state == "interrupted" for row in await store.jobs())

        await until(probe, what="the end of the job")
        states = {row.id: row.state for row in await store.jobs()}

    assert pages
    assert states == {"a": "interrupted", "b": "running"}
