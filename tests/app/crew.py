"""An engine whose pages are fetched and assessed by real processes, over a real store and a loopback site."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import pytest

from tests.conftest import ROOT
from tests.fakes import FakeBrowser, RecordingTelemetry
from tocsin.adapters.processes.starting import LocalStarter
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import Assembly, assemble
from tocsin.model import CheckReport, CheckResult, HopRequest, NewPage, PageFilter
from tocsin.ports import Store
from tocsin.ports.messages import Hop
from tocsin.ports.processes import FetcherProcess
from tocsin.settings import FetchSettings, HostSettings, NetworkSettings, PageSettings, Settings, StoreSettings
from tocsin.spec.html.urls import watch_url

PATIENCE_S = 300
"""How long a check may take: processes are started for it, some of them again and again."""
FIRST, SECOND = "127.0.0.1", "127.0.0.5"
"""Of two fetchers, the one serves the first of these hosts, the other one the second."""


class NotedStarter(LocalStarter):
    """Starts fetchers to which marked pages are poison, and notes each."""

    def __init__(self) -> None:
        super().__init__("tests.app.poisoned")
        self.started: list[FetcherProcess] = []

    async def start(self) -> Any:
        """Start one."""
        process = await super().start()
        self.started.append(process)
        return process


class Crew:
    """What a test needs to look at a store that is checked by fetcher processes.

    reports    of the checks that were written, in order
    on_report  called when some have come
    browser    that pages are read in whose settings say so
    """

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.starter, self.telemetry = NotedStarter(), RecordingTelemetry()
        self.reports: list[CheckReport] = []
        self.on_report: Callable[[], None] = lambda: None
        self.demo_port = 0
        self.browser, self.is_browser_real = FakeBrowser(), False

    @classmethod
    @asynccontextmanager
    async def at(cls, folder: Path, patch: pytest.MonkeyPatch, *urls: str, **sections: Any) -> AsyncIterator[Self]:
        """Open a store in this folder, and watch these pages."""
        patch.setenv("PYTHONPATH", str(ROOT))
        given: dict[str, Any] = {
            "store": StoreSettings(url=f"sqlite:{folder / 'tocsin.db'}", batch_wait=timedelta(0)),
            "network": NetworkSettings(allow=("127.0.0.0/8",)),
            "pages": PageSettings(min_gap=timedelta(0), tries=0),
            "hosts": HostSettings(delay=timedelta(0)),
            "fetch": FetchSettings(fetchers=2),
        }
        settings = Settings(**(given | sections))
        async with await open_store(settings.store.url, engine=True) as store:
            crew = cls(store, settings)
            await crew.watch(*urls)
            yield crew

    async def watch(self, *urls: str) -> None:
        """Put pages on the list."""
        found = [watch_url(url) for url in urls]
        new = [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]
        await self.store.add_pages(new, SystemClock().now())

    async def pause(self, url: str) -> None:
        """Pause a page, as its user."""
        (page,) = await self.store.pages(PageFilter(urls=(url,)))
        await self.store.edit_pages(
            [page.id],
            SystemClock().now(),
            settings={},
            unset=[],
            paused=True,
            group=None,
            text=None,
            clear_text=False,
        )

    @asynccontextmanager
    async def engine(self, *, request_id: int | None = None) -> AsyncIterator[Assembly]:
        """Put an engine together, with its processes."""
        count = self.settings.fetch.fetchers
        assert count != "auto"
        async with assemble(
            self.settings,
            self.store,
            self.telemetry,
            request_id=request_id,
            on_committed=self._committed,
            fetchers=count,
            starter=self.starter,
            open_browser=None if self.is_browser_real else lambda _group: self.browser,
            demo_port=self.demo_port,
        ) as engine:
            yield engine

    async def check(self) -> dict[str, CheckReport]:
        """Check all pages once; returns what was found, by path."""
        self.reports.clear()
        request_id = await self.store.request_check(None, SystemClock().now())
        async with self.engine(request_id=request_id) as engine, asyncio.timeout(PATIENCE_S):
            await engine.runner.check(asyncio.Event())
        return {report.url.split("/", 3)[3]: report for report in self.reports}

    async def ping(self, engine: Assembly, *urls: str) -> None:
        """Have the fetchers of these URLs ask for them: once they have, they know what they were told before."""
        assert engine.fetchers is not None
        for url in urls:
            await engine.fetchers._answer(Hop(HopRequest(url)))

    def said(self, name: str) -> list[dict[str, Any]]:
        """The values of the happenings of this name."""
        return [happening.values for happening in self.telemetry.happenings if happening.name == name]

    def _committed(self, results: Sequence[CheckResult]) -> None:
        self.reports.extend(result.report for result in results)
        self.on_report()
