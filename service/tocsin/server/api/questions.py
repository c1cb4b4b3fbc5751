"""Questions about pages that could not be received, their answers, and standing answers (T60)."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import Query, Response
from pydantic import ConfigDict, Field, model_validator

from tocsin.errors import UsageError
from tocsin.model import Instant, Instruction
from tocsin.model.records.alerting import (
    Question,
    StandingAnswer,
    WholeQuestion,
    question_of,
    standing_answer_of,
    whole_question,
)
from tocsin.model.records.fields import Part
from tocsin.model.records.service import JobStatus
from tocsin.server.actions import Act
from tocsin.server.api.jobs import LATER, finished
from tocsin.server.api.operations import Input, NumberInPath, PartOf, Url, make_router
from tocsin.server.decisions import answer_question, lift_standing_answer, missing, read_moment
from tocsin.server.jobs import Work
from tocsin.server.parts import Given, Reading, Writing
from tocsin.spec.html.urls import watch_url

router = make_router("questions")

# A question may be about a whole host; the list of pages has all of them.
_MOST_URLS: Final = 1000


class QuestionList(PartOf):
    """Which questions to list."""

    closed: Annotated[bool, Field(description="those that were answered, or ended by themselves")] = False


class QuestionAnswer(Input):
    """What to do about the pages of a question (T60).

    again        try again: `times` sets of requests, with `new_connections`, `at` a time, or `later`
    never        stop trying until the standing answer is lifted
    until-major  try silently until the page has a major change
    drop         remove its pages from the list
    copy         receive this copy instead, once
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "again", "times": 3}, {"kind": "never", "scope": "host"}]}
    )

    kind: Literal["again", "never", "until-major", "drop", "copy"]
    times: Annotated[int | None, Field(ge=1, le=100, description="again: sets of requests")] = None
    new_connections: Annotated[bool | None, Field(description="again: in a fresh session")] = None
    at: Annotated[
        str | None,
        Field(
            max_length=40,
            description="again: when; a time with its offset, or a duration from now such as 6h; default: at once",
            examples=["6h"],
        ),
    ] = None
    later: Annotated[bool | None, Field(description="again: silent until a time is set")] = None
    copy_url: Annotated[Url | None, Field(description="copy: its URL")] = None
    url: Annotated[Url | None, Field(description="only for this page of the question")] = None
    scope: Annotated[
        Literal["page", "host-cause", "host", "cause"] | None,
        Field(description="never, until-major: what the answer holds for"),
    ] = None

    @model_validator(mode="after")
    def _fits(self) -> QuestionAnswer:
        if self.kind != "again" and any(part is not None for part in (self.times, self.at, self.later)):
            raise ValueError(f"times, at and later belong to again, not to {self.kind}")
        if self.kind != "again" and self.new_connections is not None:
            raise ValueError(f"new_connections belongs to again, not to {self.kind}")
        if self.at is not None and self.later:
            raise ValueError("at and later exclude each other; leave one of them out")
        if (self.kind == "copy") != (self.copy_url is not None):
            raise ValueError("copy_url belongs to copy, which needs it")
        if self.scope is not None and self.kind not in ("never", "until-major"):
            raise ValueError(f"scope belongs to never and until-major, not to {self.kind}")
        if self.url is not None and self.scope not in (None, "page"):
            raise ValueError("url means one page, this scope more; leave one of them out")
        return self


@router.get("/questions", summary="List questions", operation_id="list_questions")
async def list_questions(_: Reading, parts: Given, asked: Annotated[QuestionList, Query()]) -> Part[Question]:
    """List open questions, those about the most pages first; or closed questions, the latest first."""
    found = await parts.store.browse_questions(closed=asked.closed, cursor=asked.cursor, limit=asked.limit)
    return Part(items=[question_of(row) for row in found.rows], next=found.next)


@router.get("/questions/{question_id}", summary="Show a question", operation_id="show_question")
async def show_question(_: Reading, parts: Given, question_id: NumberInPath) -> WholeQuestion:
    """Show a question with its pages, its failed attempts, and the known copies of its pages."""
    row = await parts.store.question(int(question_id))
    if row is None:
        raise missing("question", question_id, "GET /api/v1/questions")
    urls = await parts.store.question_pages(row.id, limit=_MOST_URLS)
    return whole_question(row, urls, await parts.store.question_copies(row.id))


@router.post(
    "/questions/{question_id}/answer", summary="Answer a question", operation_id="answer_question", responses=LATER
)
async def answer(
    caller: Writing, parts: Given, jobs: Work, response: Response, question_id: NumberInPath, said: QuestionAnswer
) -> JobStatus:
    """Carry out an answer for all pages of a question, or for one; the job's result is {"pages": …}."""
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
    job = await answer_question(parts, act, int(question_id), instruction, scope=said.scope, url=url)
    return await finished(job, response)


@router.get("/standing-answers", summary="List standing answers", operation_id="list_standing_answers")
async def list_standing_answers(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[StandingAnswer]:
    """List the answers that are kept, the latest first."""
    found = await parts.store.browse_standing_answers(cursor=asked.cursor, limit=asked.limit)
    return Part(items=[standing_answer_of(row) for row in found.rows], next=found.next)


@router.delete(
    "/standing-answers/{answer_id}",
    summary="Lift a standing answer",
    operation_id="lift_standing_answer",
    responses=LATER,
)
async def lift(caller: Writing, parts: Given, jobs: Work, response: Response, answer_id: NumberInPath) -> JobStatus:
    """Lift a standing answer; its pages are checked again."""
    return await finished(await lift_standing_answer(parts, Act(jobs, caller), int(answer_id)), response)


def moment_of(text: str, now: Instant, *, name: str) -> Instant:
    """Read a future time that a body names. Raises UsageError."""
    try:
        return read_moment(text, now)
    except ValueError as exc:
        raise UsageError(f"{name}: {text[:40]!r}: {exc}") from exc
