"""Questions: gathered from failures, asked, answered, and carried out; and standing answers (T60)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct, structs

from tocsin.adapters.stores.sql.cursors import Cursors
from tocsin.adapters.stores.sql.knowledge.kept import copies_of, copies_of_question
from tocsin.adapters.stores.sql.owed import forgive, publish, want_render
from tocsin.adapters.stores.sql.pages.edits import remove
from tocsin.adapters.stores.sql.pages.walks import COUNTED
from tocsin.adapters.stores.sql.role import LAST, Role, bounded, ids, of_parts, require_parts, touch_hosts
from tocsin.adapters.stores.sql.statements import queries
from tocsin.adapters.stores.sql.values import (
    read_attempts,
    read_instruction,
    read_names,
    read_object,
    spread_at,
    to_json,
    window_us,
)
from tocsin.errors import NotWatched, UsageError
from tocsin.model import EVERY_PART, BoundedCount, QuestionRow, QuestionTimes, SamplePage, Slice, StandingAnswerRow
from tocsin.ports.pages import unheard

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import AlertDraft, Claim, Failure, Instant, Instruction, KnownCopy
    from tocsin.ports.pages import OnStep


# Failures become questions, and recoveries end them.


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
        # A standing answer was given once for all such failures: the user is not asked again.
        rule = db.execute(SQL["standing_answer_in_force"], where).fetchone()
        if rule is not None:
            self._apply(page_id, rule[0], rule[1])
        elif not failure.silent:
            question = self._question(where, failure, at, pending)
            db.execute(SQL["join"], {"page": page_id, "question": question})
        # Its cause changed, or an answer covers it now: it leaves its question, which may be over with that.
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
            # The verdict whose rendering failed must not be lost with the question that others opened.
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


# Answers to questions about pages that could not be received (T60), carried out inside a transaction.


# The end of the year 9999: what lies beyond cannot be written as RFC 3339.
_LAST = 253_402_300_800_000_000
# How a rule of each scope is found.
_RULES_ABOUT = {"page": "rule_of_page", "host-cause": "rule_of_host", "host": "rule_of_host", "cause": "rule_of_cause"}


class UserAnswer(Struct, frozen=True):
    """What the user said to a question; with `url` only for that page of it."""

    question: int
    instruction: Instruction
    scope: str
    url: str | None
    now: Instant


class AskedPage(Struct, frozen=True):
    """A page of a question."""

    id: int
    url: str
    host_id: int


class AnswerAtWork:
    """An answer carried out a step at a time, each inside a transaction; of few pages the first step is the last.

    What must hold for pages that fail meanwhile is written with the first step: the answer to `again`, so that they
    are a new question, and the rule of `never` and `until-major`, so that it speaks for them. Where it is interrupted
    the pages that are left stay in their question, and the same answer once more goes on with them.
    """

    def __init__(self, answer: UserAnswer) -> None:
        self._answer = answer
        self._questions = [answer.question]
        self._left: list[int] = []
        self._rule: int | None = None
        self._former: list[int] = []
        self._former_pages = 0
        self._after = 0
        self._is_begun = self.is_done = False

    def step(self, db: SqlSession, *, rows: int) -> int:
        """Carry out one step of at most this many pages; returns how many. Raises UsageError, NotWatched."""
        if not self._is_begun:
            self._begin(db)
            self._left = list(self._questions)
            self._is_begun = True
            if self.is_done:
                return _count(db, self._answer)
            if self.is_replacing:
                return 0
        if self.is_replacing:
            return self._replace(db, rows)
        pages = self._next_pages(db, rows)
        self._carry_out(db, pages)
        # The engine keeps due times in memory, and reads those of a host anew when it is touched.
        touch_hosts(db, {page.host_id for page in pages})
        if self._answer.url is not None or len(pages) < rows:
            self._end(db)
        return len(pages)

    @property
    def is_replacing(self) -> bool:
        """The next step is about pages of a rule that said something else of the same, not of the question."""
        return bool(self._former)

    def _replace(self, db: SqlSession, rows: int) -> int:
        """Let pages of a former rule follow the new one, which speaks for those that fail meanwhile; then forget it."""
        former = self._former[-1]
        found = db.execute(SQL["pages_of_standing_answer"], {"rule": former, "limit": rows}).fetchall()
        for page, _ in found:
            self._follow(db, page)
        touch_hosts(db, {host for _, host in found})
        if len(found) < rows:
            db.execute(SQL["delete_standing_answer"], {"rule": former})
            self._former.pop()
        return len(found)

    def _follow(self, db: SqlSession, page: int) -> None:
        _hold(db, self._answer, page, self._rule or 0)
        if self._answer.instruction.kind != "never":
            # Spread: thousands of pages that were never checked would else be due in one moment.
            at = spread_at(page, self._answer.now, window_us(self._former_pages))
            db.execute(SQL["never_no_more"], {"page": page, "at": at})

    def _begin(self, db: SqlSession) -> None:
        answer, instruction = self._answer, self._answer.instruction
        host_id, cause = _subject_of(db, answer)
        if instruction.at is not None and instruction.at >= _LAST:
            raise UsageError(f"question {answer.question}: the time lies beyond the year 9999; set an earlier one")
        if instruction.kind in ("never", "until-major"):
            self._make_rule(db, host_id, cause)
        elif instruction.kind == "copy":
            _demand_one(db, answer)
        elif instruction.later:
            _put_off(db, answer)
            touch_hosts(db, {host_id})
            self.is_done = True
        elif answer.url is None:
            _record(db, answer, self._questions)

    def _make_rule(self, db: SqlSession, host_id: int, cause: str) -> None:
        answer = self._answer
        scope = "page" if answer.url is not None else answer.scope
        if scope not in _RULES_ABOUT:
            raise UsageError(f"scope {scope!r}: unknown; use one of {', '.join(_RULES_ABOUT)}")
        # Wider than one question: all open questions that it covers are answered with it.
        if scope in ("host", "cause"):
            covered = db.execute(SQL[f"covered_by_{scope}"], {"host": host_id, "cause": cause}).fetchall()
            self._questions = [row[0] for row in covered]
        if scope != "page":
            subject = {
                "page": None,
                "host": host_id if scope in ("host-cause", "host") else None,
                "cause": cause if scope in ("host-cause", "cause") else None,
            }
            self._rule, self._former = _insert_standing_answer(db, answer, scope, subject)
            counted = [
                db.execute(SQL["count_pages_of_standing_answer"], {"rule": former}).fetchone()[0]
                for former in self._former
            ]
            self._former_pages = sum(counted)

    def _next_pages(self, db: SqlSession, rows: int) -> list[AskedPage]:
        """The next step's pages, from one question to the next, in order of id."""
        if self._answer.url is not None:
            return [_page_named(db, self._answer)]
        pages: list[AskedPage] = []
        while self._left and len(pages) < rows:
            place = {"question": self._left[-1], "after": self._after, "limit": rows - len(pages)}
            found = [AskedPage(*row) for row in db.execute(SQL["next_of_question"], place)]
            pages += found
            if found:
                self._after = found[-1].id
            else:
                self._left.pop()
                self._after = 0
        return pages

    def _carry_out(self, db: SqlSession, pages: list[AskedPage]) -> None:
        kind = self._answer.instruction.kind
        if kind == "drop":
            remove(db, [page.id for page in pages])
        elif kind == "copy":
            _take_copy(db, self._answer, pages)
        elif kind == "again":
            _again(db, self._answer, pages)
        else:
            for page in pages:
                subject = {"page": page.id, "host": None, "cause": None}
                rule = self._rule
                if rule is None:
                    rule, former = _insert_standing_answer(db, self._answer, "page", subject)
                    db.executemany(SQL["delete_standing_answer"], [{"rule": each} for each in former])
                _apply(db, self._answer, page, rule)

    def _end(self, db: SqlSession) -> None:
        if self._answer.instruction.kind in ("never", "until-major", "copy"):
            _record(db, self._answer, self._questions, ends=True)
        self.is_done = True


def _subject_of(db: SqlSession, answer: UserAnswer) -> tuple[int, str]:
    """The host and the cause of a question that is open, and has this page."""
    row = db.execute(SQL["subject"], {"question": answer.question}).fetchone()
    if row is None or row[2] is not None:
        state = "no such question" if row is None else "it has ended"
        raise UsageError(f"question {answer.question}: {state}; `tocsin attention list` shows the open ones")
    if answer.url is not None:
        _page_named(db, answer)
    return row[0], row[1]


def _page_named(db: SqlSession, answer: UserAnswer) -> AskedPage:
    row = db.execute(SQL["page_of_question"], {"question": answer.question, "url": answer.url}).fetchone()
    if row is None:
        raise NotWatched(
            f"{answer.url}: not among the pages of question {answer.question}; `tocsin attention list` shows them"
        )
    return AskedPage(*row)


def _count(db: SqlSession, answer: UserAnswer) -> int:
    if answer.url is not None:
        return 1
    pages: int = db.execute(SQL["size_of_question"], {"question": answer.question}).fetchone()[0]
    return pages


def _record(db: SqlSession, answer: UserAnswer, questions: Iterable[int], *, ends: bool = False) -> None:
    """Note the answer with its questions; those that no page is left in are over."""
    instruction = to_json(answer.instruction)
    for question in questions:
        place = {"question": question, "now": answer.now, "at": answer.now, "instruction": instruction}
        # Pages that failed meanwhile joined it: it stays open for them.
        if ends and not db.execute(SQL["close_if_left"], place).rowcount:
            continue
        db.execute(SQL["record_answer"], place)


def _again(db: SqlSession, answer: UserAnswer, pages: list[AskedPage]) -> None:
    """Try again now or at a time; the instruction goes with each page and is used up there.

    The pages stay in their question, so that their recovery is told; one that fails again leaves it for a new one.
    """
    at = answer.instruction.at
    row = {
        "instruction": to_json(answer.instruction),
        "at": answer.now if at is None else at,
        "why": "held: tried again at once" if at is None else "held: tried again at the time of the answer",
    }
    db.executemany(SQL["again"], [{**row, "page": page.id} for page in pages])


def _put_off(db: SqlSession, answer: UserAnswer) -> None:
    """Keep the question silent until a time is set: it is the question that waits, not one of its pages."""
    (pages,) = db.execute(SQL["size_of_question"], {"question": answer.question}).fetchone()
    # `later` is noted with the question, not with each of its pages.
    if answer.url is not None and pages > 1:
        raise UsageError(
            f"question {answer.question}: it is about {pages} pages, and `later` would silence all of them; set a time "
            f"for {answer.url}, or leave it out to put all of them off"
        )
    _record(db, answer, [answer.question])


def _demand_one(db: SqlSession, answer: UserAnswer) -> None:
    """Refuse a copy of several pages."""
    if (pages := _count(db, answer)) > 1:
        raise UsageError(
            f"question {answer.question} is about {pages} pages; name the one that {answer.instruction.copy_url} "
            "is a copy of"
        )


def _take_copy(db: SqlSession, answer: UserAnswer, pages: list[AskedPage]) -> None:
    """Queue a copy to be received instead of the page."""
    for page in pages:
        want_render(db, page.id, since=answer.now, copy_url=answer.instruction.copy_url)
        db.execute(SQL["leave"], {"page": page.id})


def _insert_standing_answer(
    db: SqlSession, answer: UserAnswer, scope: str, subject: Mapping[str, object]
) -> tuple[int, list[int]]:
    """Write a rule; returns its id, and those of the rules about the same that it takes the place of."""
    row = {**subject, "scope": scope, "instruction": to_json(answer.instruction), "now": answer.now}
    known = db.execute(SQL[_RULES_ABOUT[scope]], row).fetchall()
    if known and known[0][1] == row["instruction"]:
        # The same was said before, and perhaps interrupted.
        rule: int = known.pop(0)[0]
    else:
        (rule,) = db.execute(SQL["insert_standing_answer"], row).fetchone()
    return rule, [former for former, _ in known]


def _hold(db: SqlSession, answer: UserAnswer, page: int, rule: int) -> None:
    if answer.instruction.kind == "never":
        hold_never(db, page, rule)
    else:
        instruction = to_json(answer.instruction)
        db.execute(SQL["hold_standing_answer"], {"page": page, "rule": rule, "instruction": instruction})


def _apply(db: SqlSession, answer: UserAnswer, page: AskedPage, rule: int) -> None:
    _hold(db, answer, page.id, rule)
    db.execute(SQL["leave"], {"page": page.id})
    # The user wants no rendering of this page any more.
    forgive(db, page.id)


# The most copies that are offered of a page.
OFFERED = 100

_OFFERED_OF_ALL = 1000

LISTS = queries("question_lists")


class AttentionRole(Role):
    """Implements ports.AttentionStore."""

    async def questions_to_announce(self, now: Instant, claim: Claim = EVERY_PART) -> list[QuestionRow]:
        place = {"now": now, **of_parts(claim)}
        questions = await self._read(lambda db: _questions(db, SQL["to_announce"], place))
        if any(not question.pages for question in questions):
            await self._write(lambda db: db.execute(SQL["close_empty"], {"now": now}))
        return [question for question in questions if question.pages]

    async def announce(self, question_id: int, alert: AlertDraft, now: Instant) -> None:
        def write(db: SqlSession) -> None:
            if db.execute(SQL["announce"], {"question": question_id, "now": now}).rowcount:
                publish(db, [alert], self._routes)

        await self._write(write, durable=True)

    async def withdraw_questions(self, claim: Claim, causes: Sequence[str], now: Instant, retry_at: Instant) -> int:
        def write(db: SqlSession) -> int:
            require_parts(db, claim)
            hosts: list[int] = []
            for (question,) in db.execute(SQL["to_withdraw"], {"causes": ids(causes), **of_parts(claim)}).fetchall():
                place = {"question": question, "retry_at": retry_at, "now": now}
                hosts += [row[0] for row in db.execute(SQL["postpone"], place).fetchall()]
                db.execute(SQL["close"], place)
            touch_hosts(db, set(hosts))
            return len(hosts)

        return await self._edit(write)

    async def questions(
        self, *, closed: bool = False, after_id: int = 0, limit: int | None = None
    ) -> list[QuestionRow]:
        place: dict[str, Any] = {"closed": closed, "after": after_id, "limit": LAST if limit is None else limit}
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
            first = _to_question(db, row).page.id
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
        times=QuestionTimes(opened_at, announce_at, announced_at, answered_at, closed_at),
        instruction=read_instruction(instruction) if instruction else None,
        pages=pages,
        sample=read_names(sample),
        page=SamplePage(first_page_id, page_url, page_group, page_text),
        attempts=read_attempts(attempts),
        during=during,
        pending_change=read_object(pending) if pending else None,
        last_received=last_received,
        next_occasion=next_occasion,
        copies=() if page_url is None or closed_at is not None else copies_of(db, page_url, most=OFFERED),
    )
