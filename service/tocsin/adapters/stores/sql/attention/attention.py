"""Questions and rules: the attention part of the port (T60)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from tocsin.adapters.stores.sql.attention.answers import Answer, AnswerAtWork
from tocsin.adapters.stores.sql.attention.questions import SQL
from tocsin.adapters.stores.sql.awareness.outbox import publish
from tocsin.adapters.stores.sql.claims import require
from tocsin.adapters.stores.sql.codec import read_attempts, read_instruction, read_names, read_object
from tocsin.adapters.stores.sql.knowledge.copies import copies_of, copies_of_question
from tocsin.adapters.stores.sql.role import Role, bounded, ids, touch_hosts
from tocsin.adapters.stores.sql.schedule import spread_at, window_us
from tocsin.errors import UsageError
from tocsin.model import QuestionRow, RuleRow
from tocsin.ports.keeping import unheard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.adapters.stores.sql.session import Session
    from tocsin.model import AlertDraft, Claim, Instant, Instruction, KnownCopy
    from tocsin.ports.keeping import OnStep

OFFERED = 100
"""At most so many copies of a page are offered."""

_OFFERED_OF_ALL = 1000


class AttentionRole(Role):
    """Implements ports.AttentionStore."""

    async def questions_to_announce(self, now: Instant) -> list[QuestionRow]:
        """Questions whose gathering has ended and that nobody was told of; empty ones are closed instead."""
        questions = await self._read(lambda db: _questions(db, SQL["to_announce"], {"now": now}))
        if any(not question.pages for question in questions):
            await self._write(lambda db: db.execute(SQL["close_empty"], {"now": now}))
        return [question for question in questions if question.pages]

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        """Write the `unreachable` alert and mark the question as asked; one that ended meanwhile is not announced."""

        def write(db: Session) -> None:
            if db.execute(SQL["announce"], {"question": question_id, "now": now}).rowcount:
                publish(db, [alert])

        await self._write(write, durable=True)

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        """Take back unannounced questions of these causes; their pages are due at retry_at. Returns how many pages."""

        def write(db: Session) -> int:
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
        """Open questions, or also those that ended, in order of id, after this one."""
        place: dict[str, Any] = {"closed": closed, "after": after_id, "limit": -1 if limit is None else limit}
        return await self._read(lambda db: _questions(db, SQL["questions"], place))

    async def question(self, question_id: int) -> QuestionRow | None:
        """One question."""
        found = await self._read(lambda db: _questions(db, SQL["one_question"], {"question": bounded(question_id)}))
        return found[0] if found else None

    async def question_pages(self, question_id: int, *, limit: int = 1000) -> list[str]:
        """The URLs of its pages, at most so many."""
        place = {"question": bounded(question_id), "limit": limit}
        return [row[1] for row in await self._read(lambda db: db.execute(SQL["pages_of_question"], place).fetchall())]

    async def copies_of(self, url: str) -> list[KnownCopy]:
        """Copies of a watched page, the newest first."""
        return list(await self._read(lambda db: copies_of(db, url, most=OFFERED)))

    async def question_copies(self, question_id: int) -> list[KnownCopy]:
        """Copies of all its pages: those of the page that stands for all first, of each the newest first."""

        def read(db: Session) -> list[KnownCopy]:
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
        """Carry out an instruction for the question's pages (or one of them); returns how many.

        Raises UsageError for a question that is not open, and NotWatched for a page that is not in it.
        """
        at_work, pages = AnswerAtWork(Answer(question_id, instruction, scope, url, now)), 0
        pace = self._paces["answer"]
        while not at_work.is_done:
            tell = unheard if at_work.is_replacing else on_step
            done = await self._step(pace, partial(at_work.step, rows=pace.rows), tell)
            pages += done if tell is on_step else 0
        return pages

    async def rules(self) -> list[RuleRow]:
        """Rules in force."""
        rows = await self._read(lambda db: db.execute(SQL["rules"]).fetchall())
        return [to_rule(row) for row in rows]

    async def lift_rule(self, rule_id: int, now: Instant, *, on_step: OnStep = unheard) -> int:
        """Forget a rule; its pages are due again. Returns how many pages. Raises UsageError for one that is not.

        The rule goes with the last of its pages, so that whoever was interrupted can go on.
        """
        (size,) = await self._read(lambda db: db.execute(SQL["count_ruled"], {"rule": bounded(rule_id)}).fetchone())
        window, is_lifted = window_us(size), False

        def lift(db: Session, *, limit: int) -> int:
            nonlocal is_lifted
            if db.execute(SQL["is_rule"], {"rule": rule_id}).fetchone() is None:
                raise UsageError(f"rule {rule_id}: there is none; `tocsin attention list` shows those in force")
            rows = db.execute(SQL["ruled_pages"], {"rule": rule_id, "limit": limit}).fetchall()
            due = [{"page": page, "at": spread_at(page, now, window)} for page, _ in rows]
            db.executemany(SQL["release_page"], due)
            touch_hosts(db, {host for _, host in rows})
            if len(rows) < limit:
                db.execute(SQL["delete_rule"], {"rule": rule_id})
                is_lifted = True
            return len(rows)

        pages, pace = 0, self._paces["lift"]
        while not is_lifted:
            pages += await self._step(pace, partial(lift, limit=pace.rows), on_step)
        return pages


def _questions(db: Session, query: str, place: dict[str, object]) -> list[QuestionRow]:
    return [_to_question(db, row) for row in db.execute(query, place).fetchall()]


def read_questions(db: Session, query: str, place: dict[str, object]) -> list[QuestionRow]:
    """Read questions by a query of this area."""
    return _questions(db, SQL[query], place)


def to_rule(row: Sequence[Any]) -> RuleRow:
    """Make a rule of a row of the query `rule_row`."""
    rule_id, scope, url, host, cause, instruction, created_at = row
    return RuleRow(rule_id, scope, url, host, cause, read_instruction(instruction), created_at)


def _to_question(db: Session, row: Sequence[Any]) -> QuestionRow:
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
