"""The switch of the demo site: its pages on the list, and the site that serves them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from tocsin.adapters.demo_site import AUTHORS, DemoSite, ReservedPort
from tocsin.configuration.pages import parse_page_settings
from tocsin.errors import StoreError, UsageError
from tocsin.events import Happening
from tocsin.lists.pages import new_page
from tocsin.model import DEMO_GROUP, DEMO_HOST, PageFilter
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.model import Instant
    from tocsin.ports import Clock, Store, Telemetry

# Settings of the group. A second between requests is usual, so five pages take half of `every` and none is late.
SETTINGS: Final = {
    "every": "10s",
    "min_gap": "1s",
    "mode": "on",
    "tell": "any",
    "adaptive": "false",
    "signals": "auto",
    "proxy": "",
}
_MANY: Final = 1000
# How soon a node notices that another one began or ended the demo.
_FOLLOW_S: Final = 5.0
# The site's own pages; others that were put into the same group stay.
_PAGES: Final = PageFilter(group=DEMO_GROUP, host=DEMO_HOST)


async def list_demo_pages(store: Store, now: Instant, **changed: str) -> None:
    """Put the site's pages on the list, in their own group, and ask for their first check.

    changed  settings of the group that differ from `SETTINGS`
    """
    await store.edit_group(DEMO_GROUP, now, settings=parse_page_settings(SETTINGS | changed), unset=("cron",))
    pages = [
        new_page(watch_url(f"http://{DEMO_HOST}{path}"), group=DEMO_GROUP, text=author.words)
        for path, author in AUTHORS.items()
    ]
    added = await store.add_pages(pages, now)
    await store.request_check([page_id for page_id in added if page_id is not None], now)


class DemoSwitch:
    """Implements `ports.DemoDesk`.

    place  the port that the fetchers know
    Use it inside `running`.
    """

    def __init__(self, place: ReservedPort, store: Store, clock: Clock, telemetry: Telemetry) -> None:
        self._place, self._store, self._clock, self._telemetry = place, store, clock, telemetry
        self._site: DemoSite | None = None
        self._stack = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve the site inside, as soon as it is wanted; at once where its pages are on the list already."""
        async with self._stack:
            self._stack.callback(self._place.close)
            if pages := await self._store.pages(_PAGES, limit=_MANY):
                # `tocsin demo` lists the pages before it starts the service: the story begins once they were read.
                is_new = all(page.last.received_at is None for page in pages)
                (await self._serve()).open(anew=is_new)
            yield

    async def follow(self) -> None:
        """Serve the site where another node has put its pages on the list, until cancelled.

        Each node fetches from its own machine, and any of them may hold the site's host.
        """
        while self._store.is_shared:
            await self._clock.sleep(_FOLLOW_S)
            with suppress(StoreError, UsageError):
                async with self._one_at_a_time:
                    is_listed = bool(await self._store.pages(_PAGES, limit=1))
                    if is_listed and not self.is_on:
                        (await self._serve()).open(anew=True)
                    elif not is_listed and self._site is not None:
                        self._site.close()

    @property
    def is_on(self) -> bool:
        """See `ports.DemoDesk`."""
        return self._site is not None and self._site.is_open

    async def begin(self) -> None:
        """See `ports.DemoDesk`."""
        async with self._one_at_a_time:
            if self.is_on:
                return
            site = await self._serve()
            await list_demo_pages(self._store, self._clock.now())
            site.open(anew=True)
            self._telemetry.emit(Happening("demo.began", "info", {"pages": len(AUTHORS), "group": DEMO_GROUP}))

    async def end(self) -> int:
        """See `ports.DemoDesk`."""
        async with self._one_at_a_time:
            page_ids = await self._store.page_ids(_PAGES, last_id=await self._store.last_page_id(), limit=_MANY)
            removed = await self._store.remove_pages(page_ids)
            if self._site is not None:
                self._site.close()
            self._telemetry.emit(Happening("demo.ended", "info", {"pages": removed}))
            return removed

    async def _serve(self) -> DemoSite:
        if self._site is None:
            taken = self._place.take()
            if taken is None:
                raise UsageError("the demo site needs a port of 127.0.0.1, and this machine gave none")
            self._site = await self._stack.enter_async_context(DemoSite(taken, self._clock))
        return self._site
