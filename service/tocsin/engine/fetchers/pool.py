"""The pool of fetcher processes: deals pages to them by the shards of their hosts, and handles their messages."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tocsin.engine.fetchers.link import FetcherLink
from tocsin.engine.fetchers.remote_calls import CROSSING, error_of, failed_of
from tocsin.engine.hosts.crash_suspects import STRIKES, CrashSuspects
from tocsin.engine.hosts.process_limits import PAGES_A_REQUEST
from tocsin.engine.visiting.visit import chosen, put_off, tell
from tocsin.errors import FetchRefused, StoreError
from tocsin.model import FailureKind, PageTask, what_is_kept
from tocsin.ports.messages import (
    AdmitDocument,
    Ask,
    CheckEnds,
    CheckHandoff,
    Failed,
    Happened,
    Holds,
    Hop,
    HostWishes,
    IsWatched,
    KeptRobots,
    LoadRobots,
    RenderedPage,
    RenderHandoff,
    RequestProgress,
    Rules,
    SaveRobots,
    Start,
    TakeTurn,
    TryNotes,
    VisitedInBrowser,
    VisitInBrowser,
    Watched,
)
from tocsin.spec.html.urls import host_and_origin, shard_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable, Sequence

    from tocsin.engine.fetchers.checkers import Put
    from tocsin.engine.fetchers.link import FetcherTask
    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.judging.conclude import Conclusions
    from tocsin.engine.policies import Policies
    from tocsin.engine.visiting.browsing import BrowserVisits
    from tocsin.events import Happening
    from tocsin.model import CheckResult, FetcherLife, Instant, Rendered, RenderJob
    from tocsin.ports import Clock, Telemetry, WorkStore
    from tocsin.ports.messages import Answer, FromFetcher, Question
    from tocsin.ports.processes import FetcherStarter
    from tocsin.settings import FetchSettings, HostSettings, Settings

# A fetcher's limit of pages, as a multiple of its even share.
_SLACK = 1.5


@lru_cache(maxsize=65_536)
def owner_of(host: str, count: int) -> int:
    """Return which of `count` fetchers serves a host; its shard decides, so that one host has one gate."""
    return shard_of(host) % count


class FetcherPool:
    """Implements `checkers.Checkers` and `ports.Renderer` with fetcher processes.

    visits      carries out the fetchers' visits in the browser
    body_room   bytes of all bodies in flight of one fetcher
    most_bytes  memory of one fetcher
    demo_port   of the demo site on loopback
    lag_s       returns the lag of this process's own loop
    """

    def __init__(
        self,
        starter: FetcherStarter,
        count: int,
        *,
        settings: Settings,
        store: WorkStore,
        policies: Policies,
        conclusions: Conclusions,
        gates: Gates,
        outage: OutageWatch,
        clock: Clock,
        telemetry: Telemetry,
        body_room: int,
        most_bytes: int,
        visits: BrowserVisits,
        demo_port: int = 0,
        lag_s: Callable[[], float] = lambda: 0.0,
    ) -> None:
        self._body_room, self._demo_port, self._visits = body_room, demo_port, visits
        self._settings, self._store, self._policies, self._conclusions = settings, store, policies, conclusions
        self._gates, self._outage, self._clock, self._telemetry = gates, outage, clock, telemetry
        self._hosts = settings.hosts
        self._suspects = CrashSuspects(clock)
        self._links = [
            FetcherLink(
                index,
                starter,
                self._suspects,
                start=partial(self._start, index, count),
                ended=self._ended,
                heard=self._heard,
                dropped=self._gave_up,
                set_aside=self._set_aside,
                most=max(1, round(PAGES_A_REQUEST * settings.fetch.in_flight * min(_SLACK / count, 1.0))),
                most_bytes=most_bytes,
                clock=clock,
                telemetry=telemetry,
                lag_s=lag_s,
            )
            for index in range(count)
        ]
        self._under_way = 0
        self._is_checking = False
        self._results: list[CheckResult] = []
        self._filled, self._idle = asyncio.Event(), asyncio.Event()
        self._told_of_clock = False

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the processes running inside."""
        async with asyncio.TaskGroup() as group:
            running = [group.create_task(link.run(), name=f"fetcher-{link.index}") for link in self._links]
            yield
            for task in running:
                task.cancel()

    # Checkers ---------------------------------------------------------------------------------------------------

    async def ready(self) -> None:
        """Wait until each fetcher has answered once."""
        for link in self._links:
            await link.ready.wait()

    @asynccontextmanager
    async def checking(self, put: Put) -> AsyncIterator[None]:
        """Check the pages begun inside; at the end, wait for those under way."""
        self._is_checking = True
        try:
            async with asyncio.TaskGroup() as group:
                handing = group.create_task(self._hand_in(put), name="results")
                yield
                while self._under_way:
                    self._idle.clear()
                    await self._idle.wait()
                handing.cancel()
        finally:
            self._is_checking, self._under_way = False, 0
            self._results.clear()
            for link in self._links:
                link.forget_pages()

    def checker_of(self, host: str) -> int:
        """Return the index of the fetcher that serves this host."""
        return owner_of(host, len(self._links))

    def room(self, checker: int) -> int:
        """Return how many more pages this fetcher can take."""
        return self._links[checker].room()

    def room_of_all(self) -> int:
        """Return how many pages all fetchers together can take now."""
        return sum(max(link.room(), 0) for link in self._links)

    def waiting_since(self) -> Instant | None:
        """Return the earliest due time of pages in hand without a request so far."""
        return min((due for link in self._links if (due := link.waiting_since()) is not None), default=None)

    def begin(self, tasks: Sequence[PageTask]) -> None:
        """Give pages of one host to its fetcher."""
        self._under_way += len(tasks)
        self._link_of(tasks[0].host).begin([task for task in tasks if not self._is_given_up(task)])

    def put_off(self, tasks: Iterable[PageTask]) -> None:
        """Postpone these pages without a request."""
        for task in tasks:
            now = self._clock.now()
            conclude = self._conclusions.of(task, self._policies.readable(task), now)
            self._under_way += 1
            self._add(put_off(conclude, task.url, now))

    def withdraw(self, page_ids: set[int]) -> None:
        """Make no further request for these pages, whichever fetcher has them after redirects."""
        if page_ids:
            for link in self._links:
                link.withdraw(page_ids)

    def drop(self) -> None:
        """Give up the pages in hand without a request so far."""
        self._gave_up(sum(link.drop() for link in self._links))

    def refresh(self) -> None:
        """Send the settings in force to all fetchers."""
        rules = self._rules()
        for link in self._links:
            link.tell(rules)

    def pass_on_holds(self) -> None:
        """Tell each fetcher what its hosts asked other nodes for."""
        for link in self._links:
            link.tell(Holds(self._holds_of(link.index, len(self._links))))

    def configure(self, hosts: HostSettings) -> None:
        """Apply other settings of hosts; those of pages come from the policies."""
        self._hosts = hosts
        self.refresh()

    @property
    def lives(self) -> tuple[FetcherLife, ...]:
        """The current figures of each fetcher."""
        return tuple(link.life for link in self._links)

    # Renderer ---------------------------------------------------------------------------------------------------

    async def render(self, job: RenderJob) -> Rendered:
        """Render a page at the fetcher of its host; see `ports.Renderer`."""
        if self._suspects.is_set_aside(job.page_id):
            raise _crash(job.task.url)
        handoff = RenderHandoff(job)
        url = job.copy_url or job.task.url
        while True:
            answer = await self._link_of(host_and_origin(url)[0]).ask(handoff)
            match answer:
                case RenderedPage():
                    return answer.rendered
                case RequestProgress():
                    handoff, url = RenderHandoff(job, answer), answer.url
                case Failed():
                    raise error_of(answer)
                case _:
                    raise AssertionError("no answer to a rendering")

    # What they say ----------------------------------------------------------------------------------------------

    def _ended(self, ends: list[CheckEnds]) -> None:
        for each in ends:
            if each.in_outage is None:
                self._add(each.result)
            else:
                self._outage.hold(partial(self._add_chosen, each))

    def _add_chosen(self, ends: CheckEnds, is_outage: bool) -> None:  # noqa: FBT001 - as `hold` gives it
        self._add(chosen(ends, is_outage=is_outage))

    def _heard(self, link: FetcherLink, message: FromFetcher) -> None:
        match message:
            case TryNotes():
                for host, kind in message.tries:
                    self._outage.note(host, ok=kind is None, kind=kind)
            case HostWishes():
                for host, until_s in message.holds.items():
                    self._gates.hold(host, until_s)
                for host, (origin, delay_s) in message.delays.items():
                    self._gates.slow_down(host, origin, delay_s)
            case Happened():
                self._emit(message.happening)
            case Ask(question=VisitInBrowser() as asked):
                link.answer(message.number, self._visit(link, asked))
            case Ask():
                link.answer(message.number, self._answer(message.question))
            case SaveRobots():
                link.do(self._save_robots(message))
            case _:
                raise AssertionError("a fetcher says no such thing")

    async def _answer(self, question: Question) -> Answer:
        try:
            match question:
                case LoadRobots():
                    return KeptRobots(await self._store.load_robots(question.origin))
                case IsWatched():
                    return Watched(question.page_id in await self._store.still_watched([question.page_id]))
                case CheckHandoff() | Hop() | TakeTurn():
                    return await self._link_of(host_and_origin(_url_of(question))[0]).ask(question)
                case RenderHandoff() | AdmitDocument() | VisitInBrowser():
                    raise AssertionError("not asked by a fetcher, or answered elsewhere")
        except CROSSING as exc:
            return failed_of(exc)

    async def _visit(self, link: FetcherLink, question: VisitInBrowser) -> Answer:
        """Visit a page for a fetcher, which admits its documents; it ends with the fetcher."""

        async def admit(url: str) -> None:
            answer = await link.ask(AdmitDocument(question.number, url))
            if isinstance(answer, Failed):
                raise error_of(answer)

        try:
            return VisitedInBrowser(await self._visits.visit(question.visit, admit, is_urgent=question.is_urgent))
        except CROSSING as exc:
            return failed_of(exc)

    async def _save_robots(self, message: SaveRobots) -> None:
        try:
            await self._store.save_robots(message.origin, message.kept)
        except StoreError:
            # The store is only a cache here: the file is requested again.
            return

    def _emit(self, happening: Happening) -> None:
        if happening.name == "clock.back":
            # Each fetcher warns once; one of these warnings is enough.
            if self._told_of_clock:
                return
            self._told_of_clock = True
        self._telemetry.emit(happening)

    # Results ----------------------------------------------------------------------------------------------------

    def _add(self, result: CheckResult) -> None:
        if self._is_checking:
            tell(result, self._telemetry)
            self._results.append(result)
            self._filled.set()

    async def _hand_in(self, put: Put) -> None:
        """Pass results to the writer; while the store is behind, they wait here, bounded by the pages begun."""
        while True:
            await self._filled.wait()
            self._filled.clear()
            while self._results:
                results, self._results = self._results, []
                await put(results)
                self._under_way -= len(results)
            if not self._under_way:
                self._idle.set()

    def _gave_up(self, pages: int) -> None:
        self._under_way -= pages
        if not self._under_way:
            self._idle.set()

    def _set_aside(self, work: FetcherTask) -> None:
        """Give up a page that killed too often, and answer the caller that waits for it."""
        match work.what:
            case PageTask():
                self._crashed(work.what)
            case Ask(question=CheckHandoff(task=task)):
                _answer(work, failed_of(_crash(task.url), final=True))
            case Ask(question=RenderHandoff(job=job)):
                _answer(work, failed_of(_crash(job.task.url)))

    def _is_given_up(self, task: PageTask) -> bool:
        """Conclude a page that is set aside; False if it is not, or the user wants another try."""
        if not self._suspects.is_set_aside(task.page_id):
            return False
        if task.order.is_asked:
            self._suspects.give_another_try(task.page_id)
            return False
        self._crashed(task)
        return True

    def _crashed(self, task: PageTask) -> None:
        conclude = self._conclusions.of(task, self._policies.readable(task), self._clock.now())
        self._add(conclude.unreachable([], _crash(task.url)))

    # ------------------------------------------------------------------------------------------------------------

    def _link_of(self, host: str) -> FetcherLink:
        return self._links[owner_of(host, len(self._links))]

    def _rules(self) -> Rules:
        return Rules(self._policies.base, self._hosts, *self._policies.overrides)

    def _start(self, index: int, count: int, replaced_s: float | None) -> Start:
        settings = self._settings
        return Start(
            index,
            count,
            settings.instance,
            _share(settings.fetch, count),
            self._body_room,
            settings.network,
            self._rules(),
            self._holds_of(index, count),
            replaced_s,
            settings.log,
            keeps=what_is_kept(settings),
            demo_port=self._demo_port,
            public_url=settings.http.public_url,
            browser=settings.browser,
            render=settings.render,
        )

    def _holds_of(self, index: int, count: int) -> dict[str, float]:
        return {host: until_s for host, until_s in self._gates.held().items() if owner_of(host, count) == index}


def _url_of(question: CheckHandoff | Hop | TakeTurn) -> str:
    match question:
        case CheckHandoff():
            return question.so_far.url
        case Hop():
            return question.request.url
        case TakeTurn():
            return question.url


def _share(fetch: FetchSettings, count: int) -> FetchSettings:
    """Return the settings of one fetcher: its share of the requests in flight."""
    return replace(fetch, in_flight=max(1, fetch.in_flight // count))


def _crash(url: str) -> FetchRefused:
    said = f"{STRIKES} processes crashed on this page; a fault of ours, please report it"
    return FetchRefused(url, FailureKind.CRASHED, said)


def _answer(work: FetcherTask, answer: Answer) -> None:
    if work.answered is not None and not work.answered.done():
        work.answered.set_result(answer)
