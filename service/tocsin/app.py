"""The composition root: settings to adapters to engine. The one file that knows them all."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import uvloop
from msgspec import Struct

from tocsin import __version__
from tocsin.adapters.http.fetcher import AiohttpFetcher
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.sinks.context import SinkContext
from tocsin.adapters.sinks.registry import open_sink
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.adapters.telemetry import LogTelemetry
from tocsin.configuration import needs_restart
from tocsin.engine.alerts import Alerts
from tocsin.engine.attention import Attention
from tocsin.engine.awareness import Awareness
from tocsin.engine.conclude import Conclusions
from tocsin.engine.delivery import Delivery
from tocsin.engine.gates import Gates
from tocsin.engine.lease import Lease
from tocsin.engine.outage import OutageWatch
from tocsin.engine.policies import Policies
from tocsin.engine.pruning import Pruning
from tocsin.engine.receive import PageRequest, Receiver
from tocsin.engine.rendering import HttpRenderer
from tocsin.engine.renders import RenderQueue
from tocsin.engine.robots import RobotsCache
from tocsin.engine.runner import Loops, Runner
from tocsin.engine.scheduler import Scheduler
from tocsin.engine.uplink import Uplink
from tocsin.engine.visit import Tries, Visitor
from tocsin.engine.writer import Writer
from tocsin.errors import SettingsError, StoreLocked, TocsinError
from tocsin.events import Happening
from tocsin.model import SinkState
from tocsin.ports import HopRequest, HopResponse
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from tocsin.configuration import Loaded
    from tocsin.model import CheckReport, CheckResult, Instant
    from tocsin.ports import Sink, Store, Telemetry
    from tocsin.settings import Settings

T = TypeVar("T")
FOLLOW_S = 0.1


class FetchedPage(Struct, frozen=True):
    """A page fetched for a one-shot command: no store is touched."""

    url: str
    body: bytes
    content_type: str | None


class CheckSummary(Struct, frozen=True):
    """How a check went.

    outcomes  how many pages ended how
    silent    pages that declare nothing that can be compared
    outage    it was our own connection that failed: nobody was asked about its pages
    """

    outcomes: dict[str, int]
    silent: int
    outage: bool = False


class Service(Struct, frozen=True):
    """An engine put together, and what a running one can be told anew."""

    runner: Runner
    scheduler: Scheduler
    gates: Gates
    policies: Policies
    renders: RenderQueue
    outage: OutageWatch


def execute(work: Coroutine[Any, Any, T]) -> T:
    """Run asynchronous work on uvloop; of errors that several tasks raised at once, raise the first of ours."""
    try:
        return uvloop.run(work)
    except BaseExceptionGroup as group:
        first: BaseException | None = group.subgroup(TocsinError)
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        if first is None:
            raise
        raise first from group


def user_agent(contact: str) -> str:
    """What requests say that they come from."""
    return f"Tocsin/{__version__} (+{contact})" if contact else f"Tocsin/{__version__}"


@asynccontextmanager
async def open_store_for(settings: Settings, *, engine: bool, create: bool = True) -> AsyncIterator[Store]:
    """Open the store that the settings name; raises StoreError."""
    store = await open_store(
        settings.store.url,
        engine=engine,
        create=create,
        history=bool(settings.store.history),
        gather=settings.questions.gather,
    )
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def assemble(
    settings: Settings,
    store: Store,
    telemetry: Telemetry,
    *,
    request_id: int | None = None,
    on_committed: Callable[[Sequence[CheckResult]], None] | None = None,
) -> AsyncIterator[Service]:
    """Put an engine together on an open store; as a service, or for one request."""
    clock, chance = SystemClock(), SystemChance()
    async with AsyncExitStack() as stack:
        agent = user_agent(settings.instance.contact)
        fetcher = await stack.enter_async_context(AiohttpFetcher(settings.fetch, settings.network, user_agent=agent))
        sinks = await _open_sinks(settings, stack, clock)
        await store.set_sinks([sink.name for sink in sinks])
        gates, outage = Gates(settings.hosts, clock), OutageWatch(clock)
        in_flight = asyncio.Semaphore(settings.fetch.in_flight)

        async def get_robots(url: str) -> HopResponse:
            total_s = settings.fetch.deadlines.total.total_seconds()
            return await receiver.hop(HopRequest(url=url, total_s=total_s), fetcher.shared())

        robots = RobotsCache(get_robots, store, clock)
        receiver = Receiver(gates, robots, outage, in_flight, settings.fetch, clock)
        policies = Policies(settings.pages)
        alerts = Alerts(settings.instance.name, chance)
        lease = Lease(store, settings.instance.name, settings.store.lease, clock, telemetry)
        tries = Tries(receiver, fetcher, gates, settings.fetch, clock, chance)
        conclusions = Conclusions(alerts, time_zone=settings.instance.time_zone)
        visitor = Visitor(tries, policies, conclusions, outage, settings.fetch, clock, telemetry)
        scheduler = Scheduler(
            store,
            lease,
            visitor,
            policies,
            gates,
            outage,
            settings.fetch,
            clock,
            telemetry,
            request_id=request_id,
            is_rendered=lambda page_id: page_id in renders.busy,
        )
        delivery = Delivery(sinks, store, settings.delivery, clock, telemetry)

        renderer = HttpRenderer(receiver, fetcher, policies, clock)
        renders = RenderQueue(
            store,
            renderer,
            Awareness(alerts, renderer.kind),
            lease=lease,
            settings=settings.render,
            hold=settings.fetch.hold,
            policies=policies,
            gates=gates,
            outage=outage,
            clock=clock,
            chance=chance,
            telemetry=telemetry,
            on_committed=lambda _host_id, _due: delivery.wake(),
            is_visited=scheduler.is_visited,
        )

        def committed(results: Sequence[CheckResult], due: dict[int, Instant | None]) -> None:
            scheduler.on_committed(results, due)
            if any(result.verdict is not None or result.render_owed for result in results):
                renders.wake()
            if any(result.alerts or result.recovery for result in results):
                delivery.wake()
            if on_committed is not None:
                on_committed(results)

        writer = Writer(
            store, lease, settings.store, clock, telemetry, patient=request_id is None, on_committed=committed
        )
        attention = Attention(
            store, alerts, outage, settings.questions.gather, clock, telemetry, on_announced=delivery.wake
        )
        loops = Loops(
            lease=lease,
            writer=writer,
            scheduler=scheduler,
            uplink=Uplink(store, lease, outage, alerts, clock, telemetry),
            attention=attention,
            renders=renders,
            delivery=delivery,
            pruning=Pruning(store, settings.store.history, clock, telemetry),
        )
        runner = Runner(store, loops, clock, telemetry)
        yield Service(runner, scheduler, gates, policies, renders, outage)


async def check(
    settings: Settings,
    *,
    page_ids: list[int] | None,
    on_report: Callable[[CheckReport], None],
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> CheckSummary:
    """Check these pages once, now (all that are watched: None), and give the awareness that is due.

    Works itself where no engine holds the store; else leaves a request to that engine and follows its results.
    on_report    is told of each page as it is written
    on_progress  (done, all)
    """
    tally = _Tally(on_report, on_progress)
    request_id: int | None = None
    while True:
        try:
            async with open_store_for(settings, engine=True) as store:
                if request_id is None:
                    request_id = await store.request_check(page_ids, SystemClock().now())
                return await _check_ourselves(settings, store, request_id, tally)
        except StoreLocked:
            async with open_store_for(settings, engine=False) as store:
                if request_id is None:
                    request_id = await store.request_check(page_ids, SystemClock().now())
                if await _follow(store, request_id, tally):
                    return tally.summary(outage=False)
            # The engine that was to do it is gone: take its place.


async def run(load: Callable[[], Loaded]) -> None:
    """Serve until SIGTERM or SIGINT; SIGHUP reads the configuration again.

    load  reads the configuration; raises SettingsError
    """
    loaded = load()
    settings = loaded.settings
    telemetry = LogTelemetry(settings.log)
    if not settings.instance.contact:
        mend = "set instance.contact to an address or URL, so that those whose pages you ask for can reach you"
        telemetry.emit(Happening("instance.no_contact", "warning", {"mend": mend}))
    stopping, reloading = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    loop.add_signal_handler(signal.SIGHUP, reloading.set)
    async with (
        open_store_for(settings, engine=True) as store,
        assemble(settings, store, telemetry) as service,
        asyncio.TaskGroup() as group,
    ):
        for host, until in (await store.host_gates(SystemClock().now())).items():
            service.gates.hold(host, SystemClock().monotonic() + (until - SystemClock().now()) / 1_000_000)
        watching = group.create_task(_reload(load, settings, service, reloading, telemetry), name="reload")
        await service.runner.serve(stopping, at_launch=settings.pages.at_launch)
        watching.cancel()


async def fetch_page(settings: Settings, url: str) -> FetchedPage:
    """Fetch a page that a person typed into a one-shot command; its address may be private (T62).

    Raises BadUrl, FetchFailed or FetchRefused.
    """
    watched = watch_url(url)
    clock = SystemClock()
    agent = user_agent(settings.instance.contact)
    async with AiohttpFetcher(settings.fetch, settings.network, user_agent=agent) as fetcher:
        receiver = Receiver(
            Gates(settings.hosts, clock), None, OutageWatch(clock), asyncio.Semaphore(1), settings.fetch, clock
        )
        request = PageRequest(watched.url, watched.host, settings.pages, secrets=watched.credentials, private=True)
        received = await receiver.receive(request, fetcher.shared())
    response = received.response
    return FetchedPage(received.final_url, response.body, response.header("content-type"))


async def test_sink(settings: Settings, name: str) -> None:
    """Send a sink a test alert; a sink that was disabled and takes it is enabled again. Raises DeliveryError."""
    if name not in settings.sinks:
        known = ", ".join(sorted(settings.sinks)) or "none is configured"
        raise SettingsError(f"sinks.{name}: there is no such sink ({known}); add [sinks.{name}] to the configuration")
    clock = SystemClock()
    async with AsyncExitStack() as stack:
        (sink,) = await _open_sinks(settings, stack, clock, only=name)
        alert = Alerts(settings.instance.name, SystemChance()).test_event(name, clock.now())
        await sink.deliver(alert.event)
        store = await stack.enter_async_context(open_store_for(settings, engine=False))
        await store.save_sink_state(SinkState(name))


class _Tally:
    """Counts the reports of a check and passes them on."""

    def __init__(self, on_report: Callable[[CheckReport], None], on_progress: Callable[[int, int], None]) -> None:
        self._on_report, self._on_progress = on_report, on_progress
        self._outcomes: Counter[str] = Counter()
        self._silent = 0
        self.position = 0
        self.pages = 0

    def take(self, report: CheckReport) -> None:
        """Count one page."""
        self._outcomes[report.outcome] += 1
        received = report.outcome in {"first", "unchanged", "too-soon", "minor", "major"}
        self._silent += received and not report.declares
        self._on_report(report)
        self._on_progress(self._outcomes.total(), self.pages)

    def summary(self, *, outage: bool) -> CheckSummary:
        """How it went."""
        return CheckSummary(dict(self._outcomes), self._silent, outage)


async def _check_ourselves(settings: Settings, store: Store, request_id: int, tally: _Tally) -> CheckSummary:
    _, tally.pages = await store.request_progress(request_id)

    def committed(results: Sequence[CheckResult]) -> None:
        for result in results:
            if result.request_id == request_id:
                tally.take(result.report)

    telemetry = LogTelemetry(msgspec.structs.replace(settings.log, level="warning"))
    async with assemble(settings, store, telemetry, request_id=request_id, on_committed=committed) as service:
        await service.runner.check(asyncio.Event())
        return tally.summary(outage=service.outage.is_outage())


async def _follow(store: Store, request_id: int, tally: _Tally) -> bool:
    """Follow the results of a running engine; False if it is gone before the work is done."""
    while True:
        done, tally.pages = await store.request_progress(request_id)
        for position, report in await store.request_reports(request_id, after=tally.position):
            tally.position = position
            tally.take(report)
        if done >= tally.pages:
            return True
        if not await store.is_held():
            return False
        await asyncio.sleep(FOLLOW_S)


async def _open_sinks(
    settings: Settings, stack: AsyncExitStack, clock: SystemClock, *, only: str | None = None
) -> list[Sink]:
    agent = user_agent(settings.instance.contact)

    sessions = await stack.enter_async_context(GuardedSessions(settings.network, user_agent=agent))
    context = SinkContext(session=sessions.open, clock=clock)
    sinks = []
    for name, section in settings.sinks.items():
        if only is None or name == only:
            sink = open_sink(name, section, context)
            stack.push_async_callback(sink.close)
            sinks.append(sink)
    return sinks


async def _reload(
    load: Callable[[], Loaded], settings: Settings, service: Service, reloading: asyncio.Event, telemetry: Telemetry
) -> None:
    """Take up another configuration at each SIGHUP; a bad one leaves the old one in force."""
    while True:
        await reloading.wait()
        reloading.clear()
        try:
            new = load().settings
        except SettingsError as exc:
            telemetry.emit(
                Happening("configuration.refused", "error", {"error": str(exc), "mend": "the old one stays"})
            )
            continue
        restart = needs_restart(settings, new)
        service.policies.configure(new.pages)
        service.gates.configure(new.hosts)
        service.renders.configure(new.render)
        service.scheduler.wake()
        values = {"needs_restart": restart}
        telemetry.emit(Happening("configuration.read", "warning" if restart else "info", values))
        # What needs a restart keeps its old value, so that it is named again the next time.
        settings = msgspec.structs.replace(settings, pages=new.pages, hosts=new.hosts)
