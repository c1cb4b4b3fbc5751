"""The checking half of an engine, over a real store and a scripted web."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec

from tests.builders import URL, html
from tests.fakes import RecordingTelemetry, ScriptedFetcher, SeededChance
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.values import HOUR_US
from tocsin.adapters.system import SystemClock
from tocsin.engine.alerting.announcements import OutageAnnouncer
from tocsin.engine.fetchers.checkers import LocalCheckers
from tocsin.engine.hosts.kept_gates import KeptGates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.process_limits import LoopTime, RequestSlots
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.scheduling.scheduler import Scheduler
from tocsin.engine.scheduling.writer import ResultWriter
from tocsin.engine.visiting.receive import Receiver, RequestSets
from tocsin.engine.visiting.visit import Visitor
from tocsin.model import CheckResult, Instant, NewPage
from tocsin.ports import Clock, Store
from tocsin.settings import FetchSettings, HostSettings, PageSettings, StoreSettings
from tocsin.spec.html.urls import watch_url

LEASE = timedelta(seconds=10)


class NotedVisitor(Visitor):
    """Tells when pages were withdrawn."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.withdrawn = asyncio.Event()

    def withdraw(self, page_ids: Iterable[int]) -> None:
        super().withdraw(page_ids)
        self.withdrawn.set()


class RenderedPages(set[int]):
    """The pages that the render queue has in hand; an event says that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = asyncio.Event()

    def __contains__(self, page_id: object) -> bool:
        self.asked.set()
        return super().__contains__(page_id)


class Engine:
    """The checking half of an engine over a real store and a scripted web; `wrote` is set by each batch of results."""

    def __init__(self, store: Store, request_id: int | None, *, clock: Clock | None = None, **pages: Any) -> None:
        self.store, self.web, self.telemetry = store, ScriptedFetcher(), RecordingTelemetry()
        self.wrote = asyncio.Event()
        clock, chance, fetch = clock or SystemClock(), SeededChance(), FetchSettings(hold=timedelta(0))
        self.gates = KeptGates(HostSettings(delay=timedelta(0)), clock, store, self.telemetry)
        self.outage = OutageWatch(clock)
        in_flight = RequestSlots(50)
        receiver = Receiver(self.gates, None, self.outage, in_flight, FetchSettings(), clock)
        self.policies = Policies(msgspec.structs.replace(PageSettings(min_gap=timedelta(0)), **pages))
        self.alerts = EventWriter("tocsin", chance)
        self.lease = Lease(store, "test", LEASE, clock, self.telemetry)
        tries = RequestSets(receiver, self.web, self.gates, fetch, clock, chance)
        conclusions = Conclusions(self.alerts, time_zone="UTC")
        visitor = NotedVisitor(tries, self.policies, conclusions, self.gates, self.outage, fetch, clock, self.telemetry)
        self.rendered = RenderedPages()
        self.visited_withdrawn = visitor.withdrawn
        self.batches: list[Sequence[CheckResult]] = []
        self.scheduler = Scheduler(
            store,
            self.lease,
            LocalCheckers(visitor, self.policies, conclusions, self.gates, in_flight, LoopTime(), clock),
            self.policies,
            self.gates,
            self.outage,
            FetchSettings(in_flight=50),
            clock,
            self.telemetry,
            request_id=request_id,
            is_rendered=lambda page_id, _since_s: page_id in self.rendered,
            recall_holds=self.gates.recall,
        )
        self.writer = ResultWriter(
            store, self.lease, StoreSettings(batch_wait=timedelta(0)), clock, self.telemetry,
            patient=False, on_committed=self._committed,
        )  # fmt: skip
        self.uplink = OutageAnnouncer(store, self.lease, self.outage, self.alerts, clock, self.telemetry, node="one")

    def _committed(self, results: Sequence[CheckResult], due: dict[int, Instant | None]) -> None:
        self.batches.append(results)
        self.scheduler.on_committed(results, due)
        self.wrote.set()

    async def run(self, stopping: asyncio.Event | None = None) -> list[CheckResult]:
        """Run until the request is done, or until told to stop."""
        await self.lease.take()
        async with asyncio.TaskGroup() as group:
            writing = group.create_task(self.writer.run())
            await self.scheduler.run(self.writer, stopping or asyncio.Event())
            await self.writer.finish()
            await writing
        return [result for batch in self.batches for result in batch]


@asynccontextmanager
async def engine_on(
    folder: Path, urls: Sequence[str], *, requested: bool = True, **pages: Any
) -> AsyncIterator[Engine]:
    async with await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True) as store:
        await watch(store, urls)
        request_id = await store.request_check(None, SystemClock().now()) if requested else None
        yield Engine(store, request_id, **pages)


async def watch(store: Store, urls: Sequence[str]) -> None:
    watched = [watch_url(url) for url in urls]
    pages = [NewPage(url=one.url, given=one.given, host=one.host, shard=one.shard) for one in watched]
    # So long ago that every first check is due by now, wherever its jitter puts it.
    await store.add_pages(pages, SystemClock().now() - HOUR_US)


def many(hosts: int, pages: int) -> list[str]:
    return [f"http://host{host}.example/{page}" for host in range(hosts) for page in range(pages)]


class Meddled:
    """A store where one method is meddled with: before its call of this number, something else happens."""

    def __init__(self, store: Store, name: str, call: int, before: Callable[[], Awaitable[None]]) -> None:
        self._store, self._name, self._before = store, name, before
        self.call, self.calls = call, 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name != self._name:
            return method

        async def meddled(*args: Any, **named: Any) -> Any:
            self.calls += 1
            if self.calls == self.call:
                await self._before()
            return await method(*args, **named)

        return meddled


async def run_until_asked(engine: Engine, url: str = URL) -> None:
    """Run a service until this page was asked for."""
    stopping = asyncio.Event()

    async def stop(request: Any) -> None:
        if request.url == url:
            stopping.set()

    engine.web.before = stop
    engine.web.page(url, html(created="1"))
    async with asyncio.timeout(60):
        await engine.run(stopping)
