"""Carrying out the user's word on pages that could not be received (T60), inside a transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.adapters.stores.sqlite.codec import to_json
from tocsin.adapters.stores.sqlite.pages import remove
from tocsin.adapters.stores.sqlite.questions import SQL, hold_never
from tocsin.adapters.stores.sqlite.renders import forgive, want_render
from tocsin.adapters.stores.sqlite.role import touch_hosts
from tocsin.errors import NotWatched, UsageError
from tocsin.events import to_rfc3339

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable

    from tocsin.model import Instant, Instruction

_LAST = 253_402_300_800_000_000
"""The end of the year 9999: what lies beyond cannot be written as RFC 3339."""
_SCOPES = ("page", "host-cause", "host", "cause")


class Answer(Struct, frozen=True):
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


def give_answer(db: sqlite3.Connection, answer: Answer) -> int:
    """Carry out an answer; returns for how many pages."""
    row = db.execute(SQL["subject"], {"question": answer.question}).fetchone()
    if row is None or row[2] is not None:
        state = "there is none" if row is None else "it has ended"
        raise UsageError(f"question {answer.question}: {state}; `tocsin attention list` shows the open ones")
    pages = _pages_of(db, answer.question)
    if answer.url is not None:
        pages = [page for page in pages if page.url == answer.url]
        if not pages:
            raise NotWatched(
                f"{answer.url}: not among the pages of question {answer.question}; `tocsin attention list` shows them"
            )
    kind = answer.instruction.kind
    if answer.instruction.at is not None and answer.instruction.at >= _LAST:
        raise UsageError(f"question {answer.question}: the time lies beyond the year 9999; set an earlier one")
    if kind in ("never", "until-major"):
        pages = _remember(db, answer, pages, host_id=row[0], cause=row[1])
    elif kind == "drop":
        if answer.url is None:
            _record(db, answer, [answer.question])
        remove(db, [page.id for page in pages])
    elif kind == "copy":
        _take_copy(db, answer, pages)
    elif answer.instruction.later:
        _put_off(db, answer)
    else:
        _again(db, answer, pages)
    touch_hosts(db, {page.host_id for page in pages})
    return len(pages)


def _pages_of(db: sqlite3.Connection, question: int) -> list[AskedPage]:
    return [AskedPage(*row) for row in db.execute(SQL["pages_of_question"], {"question": question})]


def _record(db: sqlite3.Connection, answer: Answer, questions: Iterable[int], *, ends: bool = False) -> None:
    """Note the answer with its questions; those that no page is left in are over."""
    instruction = to_json(answer.instruction)
    for question in questions:
        place = {"question": question, "now": answer.now, "at": answer.now, "instruction": instruction}
        if ends and not db.execute(SQL["close_if_left"], place).rowcount:
            continue
        db.execute(SQL["record_answer"], place)


def _again(db: sqlite3.Connection, answer: Answer, pages: list[AskedPage]) -> None:
    """Try again now or at a time; the instruction goes with each page and is used up there.

    The pages stay in their question, so that their recovery is told; one that fails again leaves it for a new one.
    """
    at = answer.instruction.at
    row = {
        "instruction": to_json(answer.instruction),
        "at": answer.now if at is None else at,
        "why": "held: again at once" if at is None else f"held: again at {to_rfc3339(at, digits=0)}",
    }
    db.executemany(SQL["again"], [{**row, "page": page.id} for page in pages])
    if answer.url is None:
        _record(db, answer, [answer.question])


def _put_off(db: sqlite3.Connection, answer: Answer) -> None:
    """Keep the question silent until a time is set: it is the question that waits, not one of its pages."""
    pages = len(_pages_of(db, answer.question))
    if answer.url is not None and pages > 1:
        raise UsageError(
            f"question {answer.question}: it is about {pages} pages, and `later` would silence all of them; set a time "
            f"for {answer.url}, or leave it out to put all of them off"
        )
    _record(db, answer, [answer.question])


def _take_copy(db: sqlite3.Connection, answer: Answer, pages: list[AskedPage]) -> None:
    """Queue a copy to be received instead of the page."""
    if len(pages) > 1:
        raise UsageError(
            f"question {answer.question} is about {len(pages)} pages; name the one that {answer.instruction.copy_url} "
            "is a copy of"
        )
    for page in pages:
        want_render(db, page.id, since=answer.now, copy_url=answer.instruction.copy_url)
        db.execute(SQL["leave"], {"page": page.id})
    _record(db, answer, [answer.question], ends=True)


def _remember(
    db: sqlite3.Connection, answer: Answer, pages: list[AskedPage], *, host_id: int, cause: str
) -> list[AskedPage]:
    """Make a rule that stays, and apply it to the pages asked about; returns all that it was applied to."""
    scope = "page" if answer.url is not None else answer.scope
    if scope not in _SCOPES:
        raise UsageError(f"scope {scope!r}: there is none; use one of {', '.join(_SCOPES)}")
    questions = [answer.question]
    if scope in ("host", "cause"):
        covered = db.execute(SQL[f"covered_by_{scope}"], {"host": host_id, "cause": cause}).fetchall()
        questions = [row[0] for row in covered]
        pages = [page for question in questions for page in _pages_of(db, question)]
    subject: dict[str, object] = {
        "page": None,
        "host": host_id if scope in ("host-cause", "host") else None,
        "cause": cause if scope in ("host-cause", "cause") else None,
    }
    if scope == "page":
        for page in pages:
            _apply(db, answer, [page], _insert_rule(db, answer, scope, {**subject, "page": page.id}))
    else:
        _apply(db, answer, pages, _insert_rule(db, answer, scope, subject))
    _record(db, answer, questions, ends=True)
    return pages


def _insert_rule(db: sqlite3.Connection, answer: Answer, scope: str, subject: dict[str, object]) -> int:
    """Write a rule in place of one about the same; returns its id."""
    row = {**subject, "scope": scope, "instruction": to_json(answer.instruction), "now": answer.now}
    replaced = db.execute(SQL["replaced_rules"], row).fetchall()
    rule: int = db.execute(SQL["insert_rule"], row).fetchone()[0]
    for (old,) in replaced:
        db.execute(SQL["move_rule"], {"old": old, "new": rule})
        db.execute(SQL["delete_rule"], {"rule": old})
    return rule


def _apply(db: sqlite3.Connection, answer: Answer, pages: list[AskedPage], rule: int) -> None:
    instruction = to_json(answer.instruction)
    for page in pages:
        if answer.instruction.kind == "never":
            hold_never(db, page.id, rule)
        else:
            db.execute(SQL["hold_rule"], {"page": page.id, "rule": rule, "instruction": instruction})
        db.execute(SQL["leave"], {"page": page.id})
        # What was owed is wanted no more: the user has said so.
        forgive(db, page.id)
