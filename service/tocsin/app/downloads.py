"""Lists that a user named by URL: fetched a few at once, each at its host's gate, nothing stored."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tocsin.adapters.http.fetcher import HttpFetcher
from tocsin.adapters.http.tls import accepted_of
from tocsin.adapters.system import SystemClock
from tocsin.app.fetching import user_agent
from tocsin.app.once import FetchedPage
from tocsin.configuration.pages import refuse_unread
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.hosts.robots import RobotsCache
from tocsin.engine.visiting.receive import PageRequest, Receiver
from tocsin.errors import FetchFailed, Postponed
from tocsin.model import FailureKind
from tocsin.settings import PageSettings
from tocsin.spec.html.urls import host_and_origin, watch_url
from tocsin.spec.sitemaps import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.model import HopRequest, HopResponse
    from tocsin.ports import Session
    from tocsin.settings import Settings

AT_ONCE = 4
# How long one list may wait for its turn; a user looks on.
HOLD = timedelta(minutes=10)


class ListDownloads:
    """Fetches lists.

    typed   the URL that the user named: its address may be private, and robots.txt is not asked about it
    direct  obeys nothing; the other receiver obeys robots.txt
    """

    def __init__(
        self,
        typed: str,
        session: Session,
        direct: Receiver,
        obedient: Receiver,
        robots: RobotsCache,
        policy: PageSettings,
    ) -> None:
        self._typed, self._session, self._policy = watch_url(typed), session, policy
        self._direct, self._obedient, self._robots = direct, obedient, robots

    async def get(self, url: str) -> FetchedPage:
        """Fetch one list. Raises BadUrl, FetchFailed, FetchRefused, or Disallowed."""
        watched = watch_url(url)
        is_typed = watched.url == self._typed.url
        receiver = self._direct if is_typed else self._obedient
        secrets = self._typed.credentials if is_typed else watched.credentials
        is_own = watched.origin == self._typed.origin
        # What the user set for pages, credentials above all, is not for every host that a list names.
        policy = self._policy if is_own else PageSettings(proxy=self._policy.proxy)
        request = PageRequest(watched.url, watched.host, policy, secrets=secrets, private=is_own)
        try:
            received = await receiver.receive(request, self._session)
        except Postponed as exc:
            detail = f"its host asks to be left alone for longer than {HOLD}; try again later"
            raise FetchFailed(url, FailureKind.STATUS, detail) from exc
        response = received.response
        return FetchedPage(received.final_url, response.body, response.header("content-type"))

    async def sitemaps(self) -> tuple[str, ...]:
        """Return what the robots.txt of the site that the user named says of its sitemaps, as written.

        Raises FetchFailed or FetchRefused.
        """
        found = await self._robots.sitemaps(self._typed.url, self._policy.proxy or None)
        if found is None:
            detail = "robots.txt could not be read: the server has an error or is busy; try again later"
            raise FetchFailed(self._typed.url, FailureKind.STATUS, detail)
        return found


@asynccontextmanager
async def open_downloads(settings: Settings, typed: str) -> AsyncIterator[ListDownloads]:
    """Open what fetches the list that a user named, and those that it names.

    Raises BadUrl; SettingsError where the proxy or the credentials of pages cannot be read from their files.
    """
    refuse_unread(settings.pages)
    clock = SystemClock()
    total = max(settings.fetch.max_body, MOST_BYTES)
    fetch = replace(settings.fetch, max_body=total, max_wire=total, hold=max(settings.fetch.hold, HOLD))
    origin = watch_url(typed).origin
    agent, accepted = user_agent(settings.instance.contact), accepted_of(settings.hosts)
    async with HttpFetcher(fetch, settings.network, user_agent=agent, accepted=accepted) as fetcher:
        session, gates, outage = fetcher.shared(), Gates(settings.hosts, clock), OutageWatch(clock)
        in_flight = RequestSlots(AT_ONCE)
        direct = Receiver(gates, None, outage, in_flight, fetch, clock)

        async def get_robots(request: HopRequest) -> HopResponse:
            is_own = host_and_origin(request.url)[1] == origin
            return await direct.hop(replace(request, private=is_own), session)

        robots = RobotsCache(get_robots, None, clock, total_s=fetch.deadlines.total.total_seconds())
        obedient = Receiver(gates, robots, outage, in_flight, fetch, clock)
        yield ListDownloads(typed, session, direct, obedient, robots, settings.pages)
