"""A cache of robots.txt over a scripted network, and a store for its answers."""

from __future__ import annotations

from tests.fakes import ManualClock, ScriptedFetcher
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.model import HopRequest, HopResponse

ORIGIN = "https://a.example"
ROBOTS = f"{ORIGIN}/robots.txt"
PAGE = f"{ORIGIN}/news"
FORBIDDING = "User-agent: *\nDisallow: /news\n"
HOUR = 3600.0


class Kept:
    """A store of answers."""

    def __init__(self) -> None:
        self.rows: dict[str, str] = {}

    async def load_robots(self, origin: str) -> str | None:
        return self.rows.get(origin)

    async def save_robots(self, origin: str, kept: str) -> None:
        self.rows[origin] = kept


class Site:
    """A cache over a scripted network."""

    def __init__(self, store: Kept | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.network = ScriptedFetcher()
        self.cache = RobotsCache(self.get, store, self.clock)

    async def get(self, request: HopRequest) -> HopResponse:
        return await self.network.get(request)

    async def is_allowed(self, url: str = PAGE) -> bool:
        return (await self.cache.ruling(url)).allowed

    @property
    def asked(self) -> int:
        return len(self.network.requests)
