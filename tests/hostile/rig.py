"""The engine as `tocsin check` puts it together, on a real store and real sockets, with short deadlines."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec

from tests.claiming import claim_all
from tests.fakes import RecordingTelemetry
from tests.hostile.behaviour import PLENTY_S, Behaviour
from tocsin.adapters.http.fetcher import HttpFetcher
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.role import end_leases
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import Assembly
from tocsin.app.channels import OpenChannels
from tocsin.model import CheckReport, CheckResult, NewPage, PageFilter, PageRow, PageTask
from tocsin.settings import (
    Deadlines,
    FetchSettings,
    HostRule,
    HostSettings,
    NetworkSettings,
    PageSettings,
    Settings,
    StoreSettings,
)
from tocsin.spec.html.urls import watch_url

LOOPBACK = ("127.0.0.0/8",)


class Kept(NamedTuple):
    """What the store keeps of a page's last good answer."""

    state: Any
    validators: Any
    body_digest: str | None


class Rig:
    """A store, and an engine for each check of it.

    settings      of the checks
    tls           the context of encrypted connections; None: the system's authorities
    name_servers  "address:port" each; None: the system's
    held_s        for how long the last check left each host's gate closed
    """

    def __init__(self, store: SqlStore, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.tls: ssl.SSLContext | None = None
        self.name_servers: list[str] | None = None
        self.held_s: dict[str, float] = {}
        self._clock = SystemClock()

    @classmethod
    @asynccontextmanager
    async def at(cls, folder: Path, **sections: Any) -> AsyncIterator[Self]:
        """Open a store in this folder."""
        settings = settings_in(folder, **sections)
        async with await open_store(settings.store.url, engine=True) as store:
            yield cls(store, settings)

    async def watch(self, *urls: str) -> None:
        """Put pages on the list."""
        found = [watch_url(url) for url in urls]
        new = [NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard) for page in found]
        await self.store.add_pages(new, self._clock.now())

    async def check(
        self,
        stopping: asyncio.Event | None = None,
        *,
        heard: Callable[[CheckReport], object] = lambda _report: None,
        **sections: Any,
    ) -> list[CheckReport]:
        """Check all pages once, as a process of its own would: nothing but the store is left of it.

        stopping  interrupts it
        heard     is called with each report when it was written
        sections  of the settings that are other ones for this check
        Returns the reports in the order in which they were written.
        """
        settings = msgspec.structs.replace(self.settings, **sections)
        await self._end_leases()
        request_id = await self.store.request_check(None, self._clock.now())
        reports: list[CheckReport] = []

        def committed(results: Sequence[CheckResult]) -> None:
            written = [result.report for result in results if result.order.request_id == request_id]
            reports.extend(written)
            for report in written:
                heard(report)

        fetcher = HttpFetcher(
            settings.fetch,
            settings.network,
            user_agent="Tocsin/test",
            tls=self.tls,
            name_servers=self.name_servers,
        )
        async with fetcher:
            engine = Assembly(
                settings,
                self.store,
                fetcher,
                OpenChannels(settings),
                RecordingTelemetry(),
                request_id=request_id,
                on_committed=committed,
            )
            await engine.runner.check(stopping or asyncio.Event())
            self.held_s = {page.host: engine.gates.held_s(page.host) for page in await self._pages()}
        return reports

    async def page(self, url: str) -> PageRow:
        """The page as it is listed."""
        page = await self.store.page(url)
        assert page is not None
        return page

    async def kept(self, url: str) -> Kept:
        """What is kept of its last good answer."""
        task = await self._task(url)
        return Kept(task.state, task.last.validators, task.last.body_digest)

    async def _task(self, url: str) -> PageTask:
        await self._end_leases()
        now = self._clock.now()
        request_id = await self.store.request_check(None, now)
        claim = await claim_all(self.store, self.settings.instance.name)
        assert claim is not None
        hosts = [host async for host, _ in await self.store.host_agenda(claim, since_revision=None)]
        due = await self.store.due_pages(claim, hosts, now, per_host=100, request_id=request_id)
        await self.store.drop_request(request_id)
        return next(task for task in due if task.url == url)

    async def _end_leases(self) -> None:
        """End the lease of the engine before, as a process does that opens the store: each engine is another holder."""
        await self.store._database.write(end_leases)

    async def _pages(self) -> list[PageRow]:
        return await self.store.pages(PageFilter())


def settings_in(folder: Path, **sections: Any) -> Settings:
    """Settings for checks of loopback without any pause between requests; no try is made twice."""
    given: dict[str, Any] = {
        "store": StoreSettings(url=f"sqlite:{folder / 'tocsin.db'}", batch_wait=timedelta(0)),
        "network": NetworkSettings(allow=LOOPBACK),
        "pages": PageSettings(min_gap=timedelta(0), tries=0),
        "hosts": HostSettings(delay=timedelta(0)),
    }
    return Settings(**(given | sections))


def limits(behaviour: Behaviour) -> FetchSettings:
    """The deadlines and caps under which a behaviour is met."""
    phase = timedelta(seconds=behaviour.phase_s)
    return FetchSettings(
        deadlines=Deadlines(
            dns=phase,
            connect=timedelta(seconds=PLENTY_S),
            tls=timedelta(seconds=behaviour.tls_s),
            first_byte=phase,
            total=timedelta(seconds=behaviour.total_s),
        ),
        max_body=behaviour.max_body,
        max_wire=behaviour.max_wire,
    )


def without_robots(host: str) -> HostSettings:
    """Politeness that does not look at this host's robots.txt."""
    return HostSettings(delay=timedelta(0), rules={host: HostRule(robots="ignore")})
