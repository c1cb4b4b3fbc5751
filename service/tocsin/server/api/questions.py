"""Questions about pages that could not be received, the user's word on them, and the rules that stay (T60)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from fastapi import Query, Response
from pydantic import Field

from tocsin.errors import UsageError
from tocsin.model import Instruction
from tocsin.server.access import Reading, Writing
from tocsin.server.actions import Act
from tocsin.server.api.given import NumberInPath, Once, PartOf, make_router, number, problems
from tocsin.server.api.imports import told
from tocsin.server.api.schemas.common import Job, Part, time_of, time_or_none
from tocsin.server.api.schemas.questions import Answer, Question, Rule, WholeQuestion
from tocsin.server.api.shapes import attempts_of, copies_of
from tocsin.server.decisions import answer_question, lift_rule, missing
from tocsin.server.jobs import Work
from tocsin.server.moments import read_moment
from tocsin.server.parts import Given
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from typing import Any

    from tocsin.model import Instant, QuestionRow

router = make_router("questions")

_MOST_URLS: Final = 1000
_LATER: Final[dict[int | str, dict[str, Any]]] = {
    202: {"model": Job, "description": "It takes longer; Location says where its progress is."}
}


class QuestionList(PartOf):
    """Which questions."""

    closed: Annotated[bool, Field(description="those that were answered, or ended by themselves")] = False


@router.get("/questions", summary="List questions", operation_id="list_questions")
async def list_questions(_: Reading, parts: Given, asked: Annotated[QuestionList, Query()]) -> Part[Question]:
    """List open questions, those about the most pages first; or those that ended, the latest first."""
    found = await parts.store.browse_questions(closed=asked.closed, cursor=asked.cursor, limit=asked.limit)
    return Part[Question](items=[Question(**_shown(row)) for row in found.rows], next=found.next)


@router.get(
    "/questions/{question_id}", summary="Show a question", operation_id="show_question", responses=problems(404)
)
async def show_question(_: Reading, parts: Given, question_id: NumberInPath) -> WholeQuestion:
    """Show a question with its pages, its tries, and the copies that are known of its pages."""
    row = await parts.store.question(number(question_id))
    if row is None:
        raise missing("question", question_id, "GET /api/v1/questions")
    urls = await parts.store.question_pages(row.id, limit=_MOST_URLS)
    shown = _shown(row) | {"copies": copies_of(await parts.store.question_copies(row.id))}
    return WholeQuestion(**shown, urls=urls)


@router.post(
    "/questions/{question_id}/answer",
    summary="Answer a question",
    operation_id="answer_question",
    response_model=Job,
    responses={**_LATER, **problems(404, 409)},
    dependencies=Once,
)
async def answer(
    caller: Writing, parts: Given, jobs: Work, response: Response, question_id: NumberInPath, said: Answer
) -> Job:
    """Carry out an instruction for all pages of a question, or for one; the job's result is {"pages": …}."""
    instruction = Instruction(
        kind=said.kind,
        times=said.times or 1,
        new_connections=bool(said.new_connections),
        at=moment_of(said.at, parts.clock.now(), name="at") if said.at is not None else None,
        later=bool(said.later),
        copy_url=watch_url(said.copy_url).url if said.copy_url is not None else None,
    )
    url = watch_url(said.url).url if said.url is not None else None
    act = Act(jobs, caller)
    job = await answer_question(parts, act, number(question_id), instruction, scope=said.scope, url=url)
    return await told(job, response)


@router.get("/rules", summary="List the answers that stay", operation_id="list_rules")
async def list_rules(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[Rule]:
    """List the rules in force, the latest first."""
    found = await parts.store.browse_rules(cursor=asked.cursor, limit=asked.limit)
    return Part[Rule](
        items=[
            Rule(
                id=str(rule.id),
                instruction="never" if rule.instruction.kind == "never" else "until-major",
                scope=rule.scope,
                url=rule.page_url,
                host=rule.host,
                cause=rule.cause,
                since=time_of(rule.created_at),
            )
            for rule in found.rows
        ],
        next=found.next,
    )


@router.delete(
    "/rules/{rule_id}",
    summary="Lift a rule",
    operation_id="lift_rule",
    response_model=Job,
    responses={**_LATER, **problems(404)},
    dependencies=Once,
)
async def lift(caller: Writing, parts: Given, jobs: Work, response: Response, rule_id: NumberInPath) -> Job:
    """Forget an answer that stays; its pages are checked again."""
    return await told(await lift_rule(parts, Act(jobs, caller), number(rule_id)), response)


def moment_of(text: str, now: Instant, *, name: str) -> Instant:
    """Read a time to come that a body names. Raises UsageError."""
    try:
        return read_moment(text, now)
    except ValueError as exc:
        raise UsageError(f"{name}: {text[:40]!r}: {exc}") from exc


def _shown(row: QuestionRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "host": row.host,
        "cause": row.cause,
        "during": row.during,
        "pages": row.pages,
        "sample": list(row.sample),
        "opened_at": time_of(row.opened_at),
        "asked_at": time_or_none(row.announced_at),
        "answered_at": time_or_none(row.answered_at),
        "closed_at": time_or_none(row.closed_at),
        "instruction": None if row.instruction is None else row.instruction.kind,
        "attempts": attempts_of(row.attempts),
        "last_received_at": time_or_none(row.last_received),
        "next_occasion": time_or_none(row.next_occasion),
        "pending_change": row.pending_change,
        "copies": copies_of(row.copies),
    }
