"""The service as it runs, beside the town that it watches: for tests in a browser, and for the manual's pictures."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self

import httpx

from tests.conftest import ROOT
from tests.journey.running import PATIENCE_S, Home, Service, until
from tests.web.town import EDITIONS, EVIL, GROUPS, HOSTILE, WORDS, Town
from tocsin.adapters.system import SystemClock
from tocsin.lists.pages import new_page
from tocsin.model import Instant, NewPage, PageFilter
from tocsin.spec.html.urls import watch_url

CONFIGURATION = """\
[instance]
contact = "tests"
[store]
url = "sqlite:tocsin.db"
[channels.log]
type = "file"
path = "alerts.jsonl"
[pages]
min_gap = "0s"
signals = "all"
proxy = "http://127.0.0.1:{proxy}"
[fetch]
fetchers = 0
[hosts]
delay = "0s"
robots = "obey"
[network]
allow = ["127.0.0.0/8"]
[questions]
gather = "0s"
[http]
listen = "127.0.0.1:0"
"""


class LateHome(Home):
    """A home whose clock is slow by so many seconds."""

    late_s = 0

    async def _spawn(self, *arguments: str, logged: bool = False, node: str = "") -> asyncio.subprocess.Process:
        assert not node  # there is one
        late = ("-m", "tests.web.backdated", str(self.late_s), *arguments)
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                *late,
                cwd=self.folder,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log if logged else asyncio.subprocess.PIPE,
                stderr=log if logged else asyncio.subprocess.PIPE,
            )


class Living:
    """A service that watches the town.

    url    where its pages are, without a slash at the end
    """

    def __init__(self, home: LateHome, town: Town) -> None:
        self.home, self.town, self.url = home, town, ""
        self.service: Service | None = None

    def now(self) -> Instant:
        """What the service takes to be now."""
        return SystemClock().now() - self.home.late_s * 1_000_000

    @classmethod
    @asynccontextmanager
    async def at(cls, folder: Path) -> AsyncIterator[Self]:
        """Keep a service going inside; nothing is watched yet."""
        async with Town() as town:
            home = LateHome(folder)
            home.configure(CONFIGURATION.format(proxy=town.port))
            living = cls(home, town)
            await living.start()
            try:
                yield living
            finally:
                for service in home.services:
                    await service.clear()

    async def start(self) -> None:
        """Run it, and find out where it listens."""
        self.home.log.write_text("")
        self.service = await self.home.start()
        self.url = str((await self.home.hears("http.listening"))["url"]).rstrip("/")
        async with httpx.AsyncClient(timeout=PATIENCE_S) as client:

            async def is_ready() -> bool:
                return (await client.get(f"{self.url}/readyz")).is_success

            await until(is_ready, what="a service that is ready")

    async def stop(self) -> None:
        """End it; its store stays."""
        assert self.service is not None
        await self.service.stop()

    async def watch(self, pages: Sequence[NewPage]) -> None:
        """Put pages on the list."""
        async with self.home.store() as store:
            await store.add_pages(pages, self.now())

    async def check(self) -> None:
        """Have all pages checked, and wait until their alerts are there."""
        async with self.home.store() as store:
            begun = self.now()
            await store.request_check(None, begun)

            async def all_checked() -> bool:
                pages = await store.pages(PageFilter(), limit=1000)
                return all(page.last.checked_at and page.last.checked_at >= begun for page in pages)

            await until(all_checked, what="a check of every page")

            async def all_told() -> bool:
                waiting = await store.tally_renders()
                return waiting.number == 0 and not await store.questions_to_announce(self.now())

            await until(all_told, what="the alert of every change and question")

    async def live_through(self, editions: int = EDITIONS) -> None:
        """Let the town publish its editions, and have each of them checked."""
        # Ahead of whoever watches: a first check may come by itself.
        self.town.publish(1)
        await self.watch(townspeople())
        for edition in range(1, editions + 1):
            self.town.publish(edition)
            await self.check()


def townspeople() -> list[NewPage]:
    """The pages that are watched; what the user wrote of the last one is as bad as the page itself."""
    pages = [new_page(watch_url(url), group=group, text=WORDS.get(url)) for url, group in GROUPS.items()]
    return [*pages, new_page(watch_url(EVIL), group="<b>&amp;{{7*191}}", text=" ".join(HOSTILE)[:250])]
