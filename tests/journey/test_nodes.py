"""Several services on one PostgreSQL share the hosts, take over from one that is killed, and ask for nothing twice."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from tests.journey.running import RARELY, Home, Service, pages_of, until
from tests.origin import Origin, Page
from tests.postgres import postgres
from tocsin.adapters.system import SystemClock
from tocsin.spec.html.urls import shard_of

HOSTS = [f"127.0.0.{number}" for number in range(1, 17)]
HALF = 2048
Start = Callable[[str], Awaitable[Service]]


@pytest.fixture
async def shared(home: Home, site: Origin) -> AsyncIterator[list[str]]:
    """A store on PostgreSQL, and a site of many hosts; gives a page of each."""
    server = postgres()
    home.store_url = await asyncio.to_thread(server.take)
    settings = RARELY.replace("sqlite:tocsin.db", home.store_url).replace("[http]", '[cluster]\nlease = "5s"\n[http]')
    home.configure(settings.replace('listen = "127.0.0.1:0"', 'listen = ""'))
    site.pages["/a"] = Page("<!doctype html><title>A</title><meta name=topper-major content=2026-01-01><p>Text.")
    for host in HOSTS[1:]:
        await site.start(host)
    yield [site.url("/a", host=host) for host in HOSTS]
    for running in home.services:
        await running.clear()
    await asyncio.to_thread(server.give_back, home.store_url)


async def parts_are(home: Home, **parts: int) -> None:
    """Wait until these nodes, and no others, hold so many parts."""
    async with home.store() as store:

        async def probe() -> bool:
            return {row.node: row.parts for row in await store.nodes() if row.parts} == parts

        await until(probe, what=f"parts of nodes: {parts}")


def requests(site: Origin) -> Counter[str]:
    """How often each host was asked for its page."""
    return Counter(asked.host.partition(":")[0] for asked in site.asked("/a"))


async def test_two_nodes_share_the_hosts_and_the_second_takes_over_where_the_first_is_killed(
    home: Home, site: Origin, start: Start, shared: list[str]
) -> None:
    first, _ = await start("a"), await start("b")
    await parts_are(home, a=32, b=32)
    assert 0 < sum(shard_of(host) < HALF for host in HOSTS) < len(HOSTS)

    await home.watch(*shared)
    for url in shared:
        await home.outcome(url, "first")
    assert requests(site) == dict.fromkeys(HOSTS, 1)

    await first.end(signal.SIGKILL)
    # A check of one shot leaves its request to the nodes. Pages of the killed one wait for the end of its lease.
    checked = await home.call("check", "--json", *shared)
    assert checked.status == 0
    assert len(checked.records()) >= len(shared)
    await parts_are(home, b=64)

    assert requests(site) == dict.fromkeys(HOSTS, 2)


async def test_a_node_that_is_told_to_stop_leaves_all_to_the_others_and_a_check_of_one_shot_works_without_any(
    home: Home, site: Origin, start: Start, shared: list[str]
) -> None:
    first, second = await start("a"), await start("b")
    await parts_are(home, a=32, b=32)

    await first.stop()
    await parts_are(home, b=64)
    await second.stop()
    # It checks what it adds.
    assert (await home.call("watch", "add", *shared)).status == 0
    assert requests(site) == dict.fromkeys(HOSTS, 1)
    assert (await home.call("check", "--json", *shared)).status == 0

    assert requests(site) == dict.fromkeys(HOSTS, 2)
    async with home.store() as store:
        assert await store.nodes() == []


async def test_a_check_of_one_shot_reports_also_pages_that_a_node_took_over_meanwhile(
    home: Home, site: Origin, start: Start, shared: list[str]
) -> None:
    home.configure((home.folder / "tocsin.toml").read_text() + "[fetch]\nin_flight = 1\n")
    async with home.store(engine=True) as store:
        await store.add_pages(pages_of(*shared), SystemClock().now())
    begun, answer = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        begun.set()
        await answer.wait()

    page = site.pages["/a"]
    assert isinstance(page, Page)
    page.wait = hold
    async with asyncio.TaskGroup() as group:
        checking = group.create_task(home.call("check", "--json", *shared))
        await begun.wait()
        await start("b")
        async with home.store() as store:

            async def has_a_share() -> bool:
                return any(row.node == "b" and row.parts for row in await store.nodes())

            await until(has_a_share, what="parts of the node")
        answer.set()
    checked = checking.result()

    assert checked.status == 0
    assert sorted(record["url"] for record in checked.records() if "outcome" in record) == sorted(shared)
    assert requests(site) == dict.fromkeys(HOSTS, 1)


async def test_a_second_service_of_one_name_waits_until_the_first_has_ended(
    home: Home, start: Start, shared: list[str]
) -> None:
    first, _ = await start("a"), await start("a")
    waits = await home.hears("claim.waits")
    assert "cluster.node" in waits["mend"]

    await first.end(signal.SIGKILL)
    await home.watch(*shared)

    for url in shared:
        await home.outcome(url, "first")


async def test_a_service_that_waits_for_the_end_of_another_of_its_name_stops_when_it_is_told_to(
    home: Home, start: Start, shared: list[str]
) -> None:
    del shared
    await start("a")
    await home.hears("engine.started")
    second = await start("a")
    await home.hears("claim.waits")

    assert await second.stop() == 0
