"""An engine, put together: settings to adapters to the parts of the engine."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from functools import cached_property
from hashlib import blake2b
from socket import gethostname
from typing import TYPE_CHECKING

from msgspec import json, to_builtins

from tocsin import __version__
from tocsin.adapters.http.bodies import room_for_bodies
from tocsin.adapters.processes.starting import LocalStarter
from tocsin.adapters.stores import Migrating, open_store
from tocsin.adapters.system import SystemChance, SystemClock
from tocsin.adapters.telemetry import FanOut
from tocsin.app.asides import PictureComparer
from tocsin.app.channels import OpenChannels
from tocsin.app.fetching import Checking, most_in_flight, open_fetcher, put_together, user_agent
from tocsin.engine.activity import ActivityRecorder, CountedChannel, EngineCounts
from tocsin.engine.alerting.announcements import OutageAnnouncer, QuestionAnnouncer, StormAnnouncer, WakeUp
from tocsin.engine.alerting.delivery import Delivery
from tocsin.engine.alerting.digests import DigestWriter
from tocsin.engine.alerting.routing import router_of
from tocsin.engine.clock_watch import ClockWatch
from tocsin.engine.fetchers.checkers import LocalCheckers
from tocsin.engine.fetchers.pool import FetcherPool
from tocsin.engine.hosts.duties import LEADER, Duties
from tocsin.engine.hosts.kept_gates import KeptGates
from tocsin.engine.hosts.lease import UNWRITTEN, Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.outage_drain import OutageDrain
from tocsin.engine.hosts.process_limits import LoopTime, ShortageWatch
from tocsin.engine.judging.conclude import Conclusions
from tocsin.engine.judging.events import EventWriter
from tocsin.engine.policies import Policies
from tocsin.engine.pruning import Pruning
from tocsin.engine.rendering.awareness import Awareness
from tocsin.engine.rendering.browser_queue import BrowserQueue
from tocsin.engine.rendering.logins import LoginBrowser
from tocsin.engine.rendering.pictures import Pictures, PictureVisits
from tocsin.engine.rendering.render_queue import RenderQueue
from tocsin.engine.runner import EngineParts, LeaderParts, Runner, Upkeep
from tocsin.engine.scheduling.host_capacity import HostCapacity
from tocsin.engine.scheduling.scheduler import Scheduler
from tocsin.engine.scheduling.writer import ListedDates, ResultWriter
from tocsin.engine.visiting.browsing import PageBrowser
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import EPOCH, FetcherLife, Saved, Silence, what_is_kept
from tocsin.model.saved import Merged, merge
from tocsin.settings import unread_channels

if TYPE_CHECKING:
    from asyncio import TaskGroup
    from collections.abc import AsyncIterator, Callable, Collection, Sequence
    from datetime import datetime
    from typing import TypeAlias

    from tocsin.engine.fetchers.checkers import Checkers
    from tocsin.engine.rendering.pictures import PictureComparison
    from tocsin.model import CheckResult, CrowdedHosts, Instant, JsonObject, MessagePreview
    from tocsin.ports import Channel, Documents, Fetcher, Renderer, Store, Telemetry
    from tocsin.ports.browser import Browser
    from tocsin.ports.processes import FetcherStarter
    from tocsin.settings import ChannelSettings, FetchSettings, RouteSettings, Settings

    OpenBrowser: TypeAlias = Callable[[TaskGroup], Browser]


OWN_BYTES = 512 * 2**20
A_REQUEST_BYTES = 256 * 2**10
# What a byte of markup can take as a tree.
TREE_BYTES = 64
# A restart of the database is over by then.
_LONG_UNWRITTEN_S = 5.0


@asynccontextmanager
async def open_store_for(
    settings: Settings, *, engine: bool, create: bool = True, telemetry: Telemetry | None = None
) -> AsyncIterator[Store]:
    """Open the store that the settings name; raises StoreError.

    telemetry  receives an event when the store is migrated
    """

    def tell(migrating: Migrating) -> None:
        if telemetry is not None:
            telemetry.emit(Happening("store.migrating", "warning", to_builtins(migrating)))

    store = await open_store(
        settings.store.url,
        password=settings.store.password,
        engine=engine,
        create=create,
        parts=settings.store.parts,
        pictures=settings.store.pictures,
        history=bool(settings.store.history),
        gather=settings.questions.gather,
        storms=settings.signals,
        on_migrating=tell,
    )
    try:
        yield store
    finally:
        await store.close()


def memory_of_a_fetcher(fetch: FetchSettings, count: int) -> int:
    """Return the memory limit, in bytes, that no healthy fetcher reaches.

    That is program and caches, bodies in flight, and the worst page.
    """
    bodies, requests = room_for_bodies(fetch, fetchers=count), -(-fetch.in_flight // count)
    return OWN_BYTES + 2 * bodies + A_REQUEST_BYTES * requests + TREE_BYTES * fetch.max_body


class Assembly:
    """The parts of one engine, each made once, on first use.

    fetcher       makes requests where no fetcher processes do; None where they do, and
    documents     reads what is no page of what it receives
    compare       compares pictures of pages
    request_id    the request that it works for; None for a service
    on_committed  is called with each batch of results that was written
    bell          rings when alerts were written
    node          its name among the nodes of its store
    loop_time     says how late this process's loop is
    merged        the settings that it was begun with, and
    saved         what was made at run time of them
    counts        what was counted of its work so far, by
    telemetry     counts events, and passes them on to the one that was given
    """

    compare: PictureComparison | None = None

    def __init__(
        self,
        settings: Settings,
        store: Store,
        fetcher: Fetcher | None,
        channels: OpenChannels,
        telemetry: Telemetry,
        *,
        request_id: int | None,
        on_committed: Callable[[Sequence[CheckResult]], None],
        fetchers: int = 0,
        starter: FetcherStarter | None = None,
        open_browser: OpenBrowser | None = None,
        demo_port: int = 0,
        documents: Documents | None = None,
    ) -> None:
        self._open_browser = open_browser
        self.counts = EngineCounts()
        self._settings, self._store, self._fetcher, self._documents = settings, store, fetcher, documents
        self._clock, self._chance = SystemClock(), SystemChance()
        self.shortage = ShortageWatch(self._clock, FanOut((telemetry, self.counts)))
        # The parts below get this one: each event is logged, counted, and looked at for shortages.
        self.telemetry = self._telemetry = telemetry = FanOut((telemetry, self.counts, self.shortage))
        self._request_id, self._on_committed, self._count = request_id, on_committed, fetchers
        self._starter, self._demo_port = starter, demo_port
        self.gates = KeptGates(settings.hosts, self._clock, store, telemetry)
        self.outage = OutageWatch(self._clock)
        self.policies = Policies(settings.pages)
        self._alerts = EventWriter(
            settings.instance.name,
            self._chance,
            public_url=settings.http.public_url,
            language=settings.instance.language,
        )
        self._digests = DigestWriter(
            settings.instance.name,
            self._chance,
            public_url=settings.http.public_url,
            language=settings.instance.language,
            to_message=channels.messages.write,
            language_of=channels.messages.language_of,
        )
        self.node = node_name(settings, is_once=request_id is not None)
        self.bell = WakeUp()
        self.loop_time = LoopTime()
        self._channels = channels
        self.merged, self.saved = Merged(settings), Saved()
        self._delivery = Delivery(
            self._counted(channels.opened),
            store,
            settings.delivery,
            self._clock,
            telemetry,
            test_event=lambda name: self._alerts.test_event(name, self._clock.now()).event,
            compose=self._digests.compose,
            to_message=channels.messages.write,
            duty_of=self.duties.of,
            on_accepted=self.counts.accepted,
        )

    @cached_property
    def _lease(self) -> Lease:
        store, settings = self._store, self._settings
        return Lease(
            store,
            self.node,
            settings.cluster.lease,
            self._clock,
            self._telemetry,
            delay_s=settings.hosts.delay.total_seconds() if store.is_shared else 0.0,
            patience_s=settings.fetch.deadlines.total.total_seconds(),
            said=self._said,
        )

    @cached_property
    def runner(self) -> Runner:
        """What runs it all."""
        settings, store, clock, telemetry = self._settings, self._store, self._clock, self._telemetry
        gather, woken = settings.questions.gather, self.announced
        parts = EngineParts(
            lease=self._lease,
            gates=self.gates,
            writer=self._writer,
            scheduler=self.scheduler,
            outages=OutageAnnouncer(store, self._lease, self.outage, self._alerts, clock, telemetry, node=self.node),
            questions=QuestionAnnouncer(
                store,
                self._alerts,
                self.outage,
                gather,
                clock,
                telemetry,
                on_announced=woken,
                claim=lambda: self._lease.claim,
            ),
            renders=self.renders,
            delivery=self._delivery,
            duties=self.duties,
            outage_drain=OutageDrain(store, self.node, self.outage, clock, telemetry),
            loop_time=self.loop_time,
            leading=self._leading,
        )
        return Runner(store, parts, clock, telemetry, upkeep=self._upkeep, ready=self._fetchers_ready)

    async def _fetchers_ready(self) -> None:
        if self.fetchers is not None:
            await self.fetchers.ready()

    def _upkeep(self) -> Upkeep:
        return Upkeep(
            host_capacity=self.host_capacity,
            activity=self.activity,
            clock_watch=self.clock_watch,
        )

    @cached_property
    def duties(self) -> Duties:
        """What one node at a time does."""
        return Duties(
            self._store,
            lambda: self._lease.me,
            # The channels change with the configuration.
            lambda: (LEADER, *self._delivery.duties),
            self._settings.cluster.lease,
            self._clock,
            self._telemetry,
            on_change=self.announced,
            is_busy=self._is_delivering,
        )

    @cached_property
    def activity(self) -> ActivityRecorder:
        """What notes its work in the store, and reads the store's figures."""
        return ActivityRecorder(
            self._store,
            self.counts,
            self._clock,
            self._telemetry,
            leads=self.duties.of(LEADER),
            crowded=lambda: self.host_capacity.crowded,
        )

    @cached_property
    def host_capacity(self) -> HostCapacity:
        """What says which hosts are crowded."""
        settings, clock, zone = self._settings, self._clock, self._settings.instance.time_zone
        return HostCapacity(self._store, settings.pages, settings.hosts, clock, self._telemetry, time_zone=zone)

    @cached_property
    def clock_watch(self) -> ClockWatch:
        """What notices that the clock was set, and mends what that put off."""
        settings = self._settings
        return ClockWatch(
            self._store,
            self._lease,
            self.policies,
            settings.hosts,
            self._clock,
            self._telemetry,
            time_zone=settings.instance.time_zone,
            on_back=self._delivery.clock_went_back,
            on_spread=self.scheduler.on_spread,
        )

    @cached_property
    def fetchers(self) -> FetcherPool | None:
        """The fetcher processes; None where this process fetches by itself."""
        if self._fetcher is not None:
            return None
        settings = self._settings
        return FetcherPool(
            self._starter or LocalStarter(),
            self._count,
            settings=settings,
            store=self._store,
            policies=self.policies,
            conclusions=Conclusions(self._alerts, time_zone=settings.instance.time_zone),
            gates=self.gates,
            outage=self.outage,
            clock=self._clock,
            telemetry=self._telemetry,
            body_room=room_for_bodies(settings.fetch, fetchers=self._count),
            most_bytes=memory_of_a_fetcher(settings.fetch, self._count),
            visits=self._visits,
            demo_port=self._demo_port,
            lag_s=lambda: self.loop_time.lag_s,
        )

    @cached_property
    def scheduler(self) -> Scheduler:
        """What finds due pages."""
        return Scheduler(
            self._store,
            self._lease,
            self._checkers,
            self.policies,
            self.gates,
            self.outage,
            self._settings.fetch,
            self._clock,
            self._telemetry,
            request_id=self._request_id,
            # Asked of a queue that is made only later, and of this very scheduler.
            is_rendered=self._is_rendered,
            on_asked=self.browser.give_another_try,
            is_short=lambda: self.shortage.is_pausing,
            recall_holds=self.gates.recall,
        )

    @cached_property
    def renders(self) -> RenderQueue:
        """The render queue."""
        return RenderQueue(
            self._store,
            self.renderer,
            Awareness(self._alerts, keeps_texts=what_is_kept(self._settings).texts),
            lease=self._lease,
            settings=self._settings.render,
            hold=self._settings.fetch.hold,
            policies=self.policies,
            gates=self.gates,
            outage=self.outage,
            clock=self._clock,
            chance=self._chance,
            telemetry=self._telemetry,
            on_committed=lambda _host_id, _due: self.announced(),
            is_visited=self.scheduler.is_visited,
            places=self.browser.places,
            pictures=self._pictures,
        )

    @cached_property
    def _pictures(self) -> Pictures:
        """What keeps and compares pictures of pages."""
        return Pictures(self._store, self.compare, self._telemetry, keeps=what_is_kept(self._settings).texts)

    @cached_property
    def _visits(self) -> PictureVisits:
        """What receives pages in the browser, for checks and renderings."""
        return PictureVisits(self.browser, self._pictures)

    @cached_property
    def browser(self) -> BrowserQueue:
        """What visits pages in the browser, which it opens when one is needed."""
        return BrowserQueue(
            self._open_with_logins,
            self._settings.browser.slots,
            self._clock,
            self._telemetry,
            is_patient=self._request_id is not None,
        )

    def _open_with_logins(self, group: TaskGroup) -> Browser:
        opened = (self._open_browser or self._browser_of_settings)(group)
        return LoginBrowser(opened, self._store, self._clock)

    def _browser_of_settings(self, group: TaskGroup) -> Browser:
        from tocsin.app.browser import browser_of  # noqa: PLC0415 - most installations read no page in a browser

        return browser_of(self._settings, self._telemetry.emit, group)

    @property
    def renderer(self) -> Renderer:
        """What receives pages whole."""
        return self.fetchers or self._checking.renderer

    def _counted(self, channels: Sequence[Channel]) -> list[CountedChannel]:
        return [CountedChannel(channel, self.counts, self.shortage.met) for channel in channels]

    async def change_channels(self, settings: Settings, saved: Saved) -> None:
        """Deliver to these channels from now on; SettingsError leaves all as it is.

        settings  another configuration, with what was saved
        """
        # What can fail comes first: until here nothing has changed, and the caller keeps the old settings.
        opened, gone = await self._channels.change(settings, *_names_in(saved, self._clock.now()))
        tell_of_unread(settings, self._channels, self._telemetry)
        self._delivery.configure(self._counted(opened), gone)
        try:
            await set_outbox(settings, self._store)
        # The channels are open already; refusing now would leave them half changed. Only new ones get no alerts yet.
        except StoreError as exc:
            values: JsonObject = {"error": str(exc), "mend": "send SIGHUP again: new channels get no alerts until then"}
            self._telemetry.emit(Happening("channels.unnoted", "error", values))

    async def try_channel(self, name: str, section: ChannelSettings | None = None) -> None:
        """Give a channel a test event, as it is or with these settings; raises DeliveryError, SettingsError."""
        if section is None:
            await self._delivery.try_channel(name)
        else:
            await self._channels.try_out(name, section, self._alerts.test_event(name, self._clock.now()).event)

    def demand_route(self, route: RouteSettings) -> None:
        """Raise SettingsError where a route's template cannot be used."""
        self._channels.messages.demand_route(f"routes.{route.name}.template", route)

    async def preview(self, name: str, section: ChannelSettings, event: JsonObject, route: str) -> MessagePreview:
        """Show what a channel would send of an alert; raises SettingsError."""
        return await self._channels.preview(name, section, event, route)

    async def demand_channel(self, name: str, section: ChannelSettings) -> None:
        """Raise SettingsError where a channel with these settings could not be used."""
        await self._channels.demand(name, section)

    @property
    def has_lease(self) -> bool:
        """Whether it holds the right to check."""
        return self._lease.is_held

    @property
    def parts(self) -> tuple[int, int]:
        """How many parts of the hosts it holds, and how many there are."""
        return self._lease.parts

    def _said(self) -> JsonObject:
        http = self._settings.http
        said: JsonObject = {
            "version": __version__,
            "address": http.public_url or http.listen,
            "checks": self._writer.written,
            "configuration": configuration_digest(self._settings),
        }
        unwritten_s, why = self.unwritten
        if unwritten_s > _LONG_UNWRITTEN_S:
            # Where a disk is nearly full, the lease can still be renewed while results cannot be written.
            said[UNWRITTEN] = why
        # Others count on a node whose own connection works.
        return said | {"outage": True} if self.outage.is_outage() else said

    @property
    def unwritten(self) -> tuple[float, str]:
        """For how many seconds what waits to be written could not be, and why."""
        return self._lease.commits.unwritten()

    @property
    def crowded(self) -> CrowdedHosts:
        """The crowded hosts that this node found, or the leader."""
        return self.host_capacity.crowded if self.duties.of(LEADER).is_held else self.activity.crowded

    @property
    def checks(self) -> int:
        """How many were written since the start."""
        return self._writer.written

    def lives(self) -> tuple[FetcherLife, ...]:
        """Say how each fetcher process is now, or this process, where it fetches by itself."""
        if self.fetchers is not None:
            return self.fetchers.lives
        requests, lag_s = self._checking.in_flight.taken, self.loop_time.lag_s
        own = FetcherLife(
            0, os.getpid(), is_ready=True, in_flight=requests, checks=self.checks, restarts=0, lag_s=lag_s
        )
        return (own,)

    @cached_property
    def _checkers(self) -> Checkers:
        if self.fetchers is not None:
            return self.fetchers
        checking = self._checking
        parts = (checking.visitor, self.policies, checking.conclusions, self.gates, checking.in_flight)
        return LocalCheckers(*parts, self.loop_time, self._clock)

    @cached_property
    def _checking(self) -> Checking:
        assert self._fetcher is not None  # noqa: S101 - used only where there is one
        settings = self._settings
        return put_together(
            settings.instance,
            settings.fetch,
            fetcher=self._fetcher,
            alerts=self._alerts,
            gates=self.gates,
            policies=self.policies,
            robots_store=self._store,
            agreement=self._store,
            notes=self.outage,
            outage=self.outage,
            clock=self._clock,
            chance=self._chance,
            telemetry=self._telemetry,
            documents=self._documents,
            keeps=what_is_kept(self._settings),
            loop_time=self.loop_time,
            browser=PageBrowser(
                self._visits, settings.browser, settings.fetch, settings.instance, user_agent(settings.instance.contact)
            ),
            render=self._settings.render,
        )

    @cached_property
    def _writer(self) -> ResultWriter:
        return ResultWriter(
            self._store,
            self._lease,
            self._settings.store,
            self._clock,
            self._telemetry,
            patient=self._request_id is None,
            on_committed=self._committed,
        )

    def _leading(self, store: Store) -> LeaderParts:
        settings, clock, telemetry = self._settings, self._clock, self._telemetry
        return LeaderParts(
            StormAnnouncer(store, self._alerts, settings.signals.gather, clock, telemetry, on_announced=self.announced),
            ListedDates(store, clock, telemetry),
            Pruning(store, settings.store.history, settings.snapshots, clock, telemetry),
        )

    def _is_rendered(self, page_id: int, since_s: float) -> bool:
        return self.renders.has_in_hand(page_id, since_s)

    def _committed(self, results: Sequence[CheckResult], due: dict[int, Instant | None]) -> None:
        self.scheduler.on_committed(results, due)
        if any(result.verdict is not None or result.render_owed for result in results):
            self.renders.wake()
        else:
            # Nothing new to render, but a host that was busy with a check may be free for one that waits.
            self.renders.on_checked()
        # Most batches have none, and a wake-up reads the outbox of every channel.
        if any(result.alerts or result.recovery for result in results):
            self.announced()
        self.counts.committed(results)
        self.shortage.committed(results)
        self._on_committed(results)

    def _is_delivering(self, duty: str) -> bool:
        return self._delivery.is_busy(duty)

    def announced(self) -> None:
        """Read the outbox, and wake those that wait for alerts: some were published."""
        self._delivery.wake()
        self.bell.ring()


async def set_outbox(settings: Settings, store: Store) -> None:
    """Let alerts that are written from now on go where these settings say."""
    now = SystemClock().now()
    silences = [
        Silence(0, to_builtins(silence.match), now, _instant_of(silence.until), silence.reason)
        for silence in settings.silences
    ]
    # Channels before routes: a route names channels, and alerts are written for those that are set.
    await store.set_channels(list(settings.channels))
    await store.declare_silences(silences, now)
    await store.set_routes(router_of(settings, SystemClock()), [route.name for route in settings.routes], now)


def _instant_of(until: datetime | None) -> Instant | None:
    return None if until is None else (until - EPOCH) // timedelta(microseconds=1)


@asynccontextmanager
async def assemble(
    settings: Settings,
    store: Store,
    telemetry: Telemetry,
    *,
    request_id: int | None = None,
    on_committed: Callable[[Sequence[CheckResult]], None] = lambda _: None,
    fetchers: int = 0,
    starter: FetcherStarter | None = None,
    open_browser: OpenBrowser | None = None,
    demo_port: int = 0,
) -> AsyncIterator[Assembly]:
    """Put an engine together on an open store; as a service, or for one request.

    fetchers   number of fetcher processes; 0: this process fetches
    starter    starts them, on this machine where nothing else is said
    open_browser  makes the browser, once a page needs one; None: that of the settings
    demo_port  of loopback, kept for the demo site; 0: there is none
    """
    async with AsyncExitStack() as stack:
        fetcher, documents = None, None
        pictures = await stack.enter_async_context(PictureComparer())
        if not fetchers:
            own = (settings.instance, settings.fetch, settings.network, settings.hosts)
            fetcher, documents = await stack.enter_async_context(open_fetcher(*own, demo_port=demo_port))
        saved = await store.saved()
        merged = merge(settings, saved)
        settings = merged.settings
        channels = await stack.enter_async_context(
            OpenChannels(settings, *_names_in(saved, SystemClock().now()), emit=telemetry.emit)
        )
        tell_of_unread(settings, channels, telemetry)
        await set_outbox(settings, store)
        await store.limit_texts(settings.snapshots.total)
        engine = Assembly(
            settings,
            store,
            fetcher,
            channels,
            telemetry,
            request_id=request_id,
            on_committed=on_committed,
            fetchers=fetchers,
            starter=starter,
            open_browser=open_browser,
            demo_port=demo_port,
            documents=documents,
        )
        engine.merged, engine.saved, engine.compare = merged, saved, pictures.comparison
        if request_id is None:
            _tell_of_few_files(settings.fetch, fetchers, engine.telemetry)
        # Before anything may ask a host, also by a one-shot check: it may have told an earlier run to wait.
        await engine.gates.recall()
        await stack.enter_async_context(engine.browser.running())
        if engine.fetchers is not None:
            await stack.enter_async_context(engine.fetchers.running())
        yield engine


def _names_in(saved: Saved, now: Instant) -> tuple[Collection[str], Collection[str]]:
    """Return the names of channels that are muted, and what was made at run time, as OpenChannels has it."""
    return saved.muted(now).keys(), {f"{entry.kind}s.{entry.name}" for entry in (*saved.channels, *saved.routes)}


def tell_of_unread(settings: Settings, channels: OpenChannels, telemetry: Telemetry) -> None:
    """Log which channels are given nothing, and why; their alerts are kept for them."""
    for name, why in {**unread_channels(settings), **channels.unusable}.items():
        telemetry.emit(Happening("channel.unread", "error", {"channel": name, "error": why}))


def files_are_few(fetch: FetchSettings, fetchers: int) -> str | None:
    """Say what is wrong where a process may open too few files for `fetch.in_flight`; None where they are enough."""
    processes = max(fetchers, 1)
    wanted = -(-fetch.in_flight // processes)
    most = most_in_flight(wanted)
    if most == wanted:
        return None
    bounded = f"{most * processes:,} requests are made at once, not {fetch.in_flight:,} (fetch.in_flight)"
    return f"open files are limited, so {bounded}"


FEW_FILES_MEND = "raise the limit: ulimit -n, LimitNOFILE= of a systemd unit, --ulimit nofile of a container"


def _tell_of_few_files(fetch: FetchSettings, fetchers: int, telemetry: Telemetry) -> None:
    few = files_are_few(fetch, fetchers)
    # Told by a service alone: a command that checks some pages once hardly uses all requests that are allowed.
    if few is not None:
        telemetry.emit(Happening("files.few", "warning", {"error": few, "mend": FEW_FILES_MEND}))


def configuration_digest(settings: Settings) -> str:
    """Digest some settings that nodes of one installation share, and two installations do not; none is a secret."""
    shared = json.encode((settings.instance, settings.render, settings.http.public_url))
    return blake2b(shared, digest_size=6).hexdigest()


def node_name(settings: Settings, *, is_once: bool) -> str:
    """Return the name of this process among the nodes of its store; a check of one shot has one of its own."""
    name = settings.cluster.node or gethostname()
    return f"{name}/check" if is_once else name
