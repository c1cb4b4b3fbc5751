"""What a site asks to be left between requests is kept to, page by page (Crawl-delay)."""

from __future__ import annotations

import itertools
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.fakes import EagerClock, ScriptedFetcher
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.request_slots import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.settings import FetchSettings, HostRule, HostSettings, PageSettings

if TYPE_CHECKING:
    from tocsin.model import HopRequest, HopResponse

HOST = "a.example"
PAGE = f"https://{HOST}/news"


class Site:
    """A receiver over a site with a robots.txt; notes when each page was asked for."""

    def __init__(self, robots: str, rule: HostRule | None = None) -> None:
        self.clock, self.web = EagerClock(), ScriptedFetcher()
        rules = {HOST: rule} if rule else {}
        gates = Gates(HostSettings(delay=timedelta(seconds=1), rules=rules), self.clock)
        outage, in_flight = OutageWatch(self.clock), RequestSlots(1)
        cache = RobotsCache(self._get, None, self.clock)
        self.receiver = Receiver(gates, cache, outage, in_flight, FetchSettings(), self.clock)
        self.web.page(f"https://{HOST}/robots.txt", robots)
        self.web.page(PAGE, "<p>news")

    async def _get(self, request: HopRequest) -> HopResponse:
        return await self.receiver.hop(request, self.web)

    async def pauses(self) -> list[float]:
        """The seconds between the starts of three requests for the page."""
        starts = []
        for _ in range(3):
            await self.receiver.receive(PageRequest(PAGE, HOST, PageSettings()), self.web)
            starts.append(self.clock.monotonic())
        return [later - earlier for earlier, later in itertools.pairwise(starts)]


@pytest.mark.parametrize(
    ("robots", "pause_s"),
    [
        ("User-agent: *\nCrawl-delay: 12", 12),
        ("User-agent: tocsin\nCrawl-delay: 7\n\nUser-agent: *\nCrawl-delay: 12", 7),
        ("User-agent: other\nCrawl-delay: 12", 1),
        ("User-agent: *\nCrawl-delay: 0", 1),
        ("User-agent: *\nCrawl-delay: 86400", 30),
    ],
)
async def test_the_crawl_delay_of_our_record_lies_between_two_requests(robots: str, pause_s: float) -> None:
    assert await Site(robots).pauses() == [pause_s, pause_s]


async def test_where_the_user_set_a_delay_for_the_host_that_one_holds() -> None:
    site = Site("User-agent: *\nCrawl-delay: 12", HostRule(delay=timedelta(seconds=3)))

    assert await site.pauses() == [3, 3]


async def test_where_robots_txt_is_ignored_so_is_its_delay() -> None:
    site = Site("User-agent: *\nCrawl-delay: 12", HostRule(robots="ignore"))

    assert await site.pauses() == [1, 1]
    assert site.web.asked(f"https://{HOST}/robots.txt") == 0
