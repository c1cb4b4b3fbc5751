"""The demo site within the service: its pages on the list, and the site behind them."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Final

from tocsin.adapters.demo.almanac import AUTHORS
from tocsin.adapters.demo.site import DemoSite, Place
from tocsin.configuration.pages import parse_page_settings
from tocsin.errors import UsageError
from tocsin.events import Happening
from tocsin.lists.pages import new_page
from tocsin.model import DEMO_GROUP, DEMO_HOST, PageFilter
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.ports import Clock, Store, Telemetry

SETTINGS: Final = {
    "every": "10s",
    "min_gap": "1s",
    "mode": "on",
    "tell": "any",
    "adaptive": "false",
    "signals": "auto",
    "proxy": "",
}
"""Of the group: a round of it takes half as long at the usual second between requests, so that it is not crowded."""
_MANY: Final = 1000


class DemoDesk:
    """Implements `ports.DemoDesk`.

    place  the port that the fetchers were told of
    Use it inside `running`.
    """

    def __init__(self, place: Place, store: Store, clock: Clock, telemetry: Telemetry) -> None:
        self._place, self._store, self._clock, self._telemetry = place, store, clock, telemetry
        self._site: DemoSite | None = None
        self._stack = AsyncExitStack()
        self._one_at_a_time = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve the site inside, as soon as it is wanted; at once where its pages are on the list already."""
        async with self._stack:
            self._stack.callback(self._place.close)
            if await self._page_ids():
                (await self._serve()).open(anew=False)
            yield

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
            now = self._clock.now()
            await self._store.edit_group(DEMO_GROUP, now, settings=parse_page_settings(SETTINGS), unset=("cron",))
            pages = [
                new_page(watch_url(f"http://{DEMO_HOST}{path}"), group=DEMO_GROUP, text=author.words)
                for path, author in AUTHORS.items()
            ]
            added = await self._store.add_pages(pages, now)
            site.open(anew=True)
            await self._store.request_check([page_id for page_id in added if page_id is not None], now)
            self._telemetry.emit(Happening("demo.began", "info", {"pages": len(AUTHORS), "group": DEMO_GROUP}))

    async def end(self) -> int:
        """See `ports.DemoDesk`."""
        async with self._one_at_a_time:
            page_ids = await self._page_ids()
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

    async def _page_ids(self) -> list[int]:
        """The site's own pages; others that somebody put into the same group stay."""
        which = PageFilter(group=DEMO_GROUP, host=DEMO_HOST)
        return await self._store.page_ids(which, last_id=await self._store.last_page_id(), limit=_MANY)
