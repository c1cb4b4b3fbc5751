"""How long it really takes from one check of a page to the next: agenda, store and engine over days, on one clock."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.builders import html
from tests.engine.visiting.checking import Engine, many
from tests.fakes import ManualClock
from tocsin.adapters.stores import open_store
from tocsin.model import HopRequest, Instant, NewPage, PageFilter
from tocsin.ports import Store
from tocsin.spec.html.urls import watch_url

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LAUNCH = timedelta(hours=1)
SLACK_S = 1.0
"""What checks of one moment wait for each other."""


class Days:
    """A list of pages that is checked for days, by one engine after the other.

    asked  when each page was asked for, in seconds since it was added
    """

    def __init__(self, folder: Path, every: timedelta) -> None:
        self._folder, self._every = folder, every
        self.clock = ManualClock()
        self.began = self.clock.now()
        self.urls = many(6, 4)
        self.asked: defaultdict[str, list[float]] = defaultdict(list)

    async def watch(self) -> None:
        """Put the pages on the list."""
        found = [watch_url(url) for url in self.urls]
        pages = [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]
        async with await self._open() as store:
            await store.add_pages(pages, self.began)

    async def request(self) -> None:
        """Ask for a check of all pages now."""
        async with await self._open() as store:
            await store.request_check(None, self.clock.now())

    async def check_for(self, span: timedelta) -> None:
        """Let an engine work so long, as a service that is killed then; each check happens when it is due."""
        until = self.clock.now() + span // timedelta(microseconds=1)
        async with self._engine() as engine:
            while True:
                engine.wrote.clear()
                due = await _next_due(engine.store)
                if due > until:
                    break
                await self.clock.leap(max(due - self.clock.now(), 0) / 1e6)
                engine.scheduler.wake()
                await engine.wrote.wait()
        await self.clock.leap((until - self.clock.now()) / 1e6)

    def intervals_s(self) -> list[float]:
        """The time from each check to the next, of all pages."""
        return [after - before for asked in self.asked.values() for before, after in pairwise(asked)]

    @asynccontextmanager
    async def _engine(self) -> AsyncIterator[Engine]:
        async with await self._open() as store, asyncio.TaskGroup() as group:
            engine = Engine(store, None, clock=self.clock, every=self._every)
            for url in self.urls:
                engine.web.page(url, html(created="1"))
            engine.web.before = self._note
            now, scheduler = self.clock.now(), engine.scheduler
            await engine.lease.take()
            # As a service begins.
            await store.hold_overdue(now, at_launch=LAUNCH)
            await store.spread_overdue(
                engine.lease.claim, now, at_launch=LAUNCH, cron="", on_spread=scheduler.on_spread
            )
            working = group.create_task(engine.run())
            yield engine
            working.cancel()

    async def _note(self, request: HopRequest) -> None:
        self.asked[request.url].append((self.clock.now() - self.began) / 1e6)

    async def _open(self) -> Any:
        return await open_store(f"sqlite:{self._folder / 'tocsin.db'}", engine=True)


async def _next_due(store: Store) -> Instant:
    pages = await store.pages(PageFilter())
    return min(page.due.at for page in pages if page.due.at is not None)


@pytest.mark.parametrize("every", [6 * HOUR, DAY])
async def test_T63_no_interval_is_longer_than_it_is_set_and_only_the_first_one_is_shorter(
    tmp_path: Path, every: timedelta
) -> None:
    days = Days(tmp_path, every)
    await days.watch()

    await days.check_for(12 * every)

    every_s = every.total_seconds()
    assert {url: asked[0] <= every_s for url, asked in days.asked.items()} == dict.fromkeys(days.urls, True)
    assert max(days.intervals_s()) <= every_s + SLACK_S
    later = [after - before for asked in days.asked.values() for before, after in pairwise(asked[1:])]
    assert min(later) >= every_s - SLACK_S
    assert len(later) >= 10 * len(days.urls)


@pytest.mark.parametrize("every", [6 * HOUR, DAY])
async def test_T63_no_interval_is_longer_than_it_is_set_where_the_service_is_killed_and_pages_are_asked_for(
    tmp_path: Path, every: timedelta
) -> None:
    days = Days(tmp_path, every)
    await days.watch()

    for part in range(1, 9):
        await days.check_for(every * part / 4)
        if part % 3 == 0:
            await days.request()
            await days.check_for(every)

    assert max(days.intervals_s()) <= every.total_seconds() + SLACK_S
    assert min(len(asked) for asked in days.asked.values()) >= 10


async def test_T63_after_a_time_without_a_service_all_pages_are_checked_within_the_interval(tmp_path: Path) -> None:
    days = Days(tmp_path, DAY)
    await days.watch()
    await days.check_for(2 * DAY)
    await days.clock.leap(30 * DAY.total_seconds())
    before = {url: len(asked) for url, asked in days.asked.items()}
    started_s = (days.clock.now() - days.began) / 1e6

    await days.check_for(2 * DAY)

    first = [asked[before[url]] - started_s for url, asked in days.asked.items()]
    assert max(first) <= DAY.total_seconds() + SLACK_S
    after = [interval for asked in days.asked.values() for interval in _after(asked, started_s)]
    assert max(after) <= DAY.total_seconds() + SLACK_S


def _after(asked: list[float], since_s: float) -> list[float]:
    return [after - before for before, after in pairwise(asked) if before >= since_s]
