"""What all of the API's values are made of."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from tocsin.model import BoundedCount, Instant, JobRow, to_rfc3339

Row = TypeVar("Row")

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-03-04T05:06:07.890Z"])]
Id = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,17}$", examples=["42"])]
GroupName = Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[^\x00-\x1f\x7f]+$", examples=["news"])]
Words = Annotated[str, Field(min_length=1, max_length=253, examples=["watched for the tender"])]
Url = Annotated[str, Field(min_length=1, max_length=8192, examples=["https://example.org/news"])]
Json = dict[str, Any]


class Model(BaseModel):
    """Whatever is in a body: only what is named here, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class Invalid(Model):
    """One value that is not as described."""

    in_: Annotated[str, Field(alias="in", examples=["body"])]
    field: Annotated[str, Field(examples=["settings.every"])]
    message: str


class ProblemDetails(BaseModel):
    """Why a request was refused, and the mend (RFC 9457)."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "type": "urn:tocsin:problem:not-watched",
                    "title": "Not Found",
                    "status": 404,
                    "detail": "page 42: not watched",
                    "mend": "list the pages with GET /api/v1/pages",
                    "request_id": "01KAKQ4ZC8N2V3J5R7T9WXYZ00",
                }
            ]
        }
    )

    type: Annotated[str, Field(description="what kind of problem it is, stable")]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str | None, Field(description="what went wrong this time")] = None
    mend: Annotated[str | None, Field(description="what to do about it")] = None
    errors: Annotated[list[Invalid] | None, Field(description="each value that is not as described")] = None
    request_id: Annotated[str, Field(description="names this request in the log")]


class Part(Model, Generic[Row]):
    """A part of a list."""

    items: list[Row]
    next: Annotated[str | None, Field(description="give it as `cursor` to go on; null at the end")] = None


class Count(Model):
    """How many there are."""

    number: Annotated[int, Field(ge=0)]
    is_exact: Annotated[bool, Field(description="false: at least so many; counting on would take too long")] = True


class Attempt(Model):
    """One set of requests that did not bring the page."""

    at: Time
    kind: Annotated[str, Field(examples=["timeout"])]
    status: int | None
    message: str
    elapsed_ms: int


class Job(Model):
    """Work that goes on after its request was answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": "01KAKQ4ZC8N2V3J5R7T9WXYZ00",
                    "kind": "pages.import",
                    "who": "ci",
                    "state": "running",
                    "done": 42000,
                    "total": 100000,
                    "started": "2026-03-04T05:06:07.890Z",
                    "ended": None,
                    "result": None,
                    "error": None,
                }
            ]
        }
    )

    id: str
    kind: str
    who: Annotated[str, Field(description="the name of the token that asked for it")]
    state: Literal["running", "done", "failed", "cancelled", "interrupted"]
    done: Annotated[int, Field(ge=0)]
    total: Annotated[int | None, Field(description="of how many, as far as it is known")]
    started: Time
    ended: Time | None
    result: Annotated[Json | None, Field(description="what came of it, as its operation says")]
    error: Annotated[str | None, Field(description="why it failed, or ended before its time")]


def time_of(at: Instant) -> str:
    """Write an instant."""
    return to_rfc3339(at)


def time_or_none(at: Instant | None) -> str | None:
    """Write an instant that perhaps never was."""
    return None if at is None else to_rfc3339(at)


def job_of(row: JobRow) -> Job:
    """Show a job."""
    return Job(
        id=row.id,
        kind=row.kind,
        who=row.who,
        state=row.state,  # type: ignore[arg-type]  # the store keeps what the runner wrote
        done=row.done,
        total=row.total,
        started=time_of(row.started_at),
        ended=time_or_none(row.ended_at),
        result=row.result,
        error=row.error,
    )


def count_of(tally: BoundedCount) -> Count:
    """Show a tally."""
    return Count(number=tally.number, is_exact=tally.is_exact)
