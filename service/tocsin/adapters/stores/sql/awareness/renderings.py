"""The render queue (T55, T56), and what a rendering changes (T72)."""

from __future__ import annotations

import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from tocsin.adapters.stores.sql.attention.questions import Departure, Questions, told_in
from tocsin.adapters.stores.sql.knowledge.kept import (
    keep_changes,
    keep_items,
    keep_snapshots,
    remember_copies,
    retire_records,
    store_equal,
    store_state,
)
from tocsin.adapters.stores.sql.knowledge.knowledge import write_known
from tocsin.adapters.stores.sql.knowledge.pictures import keep_picture, replace_checked
from tocsin.adapters.stores.sql.owed import publish
from tocsin.adapters.stores.sql.pages.tasks import read_tasks
from tocsin.adapters.stores.sql.role import Role, held_parts, ids, of_parts, require_parts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    NOFOLLOW,
    NOINDEX,
    NOT_HTML,
    read_attempts,
    read_object,
    row_digest,
    to_json,
    to_us,
)
from tocsin.events import RECOVERED
from tocsin.model import EVERY_PART, PendingVerdict, RenderJob, WaitingPage, fit_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.owed import Routes
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Attempt, Claim, Instant, NewState, PageItems, RenderCommit


SQL = queries("renders")
WORK = queries("work")
LEARNT = queries("learnt")
# The kind of a rendering that received a copy which the user chose.
COPY = "copy"


def take_jobs(db: SqlSession, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
    """Give slots to these pages, as far as they wait and are ours; major ones first, then by their oldest verdict."""
    place = {"ids": ids(page_ids), **of_parts(claim)}
    of_part: dict[int, list[int]] = defaultdict(list)
    for page_id, shard in db.execute(SQL["shards_of"], place):
        of_part[claim.part_of(shard)].append(page_id)
    taken: set[int] = set()
    for part, epoch in held_parts(db, of_part):
        if epoch == claim.epochs[part]:
            slot = {"ids": ids(of_part[part]), "part": part, "epoch": epoch}
            taken.update(row[0] for row in db.execute(SQL["take"], slot))
    rows = [row for row in db.execute(SQL["taken"], place) if row[0] in taken]
    tasks = {task.page_id: task for task in read_tasks(db, WORK["tasks"], place).tasks()}
    for page_id, *_, spent in rows:
        # The tries of the rendering, not those of a check.
        order = replace(tasks[page_id].order, attempts=read_attempts(spent) if spent else ())
        tasks[page_id] = replace(tasks[page_id], order=order)
    pending: dict[int, list[PendingVerdict]] = defaultdict(list)
    for page_id, verdict_id, at, outcome, data, storm_id in db.execute(SQL["pending"], place):
        said = read_object(data)
        if storm_id is not None:
            # It may have waited for the user to ask for it, while others of the page were told.
            said["storm"] = {"id": str(storm_id)}
        pending[page_id].append(PendingVerdict(verdict_id, at, outcome, said))
    return [
        RenderJob(page_id, bool(major), since, tuple(pending[page_id]), tasks[page_id], bool(owed), copy_url)
        for page_id, major, since, owed, copy_url, _ in rows
    ]


def write_renderings(
    db: SqlSession, claim: Claim, results: Sequence[RenderCommit], *, history: bool, gather_us: int, routes: Routes
) -> dict[int, Instant | None]:
    """Write all that these renderings change (T72), each of another page; returns when each host is due next.

    Raises StaleClaim.
    """
    require_parts(db, claim, {result.part for result in results})
    rows = db.execute(WORK["standing"], {"ids": ids(result.page_id for result in results)})
    standing = {row[0]: row for row in rows}
    # A page that was removed meanwhile leaves no trace.
    found = [result for result in results if result.page_id in standing]
    _answer_verdicts(db, found)
    questions, drafts = Questions(db, gather_us), []
    for result in found:
        _, state_id, stored_at, _, question_id, *_ = standing[result.page_id]
        _write_page(db, result, state_id, stored_at, history=history)
        left = _settle_question(db, result, questions, question_id)
        drafts += [told_in(draft, left) if draft.type == RECOVERED else draft for draft in result.alerts]
        _close_job(db, result)
    keep_snapshots(db, [(result.page_id, result.snapshot) for result in found if result.snapshot is not None])
    publish(db, drafts, routes)
    hosts = ids({result.host_id for result in results})
    return dict(db.execute(WORK["due_of_hosts"], {"hosts": hosts, "shown": 0}).fetchall())


def _write_page(
    db: SqlSession, result: RenderCommit, state_id: int | None, stored_at: Instant | None, *, history: bool
) -> None:
    """Write a rendering, and what it found of its page."""
    place = {"page": result.page_id}
    # Its picture has a row of its own.
    told = replace(result.rendering, picture=None)
    rendering = {**place, "started_at": result.rendering.started_at, "rendering": to_json(told)}
    digest = row_digest(*rendering.values())
    (rendering_id,) = db.execute(SQL["insert_rendering"], {**rendering, "digest": digest}).fetchone()
    # Copies are read of the page itself alone: nothing in its place has its title.
    if result.copies is not None and (title := fit_title(result.rendering.title)) is not None:
        db.execute(LEARNT["note_title"], (result.page_id, title))
    if (kept := result.rendering.picture) is not None:
        replace_checked(db, result.page_id, result.served)
        keep_picture(db, result.page_id, result.rendering.started_at, kept, by_check=False)
    if result.set_at is not None:
        db.execute(SQL["note_set"], {**place, "at": result.set_at})
    if result.state is not None:
        state_id = _store(db, result.page_id, result.state, state_id, stored_at)
    _note_flags(db, result)
    if result.copies is not None:
        remember_copies(db, result.page_id, result.copies, result.rendering.started_at)
    if result.known is not None:
        db.execute(LEARNT["know"], (result.page_id, write_known(result.known)))
        db.execute(LEARNT["note_learnt"], place)
    if result.items is not None:
        _keep_items(db, result, result.items, rendering_id)
    if result.prune and state_id is not None:
        retire_records(db, result.page_id, history=history)


def _note_flags(db: SqlSession, result: RenderCommit) -> None:
    """Write what the page said with the state that is stored, and what that was read from."""
    if (flags := result.flags) is not None:
        said = NOINDEX * flags.noindex | NOFOLLOW * flags.nofollow | NOT_HTML * flags.not_html
        db.execute(SQL["note_flags"], {"page": result.page_id, "of": NOINDEX | NOFOLLOW | NOT_HTML, "said": said})


def _answer_verdicts(db: SqlSession, results: Sequence[RenderCommit]) -> None:
    # Alerts are those of the verdicts, in order; a `recovered` event may follow them.
    answers = [
        {"id": verdict, "page": result.page_id, "alert": alert.id}
        for result in results
        for verdict, alert in zip(result.served, result.alerts, strict=False)
    ]
    db.executemany(SQL["answer_verdict"], answers)


def _keep_items(db: SqlSession, result: RenderCommit, items: PageItems, rendering_id: int) -> None:
    keep_items(db, result.page_id, items)
    if result.changes is not None and items.packed:
        keep_changes(db, result.page_id, rendering_id, items.at, result.changes)


def _store(db: SqlSession, page_id: int, state: NewState, state_id: int | None, stored_at: Instant | None) -> int:
    if state.equal and state_id is not None:
        store_equal(db, page_id, state)
        return state_id
    return store_state(db, page_id, state, stored_at=stored_at)


def _settle_question(
    db: SqlSession, result: RenderCommit, questions: Questions, question_id: int | None
) -> Departure | None:
    """Take the page into a question or out of the one that it is in; returns that one."""
    at = result.rendering.started_at
    if result.failure is not None:
        pending = None
        if result.served:
            (pending,) = db.execute(SQL["verdict_data"], {"id": result.served[-1]}).fetchone()
        if result.rendering.kind != COPY:
            # The rendering stays owed: the next check that receives the page queues it again.
            db.execute(SQL["owe"], {"page": result.page_id})
        is_ruled = questions.fail(
            result.page_id, result.host_id, result.failure, at, joined=question_id, pending=pending
        )
        if is_ruled:
            db.execute(SQL["forgive"], {"page": result.page_id})
    elif result.recovered:
        db.execute(SQL["forgive"], {"page": result.page_id})
        if question_id is not None:
            return questions.leave(result.page_id, question_id, at)
    return None


def _close_job(db: SqlSession, result: RenderCommit) -> None:
    """Take the page out of the queue, or let it wait again for what came while it was being rendered."""
    place = {"page": result.page_id}
    job = db.execute(SQL["job"], place).fetchone()
    if job is None:
        return
    owed = bool(job[0]) and not result.recovered and result.failure is None
    copy_url = job[1] if result.rendering.kind != COPY else None
    since, major = db.execute(SQL["pending_of_page"], place).fetchone()
    if since is None and not owed and copy_url is None:
        db.execute(SQL["close_job"], place)
    else:
        again = {"major": major or 0, "since": since, "owed": owed, "copy_url": copy_url}
        db.execute(SQL["wait_again"], {**place, **again})


class RenderRole(Role):
    """Implements ports.RenderStore."""

    async def waiting_renders(
        self, *, limit: int, now: Instant | None = None, claim: Claim = EVERY_PART
    ) -> list[WaitingPage]:
        place = {"limit": limit, "now": _wall(now), **of_parts(claim)}

        def read(db: SqlSession) -> list[WaitingPage]:
            rows = db.execute(SQL["waiting"], place).fetchall()
            oldest = db.execute(SQL["oldest_waiting"], place).fetchone()
            if oldest is not None and oldest not in rows:
                rows[-1:] = [oldest]
            return [WaitingPage(page_id, bool(major), since) for page_id, major, since in rows]

        return await self._read(read)

    async def count_waiting(self, *, now: Instant | None = None) -> int:
        def read(db: SqlSession) -> int:
            count: int = db.execute(SQL["count_waiting"], {"now": _wall(now)}).fetchone()[0]
            return count

        return await self._read(read)

    async def claim_renders(self, claim: Claim, page_ids: Sequence[int]) -> list[RenderJob]:
        return await self._write(partial(take_jobs, claim=claim, page_ids=page_ids), shared=True)

    async def release_render(
        self, claim: Claim, page_id: int, *, not_before: Instant | None, attempts: Sequence[Attempt] = ()
    ) -> None:
        waits = {"not_before": not_before, "attempts": to_json(attempts) if attempts else None}

        def release(db: SqlSession) -> None:
            part, epoch = db.execute(SQL["slot"], {"page": page_id}).fetchone() or (None, None)
            if part is not None and epoch == claim.epochs[part]:
                db.execute(SQL["release"], {"page": page_id, "part": part, "epoch": epoch, **waits})

        await self._write(release, shared=True)

    async def commit_renderings(self, claim: Claim, results: Sequence[RenderCommit]) -> dict[int, Instant | None]:
        work = partial(
            write_renderings,
            claim=claim,
            results=results,
            history=self._options.history,
            gather_us=to_us(self._options.gather),
            routes=self._routes,
        )
        return await self._write(work, durable=True, shared=True)


def _wall(now: Instant | None) -> Instant:
    return time.time_ns() // 1000 if now is None else now
