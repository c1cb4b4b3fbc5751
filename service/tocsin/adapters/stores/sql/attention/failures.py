"""Failures become questions, and recoveries end them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import read_instruction, to_json

if TYPE_CHECKING:
    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import AlertDraft, Failure, Instant


SQL = queries("attention")


class Departure(NamedTuple):
    """A page's way out of its question.

    asked  the user was asked
    ended  it was the last page: the question is over
    """

    question: int
    asked: bool
    ended: bool


def told_in(recovery: AlertDraft, left: Departure | None) -> AlertDraft:
    """Let a `recovered` event, made before, say which question was left, if one was, and whether that ended it."""
    question = {"id": str(left.question), "ended": left.ended} if left is not None else None
    data = {**recovery.event["data"], "question": question}
    return structs.replace(recovery, event={**recovery.event, "data": data})


class Questions:
    """Takes pages into questions and out of them.

    gather_us  how long a new question gathers failures before the user is asked
    """

    def __init__(self, db: SqlSession, gather_us: int) -> None:
        self._db, self._gather_us = db, gather_us

    def fail(
        self,
        page_id: int,
        host_id: int,
        failure: Failure,
        at: Instant,
        *,
        joined: int | None,
        pending: str | None = None,
    ) -> bool:
        """Add a page that was not received to the question of its host and cause, unless an answer already covers it.

        joined   the question that the page is in so far
        pending  the verdict whose rendering failed, as JSON
        Returns whether one did.
        """
        db = self._db
        where = {"page": page_id, "host": host_id, "cause": failure.cause}
        question = None
        rule = db.execute(SQL["standing_answer_in_force"], where).fetchone()
        if rule is not None:
            self._apply(page_id, rule[0], rule[1])
        elif not failure.silent:
            question = self._question(where, failure, at, pending)
            db.execute(SQL["join"], {"page": page_id, "question": question})
        if joined is not None and joined != question:
            if question is None:
                db.execute(SQL["leave"], {"page": page_id})
            db.execute(SQL["close_if_left"], {"question": joined, "at": at})
        return rule is not None

    def leave(self, page_id: int, question: int, at: Instant) -> Departure:
        """Take a page that is not unreachable any more out of its question."""
        db = self._db
        db.execute(SQL["leave"], {"page": page_id})
        closed = db.execute(SQL["close_if_left"], {"question": question, "at": at}).rowcount
        (asked,) = db.execute(SQL["was_announced"], {"question": question}).fetchone()
        return Departure(question, bool(asked), bool(closed))

    def _apply(self, page_id: int, answer_id: int, instruction: str) -> None:
        if read_instruction(instruction).kind == "never":
            hold_never(self._db, page_id, answer_id)
        else:
            self._db.execute(
                SQL["hold_standing_answer"], {"page": page_id, "rule": answer_id, "instruction": instruction}
            )

    def _question(self, where: dict[str, object], failure: Failure, at: Instant, pending: str | None) -> int:
        db = self._db
        if found := db.execute(SQL["open_question"], where).fetchone():
            question: int = found[0]
            if pending is not None:
                db.execute(SQL["carry_verdict"], {"question": question, "pending": pending})
            return question
        asked = {
            **where,
            "at": at,
            "announce_at": at + self._gather_us,
            "during": failure.during,
            "attempts": to_json(failure.attempts),
            "pending": pending,
        }
        opened: int = db.execute(SQL["ask"], asked).fetchone()[0]
        return opened


def hold_never(db: SqlSession, page_id: int, answer_id: int) -> None:
    """Check a page no more until the user lifts the standing answer."""
    db.execute(SQL["hold_never"], {"page": page_id, "rule": answer_id, "why": f"never (standing answer {answer_id})"})
