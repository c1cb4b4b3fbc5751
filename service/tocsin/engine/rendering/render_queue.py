"""The bounded render queue: awareness for the pages that are due for it (T55 to T59)."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from tocsin.engine.hosts.outage import OURS
from tocsin.engine.hosts.process_limits import MET
from tocsin.engine.rendering.awareness import Comparisons
from tocsin.engine.rendering.browser_queue import CheckPlaces
from tocsin.engine.rendering.renderer import kind_of_rendering
from tocsin.engine.visiting.retry import pause_s
from tocsin.engine.visiting.visit import contained
from tocsin.errors import Disallowed, FetchError, Postponed, SettingsError, Shortage, StaleClaim, StoreError, Withdrawn
from tocsin.events import Happening
from tocsin.model import Attempt
from tocsin.spec.topper.compare import Mode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
    from datetime import timedelta

    from tocsin.engine.hosts.gates import Gates
    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.policies import Policies
    from tocsin.engine.rendering.awareness import Awareness
    from tocsin.engine.rendering.pictures import Pictures
    from tocsin.model import Claim, Instant, JsonObject, RenderCommit, Rendered, RenderJob, WaitingPage
    from tocsin.ports import Chance, Clock, Renderer, RenderStore, Telemetry
    from tocsin.settings import PageSettings, RenderSettings
Result = TypeVar("Result")
POLL_S = 1.0
# Ended renderings that are remembered, so that checks read before their end are repeated.
_MOST_ENDED = 10_000
# Pause before a failed write is repeated.
_STORE_RETRY_S = 2.0
# Renderings that are written in one transaction, at most, and those that wait for no more of them.
_MOST_AT_ONCE, _ENOUGH = 64, 16
# Pauses without a try: an outage, and a shortage, end by themselves.
_OUTAGE_PAUSE_S = 60.0
_SHORTAGE_PAUSE_S = 15.0
# Pause of a page whose settings cannot be used: the user may mend them.
_HELD_PAUSE_S = 600.0


class RenderGate:
    """Decides how many waiting pages may start.

    limit      slots: pages rendered in parallel (T55)
    resume_at  free slots at which waiting pages resume, from one to the limit (T56)

    While no page waits, the gate is open, and a page that becomes due starts at once if a slot is free. As soon as a
    page has to wait, the gate closes until `resume_at` slots are free, or enough for all waiting pages.
    """

    def __init__(self, limit: int, resume_at: int) -> None:
        self.limit, self.resume_at = limit, min(resume_at, limit)
        self.is_open = True

    def configure(self, limit: int, resume_at: int) -> None:
        """Apply other limits; pages that hold a slot keep it."""
        self.limit, self.resume_at = limit, min(resume_at, limit)

    def admit(self, waiting: int, busy: int) -> int:
        """Return how many waiting pages start now; called whenever a page becomes due or is done."""
        free = max(self.limit - busy, 0)
        if not self.is_open and free < min(self.resume_at, waiting):
            return 0
        starting = min(free, waiting)
        self.is_open = starting == waiting
        return starting


def share_of(limit: int, resume_at: int, own: int, parts: int) -> tuple[int, int]:
    """Return the limits of one node: the share of all slots that its parts are of all parts, and at least one slot."""
    if parts <= 1:
        return limit, resume_at
    return max(limit * own // parts, 1), max(resume_at * own // parts, 1)


class RenderOrder:
    """Orders waiting pages: major before minor, then by age, without starvation (T55).

    Each batch includes the page that waits for longest. Batches of one alternate.
    """

    def __init__(self) -> None:
        self._owes_oldest = False

    def take(self, waiting: Sequence[WaitingPage], seats: int) -> list[int]:
        """Return the ids of the pages that start, in order."""
        if seats <= 0 or not waiting:
            return []
        oldest = min(waiting, key=_age)
        batch = sorted(waiting, key=lambda page: (not page.major, *_age(page)))[:seats]
        if oldest not in batch and (seats > 1 or self._owes_oldest):
            batch[-1] = oldest
        self._owes_oldest = oldest not in batch
        return [page.page_id for page in batch]


def _age(page: WaitingPage) -> tuple[int, int]:
    return page.since, page.page_id


class EndedRendering(NamedTuple):
    """A rendering that waits for being written; `due_at`, of its page's host, is set when it is."""

    claim: Claim
    result: RenderCommit
    due_at: asyncio.Future[Instant | None]


class CommitStore(Protocol):
    """Where renderings are written; `ports.RenderStore` implements it."""

    async def commit_renderings(self, claim: Claim, results: Sequence[RenderCommit]) -> dict[int, Instant | None]:
        """Write renderings of different pages in one transaction; returns when each of their hosts is due next."""


class RenderingWriter:
    """Commits renderings; those that wait at the same time share a transaction, and so its sync of the disk."""

    def __init__(self, store: CommitStore) -> None:
        self._store = store
        self._waiting: list[EndedRendering] = []
        self._concluding = 0
        self._came = asyncio.Event()
        self._is_writing = False

    @contextmanager
    def concluding(self) -> Iterator[None]:
        """Note that a page was received and its rendering is being concluded: others wait to be written with it."""
        self._concluding += 1
        try:
            yield
        finally:
            self._concluding -= 1
            self._came.set()

    async def put(self, claim: Claim, result: RenderCommit, group: asyncio.TaskGroup) -> Instant | None:
        """Commit a rendering; returns when its page's host is due next. Raises StoreError, StaleClaim.

        group  that the renderings are tasks of; so is the one that writes them, while any waits
        """
        ended = EndedRendering(claim, result, asyncio.get_running_loop().create_future())
        self._waiting.append(ended)
        if not self._is_writing:
            self._is_writing = True
            group.create_task(self._write(), name="renderings-writer")
        return await ended.due_at

    async def _write(self) -> None:
        try:
            while self._waiting:
                await self._gather()
                batch, self._waiting = self._waiting[:_MOST_AT_ONCE], self._waiting[_MOST_AT_ONCE:]
                # One that was taken under an older claim may be refused; the others must not be refused with it.
                for claim in dict.fromkeys(ended.claim for ended in batch):
                    await self._commit(claim, [ended for ended in batch if ended.claim == claim])
        finally:
            self._is_writing = False

    async def _gather(self) -> None:
        # Each takes a few milliseconds of the loop's time, and none waits for the network any more.
        while self._concluding and len(self._waiting) < _ENOUGH:
            self._came.clear()
            await self._came.wait()

    async def _commit(self, claim: Claim, batch: Sequence[EndedRendering]) -> None:
        try:
            due = await self._store.commit_renderings(claim, [ended.result for ended in batch])
        except StoreError as exc:
            if len(batch) == 1:
                for ended in batch:
                    _settle(ended, error=exc)
                return
            # Perhaps only one of them cannot be written.
            for ended in batch:
                await self._commit(claim, [ended])
        else:
            for ended in batch:
                _settle(ended, due.get(ended.result.host_id))


def _settle(ended: EndedRendering, due_at: Instant | None = None, *, error: StoreError | None = None) -> None:
    """Tell the task of a rendering, unless it was cancelled."""
    if ended.due_at.done():
        return
    if error is None:
        ended.due_at.set_result(due_at)
    else:
        ended.due_at.set_exception(error)


class RenderQueue:
    """Admits waiting pages to the slots, and takes each rendering to its commit.

    hold          `finish` waits no longer than this for a page's next try
    on_committed  called after each commit, which may have written alerts, with the next due time of the page's host
    is_visited    tells whether a check has a page in hand; its rendering waits, so that both know the latest state
    places        of the slots, for checks in the browser
    pictures      keeps the pictures that renderings take; None: they are not kept
    Waiting pages are rows. A slot is held by a task in the group given to `run`, from its first request until the
    rendering is committed or pauses before its next try.
    """

    def __init__(
        self,
        store: RenderStore,
        renderer: Renderer,
        awareness: Awareness,
        *,
        lease: Lease,
        settings: RenderSettings,
        hold: timedelta,
        policies: Policies,
        gates: Gates,
        outage: OutageWatch,
        clock: Clock,
        chance: Chance,
        telemetry: Telemetry,
        on_committed: Callable[[int, Instant | None], None],
        is_visited: Callable[[int], bool] = lambda _page_id: False,
        places: CheckPlaces | None = None,
        pictures: Pictures | None = None,
    ) -> None:
        # The queue holds pages, not changes: a page that changed twice while it waited is rendered once, and each
        # of its changes has its alert, in order.
        self._store, self._renderer, self._awareness, self._lease = store, renderer, awareness, lease
        self._policies, self._gates, self._outage = policies, gates, outage
        self._clock, self._chance, self._telemetry = clock, chance, telemetry
        self._on_committed, self._is_visited, self._pictures = on_committed, is_visited, pictures
        self._places = places or CheckPlaces()
        self._places.note(limit=settings.limit, rendering=0, are_waiting=False)
        self._places.on_freed = self.wake
        self._comparisons, self._writer = Comparisons(store, telemetry), RenderingWriter(store)
        self._hold_us = round(hold.total_seconds() * 1_000_000)
        self._settings = settings
        self._gate, self._order = RenderGate(settings.limit, settings.resume_at), RenderOrder()
        self._busy: set[int] = set()
        # The parts of the pages that hold a slot.
        self._parts: dict[int, int] = {}
        self._wanted: set[int] = set()
        self._ended_s: dict[int, float] = {}
        self._pausing: dict[int, Instant] = {}
        self._changed = asyncio.Event()
        self._stopping = self._finishing = False
        lease.serve(self)

    def parts_in_hand(self) -> set[int]:
        """Return the parts of the pages that hold a slot."""
        return set(self._parts.values())

    def on_taken(self, parts: Collection[int]) -> None:
        """Look for waiting pages of these parts."""
        del parts
        self._changed.set()

    def on_lost(self, parts: Collection[int]) -> None:
        """Go on: what is under way is refused when it is written."""

    def has_in_hand(self, page_id: int, since_s: float) -> bool:
        """Tell whether checks must not take this page: it is being rendered, or a check is all that it waits for.

        since_s  monotonic time at which the check read the page; a rendering that ended later may have changed it
        """
        if page_id in self._busy or page_id in self._wanted:
            return True
        return self._ended_s.get(page_id, since_s - 1.0) >= since_s

    def on_checked(self) -> None:
        """Note that checks were committed: pages that they had in hand may be free now."""
        if self._wanted:
            self._changed.set()

    @property
    def busy(self) -> frozenset[int]:
        """The ids of the pages that hold a slot."""
        return frozenset(self._busy)

    def configure(self, settings: RenderSettings) -> None:
        """Apply other limits; pages that hold a slot keep it."""
        self._settings = settings
        self._changed.set()

    def wake(self) -> None:
        """Note that pages may have become due for awareness."""
        self._changed.set()

    def finish(self) -> None:
        """Let `run` end once no page waits, not even for a try that is near."""
        self._finishing = True
        self._changed.set()

    def stop(self) -> None:
        """Let `run` end now; renderings under way continue in their group."""
        self._stopping = True
        self._changed.set()

    async def run(self, group: asyncio.TaskGroup) -> None:
        """Admit pages until `stop` or `finish`; their renderings become tasks of this group."""
        async with asyncio.TaskGroup() as own:
            ticker = own.create_task(self._tick(), name="renders-tick")
            while not self._stopping:
                self._changed.clear()
                try:
                    is_idle = await self._admit(group)
                except StoreError as exc:
                    self._telemetry.emit(Happening("renders.failed", "error", {"error": str(exc)}))
                    is_idle = False
                if self._finishing and is_idle:
                    break
                await self._changed.wait()
            ticker.cancel()

    async def _admit(self, group: asyncio.TaskGroup) -> bool:
        """Start waiting pages as far as possible; returns whether there is nothing to do."""
        if self._outage.is_outage() or not self._lease.may_begin:
            # Renderings wait for something else: checks, of which one may end the outage, do not wait for them.
            self._places.note(limit=self._gate.limit, rendering=len(self._busy), are_waiting=False)
            return not self._busy
        now, was_busy = self._clock.now(), bool(self._busy)
        # The settings say how many pages are rendered by all nodes together.
        self._gate.configure(*share_of(self._settings.limit, self._settings.resume_at, *self._lease.parts))
        # One more than the slots tells whether a page has to wait. Pages under way whose claim became stale appear as
        # waiting again, and are skipped.
        most = self._gate.limit + 1 + len(self._busy)
        rows = await self._store.waiting_renders(limit=most, now=now, claim=self._lease.claim)
        # Checks must not take these pages again; otherwise check and rendering could block each other for ever.
        self._wanted = {page.page_id for page in rows if self._is_visited(page.page_id)}
        waiting = [page for page in rows if page.page_id not in self._busy | self._wanted]
        taken = len(self._busy) + self._places.taken + self._places.owed
        starting = self._order.take(waiting, self._gate.admit(len(waiting), taken))
        if starting:
            await self._start(starting, group)
        self._places.note(
            limit=self._gate.limit,
            rendering=len(self._busy),
            are_waiting=len(starting) < len(waiting),
            started=len(starting),
        )
        # Renderings that ended during the query are seen in the next round.
        return not (rows or was_busy or self._busy or self._is_try_near(now))

    async def _start(self, page_ids: list[int], group: asyncio.TaskGroup) -> None:
        # The slots are taken before the await, so that no check takes one of the pages meanwhile.
        self._busy.update(page_ids)
        left = set(page_ids)
        # The rendering is written under this very claim, or not at all if the claim was lost meanwhile.
        claim = self._lease.claim
        try:
            for job in await self._store.claim_renders(claim, page_ids):
                left.discard(job.page_id)
                self._parts[job.page_id] = job.task.order.part
                self._pausing.pop(job.page_id, None)
                group.create_task(self._render(job, claim, group), name=f"render-{job.page_id}")
        finally:
            self._busy -= left

    def _is_try_near(self, now: Instant) -> bool:
        # Pages whose pause is over are among the waiting rows, unless they were removed.
        self._pausing = {page_id: at for page_id, at in self._pausing.items() if at > now}
        return any(at - now <= self._hold_us for at in self._pausing.values())

    async def _render(self, job: RenderJob, claim: Claim, group: asyncio.TaskGroup) -> None:
        """See one page through one set of requests."""
        try:
            await self._render_once(await self._patiently(lambda: self._comparisons.add_differences(job)), claim, group)
        except StaleClaim as exc:
            # The engine that owns the page now renders it; nothing of ours may be written.
            self._telemetry.emit(
                Happening("render.lost", "warning", {"page_id": job.page_id, "url": job.task.url, "error": str(exc)})
            )
        finally:
            self._busy.discard(job.page_id)
            self._parts.pop(job.page_id, None)
            self._ended_s.pop(job.page_id, None)
            self._ended_s[job.page_id] = self._clock.monotonic()
            if len(self._ended_s) > _MOST_ENDED:
                del self._ended_s[next(iter(self._ended_s))]
            self._changed.set()

    async def _render_once(self, job: RenderJob, claim: Claim, group: asyncio.TaskGroup) -> None:
        policy = self._policies.readable(job.task)
        kind = kind_of_rendering(self._settings, policy)
        began, start = self._clock.now(), self._clock.monotonic()
        if Mode(policy.mode) is Mode.OFF:
            await self._commit(job, claim, self._awareness.declined(job, began, kind), group)
            return
        try:
            policy = self._policies.of(job.task)
            with contained(job.page_id, job.task.url, self._telemetry):
                result = await self._conclude(job, await self._renderer.render(job), policy)
        except SettingsError as exc:
            # No request: without its settings the page could be requested in a way that the user excluded.
            held = {"page_id": job.page_id, "url": job.task.url, "error": str(exc)}
            self._telemetry.emit(Happening("page.held", "warning", held))
            await self._pause(job, claim, job.task.order.attempts, _HELD_PAUSE_S)
            return
        except Disallowed as exc:
            result = self._awareness.disallowed(job, began, str(exc), kind)
        except Postponed as exc:
            # The host asked for a pause, or its line is long: no set was made, so no try is spent (T58).
            pause_for_s = max(exc.not_before - self._clock.now(), 0) / 1_000_000
            await self._pause(job, claim, job.task.order.attempts, pause_for_s)
            return
        except (Withdrawn, Shortage) as exc:
            # Removing or pausing a page took it out of the queue, too: it only gives its slot back.
            pause_for_s = POLL_S
            if isinstance(exc, Shortage):
                pause_for_s = _SHORTAGE_PAUSE_S
                self._telemetry.emit(Happening(MET, "debug", {"error": str(exc)}))
            await self._pause(job, claim, job.task.order.attempts, pause_for_s)
            return
        except FetchError as exc:
            if exc.kind in OURS and (self._outage.is_outage() or self._outage.in_doubt):
                # Our own connection fails, or may: no try is spent, and no question is asked.
                await self._pause(job, claim, job.task.order.attempts, _OUTAGE_PAUSE_S)
                return
            elapsed_ms = round((self._clock.monotonic() - start) * 1000)
            # The question is about the page, so a copy is named.
            detail = exc.detail if job.copy_url is None else f"copy {job.copy_url}: {exc.detail}"
            attempts = (*job.task.order.attempts, Attempt(began, exc.kind, exc.status, detail, elapsed_ms))
            if len(attempts) <= policy.tries:
                longest_s = self._gates.politeness(job.task.host).retry_after_max_s
                await self._pause(
                    job, claim, attempts, pause_s(len(attempts), self._chance, exc.retry_after, longest_s)
                )
                return
            result = self._awareness.failed(job, attempts, exc, kind)
        await self._commit(job, claim, result, group)

    async def _conclude(self, job: RenderJob, rendered: Rendered, policy: PageSettings) -> RenderCommit:
        """Assess the answer, compare its contents, and conclude."""
        now = self._clock.now()
        if job.copy_url is not None:
            return self._awareness.given(job, rendered, policy, now)
        # Before it counts as concluding: reading a large page may take seconds, and others would wait to be written.
        looked = await self._comparisons.look(self._awareness, job, rendered, policy, now)
        if rendered.unread is not None:
            what = {"page_id": job.page_id, "url": job.task.url, "error": rendered.unread}
            self._telemetry.emit(Happening("items.unread", "warning", what))
        picture = None
        if self._pictures is not None and rendered.picture is not None and looked.may_keep:
            picture = await self._pictures.keep(job, rendered.picture)
        with self._writer.concluding():
            told = await self._patiently(lambda: self._comparisons.add_last_difference(job, looked.text))
            changes = await self._patiently(lambda: self._comparisons.compare_items(job, looked.items))
            return self._awareness.given(told, rendered, policy, now, looked, changes, picture)

    async def _pause(self, job: RenderJob, claim: Claim, attempts: tuple[Attempt, ...], seconds: float) -> None:
        """Give up the slot until the next try (T55, T58)."""
        not_before = self._clock.now() + round(seconds * 1_000_000)
        await self._patiently(
            lambda: self._store.release_render(claim, job.page_id, not_before=not_before, attempts=attempts)
        )
        self._pausing[job.page_id] = not_before

    async def _commit(self, job: RenderJob, claim: Claim, result: RenderCommit, group: asyncio.TaskGroup) -> None:
        result = replace(result, part=job.task.order.part)
        due_at = await self._patiently(lambda: self._writer.put(claim, result, group))
        values: JsonObject = {"page_id": job.page_id, "url": job.task.url, "verdicts": len(result.served)}
        if job.copy_url is not None:
            values["copy"] = job.copy_url
        if result.alerts:
            values["summary"] = result.alerts[-1].summary
        if result.rendering.error is None:
            self._telemetry.emit(Happening("page.rendered", "info", values))
        else:
            values["error"] = result.rendering.error[2]
            self._telemetry.emit(Happening("page.unrendered", "warning", values))
        self._on_committed(result.host_id, due_at)

    async def _patiently(self, write: Callable[[], Awaitable[Result]]) -> Result:
        """Repeat until the store works: a rendering waits in its slot until a full disk has room again."""
        while True:
            try:
                done = await write()
            except StaleClaim:
                raise
            except StoreError as exc:
                self._lease.commits.failed("renderings", exc)
                self._telemetry.emit(Happening("store.failed", "error", {"error": str(exc)}))
                await self._clock.sleep(_STORE_RETRY_S)
            else:
                self._lease.commits.succeeded("renderings")
                return done

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(POLL_S)
            self._changed.set()
