"""Background jobs of requests: a few at a time, each with a row of its progress."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Final

from fastapi import Depends, Request
from msgspec.structs import replace

from tocsin.errors import StoreError, TocsinError
from tocsin.events import Happening
from tocsin.model import JobRow, JsonObject
from tocsin.server.parts import Parts
from tocsin.server.problems import Problem

DoWork = Callable[["Progress"], Awaitable[JsonObject]]

MOST_AT_ONCE: Final = 8  # All jobs write through one connection: more would wait for each other.

MOST_LISTED: Final = 100

PATIENCE_S: Final = 2.0  # A request waits this long for the end of its job before it redirects to the progress.

# A job may take thousands of steps a second; each would be a write.
_SAVED_EVERY_S: Final = 1.0
# How often jobs of nodes that are gone are looked for.
_LOST_EVERY_S: Final = 5.0
# Another node notices within a second that one of its jobs is to end.
_CANCEL_LOOKS: Final = 20
_CANCEL_LOOK_S: Final = 0.1
_CANCELLED: Final = "it was cancelled; what was done until then stays done"


class Progress:
    """The progress of a job, updated at each step.

    done    items completed
    total   items in all, if known
    result  of a cancelled job
    """

    def __init__(self, total: int | None = None) -> None:
        self.done, self.total = 0, total
        self.result: JsonObject | None = None

    def advance(self, number: int) -> None:
        """Count the items of a step."""
        self.done += number


class Job:
    """A job of this process; `Jobs` writes its row."""

    def __init__(self, row: JobRow, progress: Progress) -> None:
        self._row, self._progress = row, progress
        self._saved = row
        self._ended = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._failure: TocsinError | None = None
        self.is_cancelled = False

    @property
    def row(self) -> JobRow:
        """The row of its current state."""
        return replace(self._row, done=self._progress.done, total=self._progress.total)

    async def wait(self, timeout_s: float | None = None) -> JobRow:
        """Return its row at its end, or after this time. Raises the error that it failed with."""
        # A job that takes longer is no error: its row says how far it is.
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._ended.wait()
        if self._failure is not None:
            raise self._failure
        return self.row

    def begin(self, group: asyncio.TaskGroup, parts: Parts, work: DoWork) -> None:
        """Start the work."""
        self._task = group.create_task(self._run(parts, work), name=f"job {self._row.id}")
        # Set at every end, also before the first step, so that no waiter hangs.
        self._task.add_done_callback(lambda _: self._is_over(parts))

    def when_over(self, tell: Callable[[], object]) -> None:
        """Call this at any end of the job; soon, if it has ended."""
        if self._task is not None:
            self._task.add_done_callback(lambda _: tell())

    async def cancel(self) -> None:
        """Cancel it; completed steps are kept. A job that has ended is left as it is."""
        if self._task is None:
            return
        # Set before the task is cancelled: the task looks at it to tell a user's cancellation from a stop.
        if self._row.state == "running":
            self.is_cancelled = True
            self._task.cancel()
        await self._ended.wait()

    def leave(self) -> None:
        """Cancel it at a stop of the service: its row says "interrupted"."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self, parts: Parts, work: DoWork) -> None:
        try:
            result = await work(self._progress)
        except asyncio.CancelledError:
            if not self.is_cancelled:
                # The service stops; the next start marks the row.
                raise
            self._end(parts, "cancelled", result=self._progress.result, error=_CANCELLED)
        except TocsinError as exc:
            # Also kept as it is: a request that waits raises it, and shows its mend as for an action without a job.
            self._failure = exc
            self._end(parts, "failed", result=self._progress.result, error=str(exc))
        except Exception as exc:  # noqa: BLE001 - a fault of ours in one job must not end the service
            told = {"job": self._row.id, "kind": self._row.kind, "error": f"{type(exc).__name__}: {exc}"}
            parts.telemetry.emit(Happening("job.crashed", "error", told))
            self._failure = Problem(
                500, "internal", "A fault of ours", "this job could not be done to its end", mend="the log says more"
            )
            self._end(parts, "failed", error=str(self._failure))
        else:
            self._end(parts, "done", result=result)
        await self.save(parts)

    async def save(self, parts: Parts) -> None:
        """Write its row if it has changed; retried later if the store fails."""
        row = self.row
        # Jobs that wait for a slow store have nothing new to write.
        if row == self._saved:
            return
        try:
            await parts.store.save_job(row)
        except StoreError as exc:
            parts.telemetry.emit(Happening("job.unsaved", "error", {"job": row.id, "error": str(exc)}))
        else:
            self._saved = row

    def _is_over(self, parts: Parts) -> None:
        # Cancelled before its first step: `_run` never began, and could not say so.
        if self.is_cancelled and self._row.state == "running":
            self._end(parts, "cancelled", error=_CANCELLED)
        self._ended.set()

    def _end(self, parts: Parts, state: str, *, result: JsonObject | None = None, error: str | None = None) -> None:
        self._row = replace(self._row, state=state, ended_at=parts.clock.now(), result=result, error=error)


class Jobs:
    """The jobs of this process; made by `running_jobs`.

    editing  a lock held from the check of a revision to the write, so that no other edit comes between
    """

    def __init__(self, parts: Parts, group: asyncio.TaskGroup) -> None:
        self._parts, self._group = parts, group
        self._running: dict[str, Job] = {}
        self._lost_at_s = float("-inf")
        self.editing = asyncio.Lock()

    async def start(self, kind: str, who: str, work: DoWork, *, total: int | None = None) -> Job:
        """Start a job.

        kind  as in the audit log: "pages.import"
        work  runs it, updates the progress, and returns the result
        Raises Problem where too many run, and StoreError; nothing is started then.
        """
        running = [job for job in self._running.values() if job.row.state == "running"]
        if len(running) >= MOST_AT_ONCE:
            raise Problem(
                429,
                "too-many-jobs",
                "Too many jobs at once",
                f"{len(running)} jobs run already, which is as many as may",
                mend="wait until one of GET /api/v1/jobs has ended, or cancel one",
                headers={"Retry-After": "5"},
            )
        now, progress = self._parts.clock.now(), Progress(total)
        row = JobRow(self._parts.chance.ulid(now), kind, who, now, total=total, node=self._parts.service.node)
        job = Job(row, progress)
        # The slot is taken before the row is written, so that the limit holds meanwhile.
        self._running[job.row.id] = job
        try:
            await self._parts.store.save_job(job.row)
        except BaseException:
            del self._running[job.row.id]
            raise
        job.begin(self._group, self._parts, work)
        return job

    async def find(self, job_id: str) -> JobRow | None:
        """Return the row of a job."""
        job = self._running.get(job_id)
        return job.row if job is not None else await self._parts.store.job(job_id)

    async def latest(self, limit: int = 20) -> list[JobRow]:
        """Return the latest jobs, newest first."""
        rows = await self._parts.store.jobs(limit=limit)
        # Rows are written once a second; the jobs themselves know more.
        return [self._running[row.id].row if row.id in self._running else row for row in rows]

    async def cancel(self, job_id: str) -> JobRow | None:
        """Cancel a job; a job that has ended is left as it is. None for an unknown one.

        A job of another node may still be running when this returns: its node ends it within a second or so.
        """
        job = self._running.get(job_id)
        if job is not None:
            await job.cancel()
            return job.row
        store = self._parts.store
        row = await store.job(job_id)
        if row is None or row.state != "running" or not await store.ask_to_cancel(job_id):
            return row
        for _ in range(_CANCEL_LOOKS):
            row = await store.job(job_id)
            if row is None or row.state != "running":
                break
            await self._parts.clock.sleep(_CANCEL_LOOK_S)
        return row

    async def keep_rows(self) -> None:
        """Write the rows of all jobs periodically, and end those that other nodes want to end, until cancelled."""
        while True:
            await self._parts.clock.sleep(_SAVED_EVERY_S)
            await self.save()
            await self._look_at_nodes()

    async def _look_at_nodes(self) -> None:
        """End jobs that other nodes want to end, and note that jobs of nodes that are gone have ended."""
        parts = self._parts
        try:
            wanted = await parts.store.jobs_to_cancel(parts.service.node) if self._running else []
            if (now_s := parts.clock.monotonic()) >= self._lost_at_s:
                self._lost_at_s = now_s + _LOST_EVERY_S
                await parts.store.interrupt_lost_jobs(parts.clock.now())
        except StoreError as exc:
            self._parts.telemetry.emit(Happening("jobs.unread", "warning", {"error": str(exc)}))
            return
        for job_id in wanted:
            if (job := self._running.get(job_id)) is not None:
                await job.cancel()

    async def leave(self) -> None:
        """Cancel running jobs at a stop of the service."""
        # A copy: jobs remove themselves from it while they end.
        left = list(self._running.values())
        for job in left:
            job.leave()
        try:
            await self.save()
            await self._parts.store.interrupt_jobs(self._parts.clock.now(), node=self._parts.service.node)
        except StoreError as exc:
            # A service that lost its store has closed it by now: raising here would hide the reason of the stop.
            # The next start marks these jobs as interrupted.
            if left:
                told = {"jobs": len(left), "error": str(exc)}
                self._parts.telemetry.emit(Happening("jobs.unwritten", "warning", told))

    async def save(self) -> None:
        """Write changed rows, and forget the jobs that have ended."""
        for job in list(self._running.values()):
            row = job.row
            await job.save(self._parts)
            if row.state != "running":
                del self._running[row.id]


@asynccontextmanager
async def running_jobs(parts: Parts) -> AsyncIterator[Jobs]:
    """Run jobs inside this context; jobs running at its end are interrupted."""
    # What a crash left as running is over; nothing goes on with it.
    await parts.store.interrupt_jobs(parts.clock.now(), node=parts.service.node)
    async with asyncio.TaskGroup() as group:
        jobs = Jobs(parts, group)
        keeping = group.create_task(jobs.keep_rows(), name="progress of jobs")
        try:
            yield jobs
        finally:
            keeping.cancel()
            await jobs.leave()


def jobs_of(request: Request) -> Jobs:
    """Return the jobs of the application."""
    jobs = request.app.state.jobs
    assert isinstance(jobs, Jobs)  # noqa: S101 - the application's life sets it
    return jobs


Work = Annotated[Jobs, Depends(jobs_of)]
