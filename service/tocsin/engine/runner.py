"""One engine: its parts under one parent, started and stopped in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.engine.hosts.duties import LEADER
from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from datetime import timedelta

    from tocsin.engine.activity import ActivityRecorder
    from tocsin.engine.alerting.announcements import OutageAnnouncer, QuestionAnnouncer, StormAnnouncer
    from tocsin.engine.alerting.delivery import Delivery
    from tocsin.engine.clock_watch import ClockWatch
    from tocsin.engine.hosts.duties import Duties
    from tocsin.engine.hosts.kept_gates import KeptGates
    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.hosts.outage_drain import OutageDrain
    from tocsin.engine.hosts.process_limits import LoopTime
    from tocsin.engine.pruning import Pruning
    from tocsin.engine.rendering.render_queue import RenderQueue
    from tocsin.engine.scheduling.host_capacity import HostCapacity
    from tocsin.engine.scheduling.scheduler import Scheduler
    from tocsin.engine.scheduling.writer import ListedDates, ResultWriter
    from tocsin.model import Claim, Instant, JsonObject, NamedLease
    from tocsin.ports import Clock, Store, Telemetry

# Longest stop, shorter than container engines wait before they kill; work that is not finished by then is claimed again
# at the next start.
GRACE_S = 8.0

# Least time of each step of a stop, however long the steps before it took.
LEAST_S = 0.5

# The same for a one-shot check that a person interrupts.
HALT_S = 2.0

# Time of a one-shot check for its deliveries; the others stay in the outbox.
DRAIN_S = 15.0


# How often to look for parts whose overdue pages are to be spread.
LOOK_S = 1.0

# Pause before a failed step of the launch is repeated.
AGAIN_S = 2.0

# Interval of looking at the store's log: a busy engine adds some thousand pages to it in a second, and the more of them
# are copied at once, the longer a commit waits that has to reach the disk meanwhile.
COPY_LOG_S = 0.2


class EngineParts(Struct, frozen=True):
    """The parts that an engine runs."""

    lease: Lease
    gates: KeptGates
    writer: ResultWriter
    scheduler: Scheduler
    outages: OutageAnnouncer
    questions: QuestionAnnouncer
    renders: RenderQueue
    delivery: Delivery
    duties: Duties
    outage_drain: OutageDrain
    loop_time: LoopTime
    leading: Callable[[Store], LeaderParts]


class LeaderParts(Struct, frozen=True):
    """The parts that one node runs for all, on the store as the leader writes to it."""

    storms: StormAnnouncer
    listed_dates: ListedDates
    pruning: Pruning


class Upkeep(Struct, frozen=True):
    """The parts that only a service runs."""

    host_capacity: HostCapacity
    activity: ActivityRecorder
    clock_watch: ClockWatch


class Runner:
    """Runs an engine, as a service or for one request.

    upkeep  is called by a service only: a single check makes none of these parts
    ready   waits until pages can be checked
    """

    def __init__(
        self,
        store: Store,
        parts: EngineParts,
        clock: Clock,
        telemetry: Telemetry,
        *,
        upkeep: Callable[[], Upkeep],
        ready: Callable[[], Awaitable[None]],
    ) -> None:
        self._store, self._parts, self._clock, self._telemetry = store, parts, clock, telemetry
        self._upkeep, self._ready = upkeep, ready

    async def serve(self, stopping: asyncio.Event, *, at_launch: timedelta, cron: str) -> None:
        """Run until `stopping` is set, then end in order: checks, results, renderings, deliveries.

        at_launch  pages checked longer ago than this become due, spread over time (T63)
        cron       of the configuration; pages with a cron expression keep to it
        """
        if not await self._enter(stopping):
            return
        parts, upkeep = self._parts, self._upkeep()
        now, alone = self._clock.now(), parts.lease.claim_of_alone(at_launch)
        if alone is not None:
            # Before the scheduler starts: overdue pages are held back until a background task has spread them.
            await self._store.hold_overdue(now, at_launch=at_launch)
        await parts.outages.resume()
        await parts.duties.keep()
        self._telemetry.emit(Happening("engine.started"))
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(parts.lease.keep(), name="lease"),
                group.create_task(parts.gates.keep(), name="holds"),
                group.create_task(parts.outages.run(), name="outages"),
                group.create_task(parts.outage_drain.run(), name="outage-drain"),
                group.create_task(parts.questions.run(), name="questions"),
                group.create_task(parts.duties.run(), name="duties"),
                group.create_task(parts.duties.while_held(LEADER, partial(self._lead, upkeep)), name=LEADER),
                group.create_task(upkeep.activity.run(), name="activity"),
                group.create_task(upkeep.clock_watch.run(), name="clock-watch"),
                group.create_task(parts.loop_time.keep_measuring(self._clock), name="loop-time"),
                group.create_task(self._copy_log(), name="log"),
                group.create_task(self._spread(alone, now, at_launch, cron), name="launch"),
            ]
            writing = group.create_task(parts.writer.run(), name="writer")
            rendering = group.create_task(self._render(), name="renders")
            delivering = group.create_task(parts.delivery.run(), name="delivery")
            checking = group.create_task(parts.scheduler.run(parts.writer, stopping), name="scheduler")
            await stopping.wait()
            self._telemetry.emit(Happening("engine.stopping"))
            deadline_s = self._clock.monotonic() + GRACE_S
            parts.lease.stop()
            parts.scheduler.wake()
            parts.renders.stop()
            # Half of the time for requests under way, the rest for everything that must be written.
            await self._end(checking, deadline_s - GRACE_S / 2)
            await parts.writer.finish()
            await self._end(writing, deadline_s)
            await self._end(rendering, deadline_s)
            parts.delivery.finish()
            await self._end(delivering, deadline_s)
            for task in background:
                task.cancel()
        await upkeep.activity.finish()
        await self._leave()
        writer = parts.writer
        figures: JsonObject = {
            "checks": writer.written,
            "not_modified": writer.not_modified,
            "saved_bytes": writer.saved_bytes,
        }
        self._telemetry.emit(Happening("engine.stopped", "info", figures))

    async def _leave(self) -> None:
        """Write what must be known to the next process, and let others take the rest."""
        await self._parts.gates.write()
        await self._parts.duties.leave()
        await self._parts.lease.leave()

    async def _enter(self, stopping: asyncio.Event) -> bool:
        """Take the lease; False if told to stop before."""
        async with asyncio.TaskGroup() as group:
            entering = group.create_task(self._take(), name="enter")
            halting = group.create_task(stopping.wait(), name="stopping")
            await asyncio.wait({entering, halting}, return_when=asyncio.FIRST_COMPLETED)
            has_entered = entering.done()
            entering.cancel()
            halting.cancel()
        return has_entered

    async def _take(self) -> None:
        if self._store.is_shared:
            # Pages of our parts would wait for the fetchers; until these can check, other nodes do.
            await self._ready()
        await self._parts.lease.take()

    async def _copy_log(self) -> None:
        """Keep the store's log short, so that no commit has to copy it."""
        while True:
            await self._clock.sleep(COPY_LOG_S)
            # Where this fails, commits copy the log, and their errors are reported.
            with suppress(StoreError):
                await self._store.copy_log()

    async def _lead(self, upkeep: Upkeep, lease: NamedLease | None) -> None:
        """Do what one node does for all, until cancelled: each step may be repeated, and is done once."""
        parts = self._parts.leading(self._store.under(lease))
        async with asyncio.TaskGroup() as group:
            group.create_task(parts.storms.run(), name="storms")
            group.create_task(parts.listed_dates.run(), name="listed-dates")
            group.create_task(parts.pruning.run(), name="pruning")
            group.create_task(upkeep.host_capacity.run(), name="host-capacity")

    async def _spread(self, alone: Claim | None, now: Instant, at_launch: timedelta, cron: str) -> None:
        """Spread the checks of overdue pages (T63), while other pages are checked already.

        alone  parts that no node held for longer than `at_launch`, if there are any; so are others that are taken later
        """
        while True:
            if alone is not None:
                await self._spread_overdue(alone, now, at_launch, cron)
            await self._clock.sleep(LOOK_S)
            now, alone = self._clock.now(), self._parts.lease.claim_of_alone(at_launch)

    async def _spread_overdue(self, claim: Claim, now: Instant, at_launch: timedelta, cron: str) -> None:
        lease, on_spread = self._parts.lease, self._parts.scheduler.on_spread
        while True:
            try:
                await self._store.hold_overdue(now, at_launch=at_launch)
                due = await self._store.spread_overdue(claim, now, at_launch=at_launch, cron=cron, on_spread=on_spread)
            except StoreError as exc:
                self._telemetry.emit(Happening("launch.failed", "error", {"error": str(exc)}))
                await self._clock.sleep(AGAIN_S)
                # With a new time, checks made since then do not look like those of a clock that was ahead.
                claim, now = lease.held_of(claim), self._clock.now()
            else:
                break
        self._telemetry.emit(Happening("engine.spread", "info", {"due_at_launch": due}))

    async def check(self, stopping: asyncio.Event) -> None:
        """Check what the scheduler's request wants, give the awareness that is due, and deliver what channels take.

        Where `stopping` is set before the end, what was done is written and the rest is left.
        """
        parts = self._parts
        await parts.lease.take_share()
        await parts.outages.recall()
        async with asyncio.TaskGroup() as group:
            background = [
                group.create_task(parts.lease.keep(), name="lease"),
                group.create_task(parts.gates.keep(), name="holds"),
                group.create_task(parts.outages.run(), name="outages"),
                group.create_task(parts.loop_time.keep_measuring(self._clock), name="loop-time"),
            ]
            writing = group.create_task(parts.writer.run(), name="writer")
            rendering = group.create_task(self._render(), name="renders")
            checking = group.create_task(parts.scheduler.run(parts.writer, stopping), name="scheduler")
            halting = group.create_task(stopping.wait(), name="stopping")
            await asyncio.wait({checking, halting}, return_when=asyncio.FIRST_COMPLETED)
            parts.scheduler.wake()
            await self._end(checking, self._clock.monotonic() + HALT_S)
            await parts.writer.finish()
            await writing
            parts.renders.finish()
            await asyncio.wait({rendering, halting}, return_when=asyncio.FIRST_COMPLETED)
            if stopping.is_set():
                parts.renders.stop()
                await self._end(rendering, self._clock.monotonic() + HALT_S)
            else:
                await parts.outages.look()
                await parts.questions.flush()
                await parts.duties.keep()
                await self._lead_once()
                await parts.delivery.drain(DRAIN_S)
                await parts.duties.leave()
            for task in (*background, halting):
                task.cancel()
        await parts.gates.write()
        await parts.lease.leave()

    async def _lead_once(self) -> None:
        """Announce and apply what is due, unless another node leads by now."""
        leads = self._parts.duties.of(LEADER)
        if leads.is_held:
            parts = self._parts.leading(self._store.under(leads.lease))
            await parts.storms.flush()
            await parts.listed_dates.look()

    async def _render(self) -> None:
        """Run the render queue with its renderings in one group, so that they end together."""
        async with asyncio.TaskGroup() as renderings:
            await self._parts.renders.run(renderings)

    async def _end(self, task: asyncio.Task[None], deadline_s: float) -> None:
        """Wait for a task, and cancel it at this monotonic time."""
        _, late = await asyncio.wait({task}, timeout=max(deadline_s - self._clock.monotonic(), LEAST_S))
        for overdue in late:
            overdue.cancel()
        if late:
            await asyncio.wait(late)
