"""Nobody is given more than can be dealt with: neither while the store stands still, nor while a fetcher does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.crew import FIRST, SECOND, Crew
from tests.builders import html
from tests.engine.visiting.checking import Meddled
from tests.origin import Asked, Origin, Page
from tocsin.adapters.system import SystemClock
from tocsin.settings import FetchSettings

IN_FLIGHT = 2
PAGES = 60


class CountedSite(Origin):
    """A site that tells when so many pages of a host were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.reached = asyncio.Event()
        self.host, self.number = FIRST, PAGES
        self.fallback = Page(self._count)
        self.pages["/robots.txt"] = Page("", status=404)

    def _count(self, asked: Asked) -> bytes:
        host = asked.host.partition(":")[0]
        self.counts[host] = self.counts.get(host, 0) + 1
        if self.counts.get(self.host) == self.number:
            self.reached.set()
        return html(created="1")


@pytest.fixture
async def site() -> AsyncIterator[CountedSite]:
    async with CountedSite() as origin:
        await origin.start(SECOND)
        yield origin


async def test_while_the_store_stands_still_no_more_pages_are_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: CountedSite
) -> None:
    urls = [site.url(f"/{number}") for number in range(PAGES)]
    fetch = FetchSettings(fetchers=1, in_flight=IN_FLIGHT)
    site.number = 4 * IN_FLIGHT
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=fetch) as crew:
        asked_meanwhile = 0

        async def stand_still() -> None:
            nonlocal asked_meanwhile
            await site.reached.wait()
            await crew.ping(engine, site.url("/robots.txt"))
            asked_meanwhile = site.counts[FIRST]

        request_id = await crew.store.request_check(None, SystemClock().now())
        async with crew.engine(request_id=request_id) as engine:
            engine._writer._store = Meddled(crew.store, "commit", 1, stand_still)
            await engine.runner.check(asyncio.Event())

    assert asked_meanwhile == 4 * IN_FLIGHT
    assert len(crew.reports) == PAGES


async def test_a_fetcher_that_stands_still_is_not_fed_and_holds_up_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, site: CountedSite
) -> None:
    urls = [site.url(f"/{number}", host=host) for number in range(PAGES) for host in (FIRST, SECOND)]
    fetch = FetchSettings(fetchers=2, in_flight=IN_FLIGHT)
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=fetch) as crew:
        request_id = await crew.store.request_check(None, SystemClock().now())
        async with crew.engine(request_id=request_id) as engine:
            await crew.ping(engine, site.url("/robots.txt"), site.url("/robots.txt", host=SECOND))
            assert engine.fetchers is not None
            link = engine.fetchers._links[1]
            assert link.pid is not None
            os.kill(link.pid, signal.SIGSTOP)
            async with asyncio.TaskGroup() as group:
                group.create_task(engine.runner.check(asyncio.Event()))
                await site.reached.wait()
                asked_meanwhile, given = site.counts.get(SECOND, 0), len(link._given)
                os.kill(link.pid, signal.SIGCONT)

    assert asked_meanwhile == 0
    assert given <= 3 * IN_FLIGHT
    assert len(crew.reports) == 2 * PAGES
