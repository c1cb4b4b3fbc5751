"""Pages that are due for awareness, and a renderer that does as it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from tests.fakes import START, EagerClock, FixedChance, ManualClock, RecordingTelemetry, SeededChance
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.judging.assess import decide, thresholds_of
from tocsin.engine.judging.events import EventWriter, changed_data
from tocsin.engine.judging.signals import combine_verdict
from tocsin.engine.policies import Policies
from tocsin.engine.rendering.awareness import Awareness
from tocsin.engine.rendering.pictures import Pictures
from tocsin.engine.rendering.render_queue import RenderQueue
from tocsin.errors import FetchError, FetchFailed
from tocsin.events import Happening
from tocsin.model import (
    CheckOrder,
    CheckReport,
    CheckResult,
    DueTime,
    FailureKind,
    FieldValues,
    Instant,
    JsonObject,
    KeptPicture,
    LastAnswer,
    LearntContents,
    NewPage,
    NewState,
    PageItems,
    PageTask,
    PendingVerdict,
    Rendered,
    RenderJob,
    Snapshot,
    StoredState,
    VerdictRow,
)
from tocsin.ports import Store
from tocsin.settings import HostSettings, PageSettings, RenderSettings
from tocsin.spec.signals.texts import pack_text
from tocsin.spec.signals.weigh import Weighed
from tocsin.spec.topper.state import PageState

SECOND = 1_000_000
DAY = 86_400 * SECOND
HOLD = timedelta(seconds=30)
POLICY = PageSettings()


def fields(**values: str) -> FieldValues:
    """A state's values; `topper_major="2026"` stands for topper-major."""
    return PageState.from_dict({name.replace("_", "-"): value for name, value in values.items()}).values


def page_html(state: FieldValues, title: str = "A page") -> bytes:
    """A page that declares this state."""
    declared = PageState(state).to_dict().items()
    metas = "".join(
        f'<meta {"http-equiv" if name == "refresh" else "name"}="{name}" content="{value}">'
        for name, value in declared
        if value is not None
    )
    return f"<!doctype html><title>{title}</title>{metas}".encode()


OLD = fields(topper_major="2026-01-02")
NEW = fields(topper_major="2026-01-02 2026-03-04")
NEWER = fields(topper_major="2026-01-02 2026-03-04 2026-05-06")


def task_of(
    page_id: int = 812,
    *,
    url: str | None = None,
    state: FieldValues | None = NEW,
    stored_at: Instant = START,
    question_id: int | None = None,
) -> PageTask:
    """A page whose check found `state` at `stored_at`."""
    return PageTask(
        page_id=page_id,
        host_id=3,
        host="example.org",
        url=url or f"https://example.org/{page_id}",
        group_id=1,
        settings=None,
        state=StoredState(5, state, stored_at, stored_at, 1) if state is not None else None,
        last=LastAnswer(set_at=stored_at, checked_at=stored_at),
        order=CheckOrder(question_id=question_id),
    )


def verdict_of(
    task: PageTask,
    before: FieldValues,
    latest: FieldValues,
    at: Instant,
    id_: int = 41,
    *,
    weighed: Weighed | None = None,
) -> PendingVerdict:
    """The verdict of a check a day after the one before it."""
    known = StoredState(4, before, at - DAY, at - DAY, 1)
    comparison = decide(known, PageState(latest), at, POLICY)
    data = changed_data(
        page=task,
        comparison=comparison,
        before=known,
        latest=latest,
        stored_at=at,
        elapsed_s=86_400,
        thresholds=thresholds_of(POLICY),
        ruling=combine_verdict(comparison, weighed),
    )
    return PendingVerdict(id_, at, comparison.outcome.value, data)


def job_of(
    task: PageTask | None = None, *verdicts: PendingVerdict, owed: bool = False, copy_url: str | None = None
) -> RenderJob:
    """A page that is due; unless told otherwise, for a major change found at START."""
    task = task or task_of()
    due = verdicts or (() if owed or copy_url else (verdict_of(task, OLD, NEW, START),))
    return RenderJob(task.page_id, major=True, since=START, verdicts=due, task=task, owed=owed, copy_url=copy_url)


def rendered_of(
    task: PageTask, state: FieldValues = NEW, *, at: Instant = START + SECOND, body: bytes | None = None
) -> Rendered:
    """What a renderer received that found the page in this state."""
    return Rendered(
        started_at=at,
        received_at=at + 40_000,
        status=200,
        final_url=task.url,
        content_type="text/html; charset=utf-8",
        title="A page",
        body=page_html(state) if body is None else body,
        validators=('"etag"', None),
        hop_url=task.url,
    )


class ScriptedRenderer:
    """Implements ports.Renderer: fails or finds what the script says of a URL, in order; the last entry stays.

    found    what a page is in that has no script
    asked    every job, in order
    before   awaited ahead of each answer, where a test wants to look in or to hold it back
    """

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self._scripts: dict[str, list[FieldValues | FetchError | Exception]] = {}
        self.found = NEW
        self.asked: list[RenderJob] = []
        self.before: Callable[[RenderJob], Awaitable[None]] | None = None

    def on(self, url: str, *answers: FieldValues | Exception) -> None:
        self._scripts[url] = list(answers)

    async def render(self, job: RenderJob) -> Rendered:
        self.asked.append(job)
        if self.before is not None:
            await self.before(job)
        url = job.copy_url or job.task.url
        script = self._scripts.get(url, [self.found])
        answer = script.pop(0) if len(script) > 1 else script[0]
        if isinstance(answer, Exception):
            raise answer
        return rendered_of(job.task, answer, at=self._clock.now())

    @property
    def pages(self) -> list[str]:
        """The last part of the URLs asked for, in order."""
        return [job.task.url.rpartition("/")[2] for job in self.asked]


class Listener(RecordingTelemetry):
    """Keeps what happened, and lets a test wait for it."""

    def __init__(self) -> None:
        super().__init__()
        self._heard: dict[str, asyncio.Event] = {}

    def emit(self, happening: Happening) -> None:
        super().emit(happening)
        self._heard.setdefault(happening.name, asyncio.Event()).set()

    async def heard(self, name: str) -> None:
        await self._heard.setdefault(name, asyncio.Event()).wait()


def url_of(name: str) -> str:
    """The URL of a page of the bench."""
    return f"https://example.org/{name}"


def failure(name: str, *, retry_after: timedelta | None = None) -> FetchFailed:
    """A page of the bench that cannot be reached."""
    return FetchFailed(url_of(name), FailureKind.CONNECT, "connection refused", retry_after=retry_after)


class Bench:
    """A render queue over a real store, with pages that can be made due."""

    def __init__(self, store: Store, clock: ManualClock | None = None, *, limit: int = 4, resume_at: int = 1) -> None:
        self.store, self.clock = store, clock or EagerClock()
        self.telemetry, self.renderer = Listener(), ScriptedRenderer(self.clock)
        self.outage, self.gates = OutageWatch(self.clock), Gates(HostSettings(), self.clock)
        self.alerts = EventWriter("tocsin", SeededChance())
        self.lease = Lease(store, "test", timedelta(seconds=10), self.clock, self.telemetry)
        self.committed = 0
        self.visited: set[int] = set()
        self.policies = Policies(POLICY)
        self.settings = RenderSettings(limit=limit, resume_at=resume_at)
        self.pictures: Pictures | None = None
        self.queue = self.fresh_queue()
        self._ids: dict[str, int] = {}

    def fresh_queue(self) -> RenderQueue:
        """The queue of a program that was started anew."""
        return RenderQueue(
            self.store,
            self.renderer,
            Awareness(self.alerts),
            lease=self.lease,
            settings=self.settings,
            hold=HOLD,
            policies=self.policies,
            gates=self.gates,
            outage=self.outage,
            clock=self.clock,
            chance=FixedChance(),
            telemetry=self.telemetry,
            on_committed=self._note,
            is_visited=lambda page_id: page_id in self.visited,
            pictures=self.pictures,
        )

    def page_id(self, name: str) -> int:
        """The store's number of a page."""
        return self._ids[name]

    async def take_anew(self) -> None:
        """Take all parts under later epochs, as an engine that was started anew."""
        await self.lease.leave()
        await self.lease.take()

    async def add(self, *names: str, items: PageItems | None = None, picture: KeptPicture | None = None) -> None:
        """Watch pages, and check them once: their first state is stored, with these items and this picture."""
        urls = [url_of(name) for name in names]
        pages = [NewPage(url=url, given=url, host="example.org", shard=7) for url in urls]
        for name, page_id in zip(names, await self.store.add_pages(pages, self.clock.now()), strict=True):
            assert page_id is not None
            self._ids[name] = page_id
            await self.check(name, OLD, items=items, picture=picture)

    async def add_changed(self, *names: str) -> None:
        """Watch pages each of which has changed since."""
        for name in names:
            await self.add(name)
            await self.check(name, NEW)

    async def check(
        self,
        name: str,
        state: FieldValues,
        *,
        major: bool = True,
        text: str | None = None,
        items: PageItems | None = None,
        picture: KeptPicture | None = None,
    ) -> None:
        """Let a check find the page in this state, with this text, items and picture; a change is due for awareness."""
        await self.take_anew()
        task = await self.task(name)
        now = self.clock.now()
        verdict = None
        if task.state is not None:
            pending = verdict_of(task, task.state.fields, state, now)
            verdict = VerdictRow(
                at=now,
                outcome="major" if major else "minor",
                reason=None,
                rule="T44",
                basis="declared",
                data=pending.data,
                awareness=True,
            )
        result = CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            report=CheckReport(task.url, verdict.outcome if verdict else "first"),
            checked_at=now,
            set_at=now,
            due=DueTime(now + DAY, "every 24h"),
            state=NewState(now, state, equal=False, validators=None, body_digest=None),
            verdict=verdict,
            received=True,
            learnt=LearntContents(
                snapshot=Snapshot(*pack_text(text), at=now) if text is not None else None,
                items=items,
                picture=picture,
            ),
        )
        await self.store.commit(self.lease.claim, [result])

    async def receive(self, name: str) -> None:
        """Let a check receive the page unchanged: a rendering that is owed is queued again."""
        await self.take_anew()
        task = await self.task(name)
        assert task.state is not None
        now = self.clock.now()
        result = CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            report=CheckReport(task.url, "unchanged"),
            checked_at=now,
            set_at=now,
            due=DueTime(now + DAY, "every 24h"),
            state=NewState(now, task.state.fields, equal=True, validators=None, body_digest=None),
            received=True,
            render_owed=task.owed,
        )
        await self.store.commit(self.lease.claim, [result])

    async def task(self, name: str) -> PageTask:
        """The page as a check would be given it."""
        request = await self.store.request_check([self._ids[name]], self.clock.now())
        host = 1
        (task,) = await self.store.due_pages(self.lease.claim, [host], self.clock.now(), per_host=9, request_id=request)
        return task

    async def drain(self) -> None:
        """Render until nothing is left to be done."""
        self.queue = self.fresh_queue()
        await self.take_anew()
        async with asyncio.TaskGroup() as group:
            group.create_task(self.queue.run(group), name="renders")
            self.queue.finish()

    async def events(self) -> list[JsonObject]:
        """All alerts, oldest first."""
        return [row.event for row in reversed(await self.store.alerts(limit=1000))]

    def _note(self, _host_id: int, _due: Instant | None) -> None:
        self.committed += 1
