"""Hosts whose round does not fit the interval of their pages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fakes import START, ManualClock, RecordingTelemetry, settle
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.hosts.robots import RobotsAnswer
from tocsin.engine.scheduling.host_capacity import EVERY_S, NAMED, Crowding, HostCapacity, delay_of, look, round_of
from tocsin.model import NewPage, PageFilter
from tocsin.settings import HostRule, HostSettings, PageSettings
from tocsin.spec.html.urls import watch_url

A_SECOND = HostSettings(delay=timedelta(seconds=1))
A_MINUTE = PageSettings(every=timedelta(minutes=1))


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as opened:
        yield opened


async def watch(store: SqlStore, host: str, pages: int, **changes: Any) -> None:
    """Watch so many pages of a host."""
    found = [watch_url(f"https://{host}/{number}{len(changes)}") for number in range(pages)]
    new = [NewPage(page.url, page.given, page.host, page.shard, **changes) for page in found]
    await store.add_pages(new, START)


async def crowding(store: SqlStore, pages: PageSettings = A_MINUTE, hosts: HostSettings = A_SECOND) -> Crowding:
    return await look(store, pages, hosts, START, time_zone="UTC")


def kept(text: str) -> str:
    """What is kept of a robots.txt."""
    return msgspec.json.encode(RobotsAnswer(START, "rules", text)).decode()


def test_a_round_takes_a_delay_for_each_page() -> None:
    whole = round_of("one.example", 2.0, [(30, 3600.0)])

    assert (whole.pages, whole.round_s, whole.wanted_s) == (30, 60.0, 3600.0)
    assert whole.fits


@given(st.lists(st.tuples(st.integers(1, 10_000), st.floats(1, 1e7)), min_size=1), st.floats(0.001, 100))
def test_a_round_fits_exactly_where_its_pages_ask_for_no_more_than_one_request_in_a_delay(
    wanted: list[tuple[int, float]], delay_s: float
) -> None:
    asked_for = sum(pages / every_s for pages, every_s in wanted) * delay_s

    whole = round_of("one.example", delay_s, wanted)

    assert whole.load == pytest.approx(asked_for)
    assert whole.fits or whole.load > 1


async def test_a_host_with_more_pages_than_its_delay_lets_through_is_crowded(store: SqlStore) -> None:
    await watch(store, "large.example", 61)
    await watch(store, "small.example", 60)

    found = await crowding(store)

    assert (found.hosts, found.pages, [each.host for each in found.worst]) == (1, 61, ["large.example"])
    assert (found.worst[0].round_s, found.worst[0].wanted_s) == (61.0, 60.0)


async def test_pages_that_are_paused_or_off_crowd_nobody(store: SqlStore) -> None:
    await watch(store, "one.example", 61)
    (one,) = await store.page_ids(PageFilter(), last_id=1)
    nothing: dict[str, Any] = {"unset": (), "group": None, "text": None, "clear_text": False}
    await store.edit_pages([one], START, settings={}, paused=True, **nothing)
    paused = await crowding(store)
    await store.edit_pages([one], START, settings={"mode": "off"}, paused=False, **nothing)

    assert (paused, await crowding(store)) == (Crowding(), Crowding())


async def test_the_interval_is_that_of_the_nearest_who_sets_it(store: SqlStore) -> None:
    await watch(store, "page.example", 70, settings={"every": "30s"}, group="own")
    await watch(store, "group.example", 70, group="news")
    await store.edit_group("news", START, settings={"every": "50s"}, unset=())

    found = await crowding(store, PageSettings(every=timedelta(hours=1)))

    assert [(each.host, round(each.wanted_s, 6)) for each in found.worst] == [
        ("page.example", 30.0),
        ("group.example", 50.0),
    ]


async def test_a_cron_expression_counts_as_the_time_between_two_occurrences(store: SqlStore) -> None:
    await watch(store, "one.example", 61)

    found = await crowding(store, PageSettings(cron="* * * * *"))

    assert [each.wanted_s for each in found.worst] == [60.0]


async def test_what_a_robots_txt_asks_for_lengthens_the_round(store: SqlStore) -> None:
    await watch(store, "slow.example", 10)
    await store.save_robots("https://slow.example", kept("User-agent: *\nCrawl-delay: 10\n"))

    found = await crowding(store)

    assert [(each.host, each.delay_s) for each in found.worst] == [("slow.example", 10.0)]


def test_a_delay_of_ones_own_stands_above_that_of_robots_txt() -> None:
    hosts = HostSettings(rules={"one.example": HostRule(delay=timedelta(seconds=3))})
    asks = kept("User-agent: *\nCrawl-delay: 10\n")

    assert (delay_of(hosts, "one.example", [asks]), delay_of(hosts, "two.example", [asks])) == (3.0, 10.0)


async def test_where_many_hosts_are_crowded_the_worst_are_named_first(store: SqlStore) -> None:
    for number in range(NAMED + 3):
        await watch(store, f"h{number:02}.example", 61 + number)

    found = await crowding(store)

    assert found.hosts == NAMED + 3
    assert [each.pages for each in found.worst] == [61 + number for number in reversed(range(3, NAMED + 3))]


async def test_crowded_hosts_are_told_of_at_the_start_and_when_that_changes(store: SqlStore) -> None:
    await watch(store, "one.example", 61)
    clock, telemetry = ManualClock(), RecordingTelemetry()
    rounds = HostCapacity(store, A_MINUTE, A_SECOND, clock, telemetry, time_zone="UTC")

    await rounds.tell()
    await rounds.tell()
    rounds.configure(PageSettings(), A_SECOND)
    await rounds.tell()

    told = [(each.name, each.level, each.values["hosts"]) for each in telemetry.happenings]
    assert told == [("hosts.crowded", "warning", 1), ("hosts.crowded", "info", 0)]


async def test_it_is_looked_for_again_every_hour(store: SqlStore) -> None:
    clock, telemetry = ManualClock(), RecordingTelemetry()
    rounds = HostCapacity(store, A_MINUTE, A_SECOND, clock, telemetry, time_zone="UTC")
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        loop = group.create_task(rounds.run(), name="rounds")
        await clock.advance(5.0)
        await sleeping(clock)
        await watch(store, "one.example", 61)
        await clock.advance(EVERY_S)
        await sleeping(clock)
        loop.cancel()

    assert telemetry.names() == ["hosts.crowded"]


async def sleeping(clock: ManualClock) -> None:
    """Wait until a task waits for time to pass: the store works on threads of its own."""
    while not clock.sleepers:
        await settle()
