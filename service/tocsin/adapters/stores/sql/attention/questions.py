"""Questions and standing answers (T60): what the engine asks, and lists for people."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.attention.answers import AnswerAtWork, UserAnswer
from tocsin.adapters.stores.sql.attention.failures import SQL
from tocsin.adapters.stores.sql.claims import require
from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.knowledge.copies import copies_of, copies_of_question
from tocsin.adapters.stores.sql.owed import publish
from tocsin.adapters.stores.sql.pages.lists import COUNTED
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids, touch_hosts
from tocsin.adapters.stores.sql.schedule import spread_at, window_us
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_attempts, read_instruction, read_names, read_object
from tocsin.errors import UsageError
from tocsin.model import BoundedCount, QuestionRow, Slice, StandingAnswerRow
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import AlertDraft, Claim, Instant, Instruction, KnownCopy
    from tocsin.ports.pages import OnStep


# The most copies that are offered of a page.
OFFERED = 100

_OFFERED_OF_ALL = 1000

LISTS = queries("question_lists")


class AttentionRole(Role):
    """Implements ports.AttentionStore."""

    async def questions_to_announce(self, now: Instant) -> list[QuestionRow]:
        questions = await self._read(lambda db: _questions(db, SQL["to_announce"], {"now": now}))
        if any(not question.pages for question in questions):
            await self._write(lambda db: db.execute(SQL["close_empty"], {"now": now}))
        return [question for question in questions if question.pages]

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        def write(db: SqlSession) -> None:
            if db.execute(SQL["announce"], {"question": question_id, "now": now}).rowcount:
                publish(db, [alert])

        await self._write(write, durable=True)

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        def write(db: SqlSession) -> int:
            require(db, claim)
            hosts: list[int] = []
            for (question,) in db.execute(SQL["to_withdraw"], {"causes": ids(causes)}).fetchall():
                place = {"question": question, "retry_at": retry_at, "now": now}
                hosts += [row[0] for row in db.execute(SQL["postpone"], place).fetchall()]
                db.execute(SQL["close"], place)
            touch_hosts(db, set(hosts))
            return len(hosts)

        return await self._edit(write)

    async def questions(
        self, *, closed: bool = False, after_id: int = 0, limit: int | None = None
    ) -> list[QuestionRow]:
        place: dict[str, Any] = {"closed": closed, "after": after_id, "limit": -1 if limit is None else limit}
        return await self._read(lambda db: _questions(db, SQL["questions"], place))

    async def question(self, question_id: int) -> QuestionRow | None:
        found = await self._read(lambda db: _questions(db, SQL["one_question"], {"question": bounded(question_id)}))
        return found[0] if found else None

    async def question_pages(self, question_id: int, *, limit: int = 1000) -> list[str]:
        place = {"question": bounded(question_id), "limit": limit}
        return [row[1] for row in await self._read(lambda db: db.execute(SQL["pages_of_question"], place).fetchall())]

    async def copies_of(self, url: str) -> list[KnownCopy]:
        return list(await self._read(lambda db: copies_of(db, url, most=OFFERED)))

    async def question_copies(self, question_id: int) -> list[KnownCopy]:
        def read(db: SqlSession) -> list[KnownCopy]:
            row = db.execute(SQL["one_question"], {"question": bounded(question_id)}).fetchone()
            if row is None:
                return []
            first = _to_question(db, row).first_page_id
            return copies_of_question(db, question_id, first, most=_OFFERED_OF_ALL, most_of_page=OFFERED)

        return await self._read(read)

    async def answer(
        self,
        question_id: int,
        instruction: Instruction,
        *,
        scope: str,
        url: str | None,
        now: Instant,
        on_step: OnStep = unheard,
    ) -> int:
        at_work, pages = AnswerAtWork(UserAnswer(question_id, instruction, scope, url, now)), 0
        pace = self._paces["answer"]
        while not at_work.is_done:
            tell = unheard if at_work.is_replacing else on_step
            done = await self._step(pace, partial(at_work.step, rows=pace.rows), tell)
            pages += done if tell is on_step else 0
        return pages

    async def standing_answers(self) -> list[StandingAnswerRow]:
        rows = await self._read(lambda db: db.execute(SQL["standing_answers"]).fetchall())
        return [to_standing_answer(row) for row in rows]

    async def lift_standing_answer(self, answer_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        (size,) = await self._read(
            lambda db: db.execute(SQL["count_pages_of_standing_answer"], {"rule": bounded(answer_id)}).fetchone()
        )
        window, is_lifted = window_us(size), False

        def lift(db: SqlSession, *, limit: int) -> int:
            nonlocal is_lifted
            if db.execute(SQL["is_standing_answer"], {"rule": answer_id}).fetchone() is None:
                raise UsageError(f"standing answer {answer_id}: no such answer; see: tocsin attention list --standing")
            rows = db.execute(SQL["pages_of_standing_answer"], {"rule": answer_id, "limit": limit}).fetchall()
            due = [{"page": page, "at": spread_at(page, now, window)} for page, _ in rows]
            db.executemany(SQL["release_page"], due)
            touch_hosts(db, {host for _, host in rows})
            if len(rows) < limit:
                db.execute(SQL["delete_standing_answer"], {"rule": answer_id})
                is_lifted = True
            return len(rows)

        pages, pace = 0, self._paces["lift"]
        while not is_lifted:
            pages += await self._step(pace, partial(lift, limit=pace.rows), on_step)
        return pages

    async def browse_questions(
        self, *, closed: bool = False, cursor: str | None = None, limit: int = 50
    ) -> Slice[QuestionRow]:
        walk = "ended" if closed else "open"
        cursors = Cursors(2, "questions", walk)
        pages, before = cursors.read(cursor) or (LAST, LAST)
        values = {"pages": pages, "before": before, "limit": limit + 1}

        def read(db: SqlSession) -> Slice[QuestionRow]:
            found = db.execute(LISTS[walk], values).fetchall()
            shown = [row[0] for row in found[:limit]]
            rows = {question.id: question for question in read_questions(db, "these", {"ids": ids(shown)})}
            goes_on = None
            if len(found) > limit:
                question_id, at = found[limit - 1]
                goes_on = cursors.write((at, question_id))
            return Slice(tuple(rows[question_id] for question_id in shown), goes_on)

        return await self._view(read)

    async def browse_standing_answers(self, *, cursor: str | None = None, limit: int = 50) -> Slice[StandingAnswerRow]:
        cursors = Cursors(1, "standing-answers")
        (before,) = cursors.read(cursor) or (LAST,)
        values = {"before": before, "limit": limit + 1}
        rows = await self._view(lambda db: db.execute(SQL["latest_rules"], values).fetchall())
        goes_on = cursors.write((rows[limit - 1][0],)) if len(rows) > limit else None
        return Slice(tuple(to_standing_answer(row) for row in rows[:limit]), goes_on)

    async def standing_answer(self, answer_id: int) -> StandingAnswerRow | None:
        place = {"rule": bounded(answer_id)}
        row = await self._view(lambda db: db.execute(SQL["one_rule"], place).fetchone())
        return to_standing_answer(row) if row is not None else None

    async def tally_questions(self) -> BoundedCount:
        return await self._tally("count_waiting")

    async def tally_renders(self) -> BoundedCount:
        return await self._tally("count_renders")

    async def _tally(self, query: str) -> BoundedCount:
        (number,) = await self._view(lambda db: db.execute(LISTS[query], {"limit": COUNTED + 1}).fetchone())
        return BoundedCount(min(number, COUNTED), is_exact=number <= COUNTED)


def _questions(db: SqlSession, query: str, place: dict[str, object]) -> list[QuestionRow]:
    return [_to_question(db, row) for row in db.execute(query, place).fetchall()]


def read_questions(db: SqlSession, query: str, place: dict[str, object]) -> list[QuestionRow]:
    """Read questions by a query of this area."""
    return _questions(db, SQL[query], place)


def to_standing_answer(row: Sequence[Any]) -> StandingAnswerRow:
    """Make a standing answer of a row of the query `standing_answer_row`."""
    answer_id, scope, url, host, cause, instruction, created_at = row
    return StandingAnswerRow(answer_id, scope, url, host, cause, read_instruction(instruction), created_at)


def _to_question(db: SqlSession, row: Sequence[Any]) -> QuestionRow:
    (
        question_id, host_id, host, cause, opened_at, announce_at, announced_at, answered_at, closed_at,
        instruction, pages, sample, first_page_id, attempts, during, pending, last_received, next_occasion,
        page_url, page_group, page_text,
    ) = row  # fmt: skip
    return QuestionRow(
        id=question_id,
        host_id=host_id,
        host=host,
        cause=cause,
        opened_at=opened_at,
        announce_at=announce_at,
        announced_at=announced_at,
        answered_at=answered_at,
        closed_at=closed_at,
        instruction=read_instruction(instruction) if instruction else None,
        pages=pages,
        sample=read_names(sample),
        first_page_id=first_page_id,
        attempts=read_attempts(attempts),
        during=during,
        pending_change=read_object(pending) if pending else None,
        last_received=last_received,
        next_occasion=next_occasion,
        page_url=page_url,
        page_group=page_group,
        page_text=page_text,
        copies=() if page_url is None or closed_at is not None else copies_of(db, page_url, most=OFFERED),
    )
