"""A store with a claim on it, and short words for what tests write to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

from msgspec import structs

from tests.builders import with_changes
from tests.claiming import claim_all
from tests.contract.stores import STORES, StoreBehind
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.events import CHANGED, RECOVERED, UNREACHABLE
from tocsin.model import (
    SHARDS,
    AlertDraft,
    Attempt,
    CheckReport,
    CheckResult,
    Claim,
    DueTime,
    Failure,
    FieldValues,
    NewPage,
    NewState,
    PageRow,
    PageTask,
    RenderCommit,
    RenderingRow,
    RenderJob,
    Validators,
    VerdictRow,
)
from tocsin.spec.html.urls import watch_url

NOW = 1_800_000_000_000_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
LEASE = timedelta(seconds=10)
GATHER = timedelta(seconds=60)
ALL = range(SHARDS)
A, B, C = "https://one.example/a", "https://one.example/b", "https://two.example/c"


def new_page(url: str, **changes: Any) -> NewPage:
    """A page to be watched, as a command makes it."""
    watched = watch_url(url)
    page = NewPage(url=watched.url, given=url, host=watched.host, shard=watched.shard)
    return structs.replace(page, **changes)


def fields(major: str | None = None, *, created: str | None = None) -> FieldValues:
    """Twelve values: `topper-major` and `created` are all that a test needs to tell states apart."""
    return (created, *(None,) * 9, major, None)


def attempt(at: int = NOW, kind: str = "connect") -> Attempt:
    """A try that failed."""
    return Attempt(at, kind, None, "connection refused", 12)


def failure(cause: str = "connect", *, during: str = "check", silent: bool = False) -> Failure:
    """A page that was not received."""
    return Failure(cause, (attempt(kind=cause),), during, silent)


def alert(name: str, page_id: int | None, kind: str = CHANGED, at: int = NOW) -> AlertDraft:
    """An event; its id sorts as its name does."""
    return AlertDraft(name.rjust(26, "0"), kind, page_id, at, {"id": name, "subject": None, "data": {}})


class Desk:
    """One engine's view of a store: `now` is when the next thing happens."""

    def __init__(self, store: SqlStore, claim: Claim, folder: Path, behind: StoreBehind | None = None) -> None:
        self.store, self.claim, self.folder, self.now = store, claim, folder, NOW
        self.behind = behind or STORES["sqlite"](folder)

    @classmethod
    async def at(cls, folder: Path, kind: str = "sqlite", **options: Any) -> Self:
        """Open the store of this folder as an engine, and claim all of it; its steps take no time."""
        behind = STORES[kind](folder)
        store = await open_store(behind.url, **{"engine": True, "gather": GATHER, "timer": lambda: 0.0, **options})
        claim = await claim_all(store, "engine")
        assert claim is not None
        return cls(store, claim, folder, behind)

    async def again(self, **options: Any) -> Self:
        """Open the same store again, as after a kill."""
        return await type(self).at(self.folder, self.behind.kind, **options)

    async def watch(self, *urls: str, **changes: Any) -> list[int]:
        """Add pages; returns their ids."""
        added = await self.store.add_pages([new_page(url, **changes) for url in urls], self.now)
        return [page_id for page_id in added if page_id is not None]

    async def backup(self, target: Path) -> list[tuple[int, int]]:
        """Copy the store; returns how far it was at each report."""
        return [step async for step in await self.store.backup(str(target))]

    async def edit(self, page_id: int, **changes: Any) -> None:
        """Edit one page."""
        nothing: dict[str, Any] = {
            "settings": {},
            "unset": (),
            "paused": None,
            "group": None,
            "text": None,
            "clear_text": False,
        }
        await self.store.edit_pages([page_id], self.now, **(nothing | changes))

    async def page(self, url: str) -> PageRow:
        """The page's row."""
        row = await self.store.page(url)
        assert row is not None
        return row

    async def agenda(self, since: int | None = None) -> dict[int, int]:
        """Hosts and when they are due."""
        return {host: due async for host, due in await self.store.host_agenda(self.claim, since_revision=since)}

    async def due(self, *, per_host: int = 100, at: int | None = None) -> list[PageTask]:
        """What is due at this time (in two days), of all hosts."""
        hosts = list(await self.agenda())
        return await self.store.due_pages(self.claim, hosts, at or self.now + 2 * DAY, per_host=per_host)

    async def task(self, url: str) -> PageTask:
        """The page as its next visit gets it."""
        return next(task for task in await self.due(per_host=5000) if task.url == url)

    async def check(self, url: str, major: str | None = None, **changes: Any) -> CheckResult:
        """Commit a check that received a page with this `topper-major`; a change gives a verdict with awareness."""
        result = self.result(await self.task(url), major, **changes)
        await self.store.commit(self.claim, [result])
        return result

    async def fail(self, url: str, cause: str = "connect", **changes: Any) -> CheckResult:
        """Commit a check that did not receive the page."""
        result = self.failed(await self.task(url), cause, **changes)
        await self.store.commit(self.claim, [result])
        return result

    def result(
        self,
        task: PageTask,
        major: str | None = None,
        *,
        awareness: bool = True,
        body_bytes: int | None = None,
        **changes: Any,
    ) -> CheckResult:
        """A check that received the page."""
        before, latest = task.state, fields(major)
        equal = before is not None and before.fields == latest
        verdict = None
        if before is not None and not equal:
            data = {"latest": major}
            verdict = VerdictRow(self.now, "major", "topper-major", "T44", "declared", data, awareness)
        outcome = "first" if before is None else "unchanged" if equal else "major"
        result = CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            order=task.order,
            report=CheckReport(task.url, outcome),
            checked_at=self.now,
            set_at=self.now,
            due=DueTime(self.now + DAY, "every 24h"),
            state=NewState(
                self.now, latest, equal, Validators(f'"{major}"', None, task.url), f"digest {major}", body_bytes
            ),
            verdict=verdict,
            received=True,
            render_owed=task.owed,
            recovery=alert(f"back {task.page_id}", task.page_id, RECOVERED) if task.order.question_id else None,
            based_on=before.last_at if before is not None else None,
        )
        return with_changes(result, **changes)

    def failed(self, task: PageTask, cause: str = "connect", **changes: Any) -> CheckResult:
        """A check that did not receive the page after its tries."""
        result = CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            order=task.order,
            report=CheckReport(task.url, "unreachable"),
            checked_at=self.now,
            set_at=None,
            due=DueTime(self.now + DAY, "every 24h"),
            failure=failure(cause),
        )
        return with_changes(result, **changes)

    async def job(self, url: str) -> RenderJob:
        """Take this page out of the render queue."""
        page = await self.page(url)
        (job,) = await self.store.claim_renders(self.claim, [page.id])
        return job

    async def render(self, url: str, **changes: Any) -> RenderJob:
        """Take the page's rendering and commit it as received."""
        job = await self.job(url)
        await self.store.commit_renderings(self.claim, [self.rendered(job, **changes)])
        return job

    def rendered(self, job: RenderJob, **changes: Any) -> RenderCommit:
        """A rendering that received the page."""
        result = RenderCommit(
            page_id=job.page_id,
            host_id=job.task.host_id,
            rendering=RenderingRow(
                kind="http",
                started_at=self.now,
                received=self.now,
                status=200,
                final_url=job.task.url,
                content_type=None,
                title="A",
                bytes=1,
                digest="sha256:1",
                same_state=True,
                error=None,
            ),
            served=tuple(verdict.id for verdict in job.verdicts),
            alerts=tuple(alert(f"verdict {verdict.id}", job.page_id) for verdict in job.verdicts),
            set_at=self.now,
            prune=True,
            recovered=job.owed,
            part=job.task.order.part,
        )
        return with_changes(result, **changes)

    def unrendered(self, job: RenderJob, cause: str = "timeout") -> RenderCommit:
        """A rendering that failed after its tries."""
        return self.rendered(job, failure=failure(cause, during="rendering"), set_at=None, prune=False, recovered=False)

    async def announce(self) -> list[int]:
        """Ask what is to be asked by now; returns the questions' ids."""
        questions = await self.store.questions_to_announce(self.now)
        for question in questions:
            draft = alert(f"asked {question.id}", question.page.id, UNREACHABLE)
            await self.store.announce(question.id, draft, self.now)
        return [question.id for question in questions]

    async def recoveries(self) -> list[tuple[str, object]]:
        """What `recovered` events say: their names, and the question that was left."""
        rows = await self.store.after(0, limit=1000)
        return [(row.id.lstrip("0"), row.event["data"].get("question")) for row in rows if row.type == RECOVERED]

    async def alerts(self) -> list[str]:
        """The names of all alerts, the oldest first."""
        return [row.id.lstrip("0") for row in await self.store.after(0, limit=1000)]


@asynccontextmanager
async def passing_desk(database: str) -> AsyncIterator[Desk]:
    """A store that is gone afterwards, for tests that make many."""
    with TemporaryDirectory() as folder:
        desk = await Desk.at(Path(folder), database)
        try:
            async with desk.store:
                yield desk
        finally:
            desk.behind.remove()


def url_of(folder: Path) -> str:
    """The store that tests of one folder share."""
    return STORES["sqlite"](folder).url
