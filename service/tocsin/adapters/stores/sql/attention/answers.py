"""Answers to questions about pages that could not be received (T60), carried out inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.adapters.stores.sql.attention.failures import SQL, hold_never
from tocsin.adapters.stores.sql.owed import forgive, want_render
from tocsin.adapters.stores.sql.pages.edits import remove
from tocsin.adapters.stores.sql.role import touch_hosts
from tocsin.adapters.stores.sql.schedule import spread_at, window_us
from tocsin.adapters.stores.sql.values import to_json
from tocsin.errors import NotWatched, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.adapters.stores.sql.session import SqlSession
    from tocsin.model import Instant, Instruction

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
        "why": "held: again at once" if at is None else "held: again at the time that was set",
    }
    db.executemany(SQL["again"], [{**row, "page": page.id} for page in pages])


def _put_off(db: SqlSession, answer: UserAnswer) -> None:
    """Keep the question silent until a time is set: it is the question that waits, not one of its pages."""
    (pages,) = db.execute(SQL["size_of_question"], {"question": answer.question}).fetchone()
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
