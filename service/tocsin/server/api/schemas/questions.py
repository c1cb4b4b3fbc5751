"""Questions, answers and rules."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, model_validator

from tocsin.server.api.schemas.common import Attempt, Id, Json, Model, Time, Url
from tocsin.server.api.schemas.pages import Copy


class Question(Model):
    """Pages of one host that could not be received for one cause."""

    id: Id
    host: str
    cause: Annotated[str, Field(examples=["timeout", "status 404"])]
    during: Annotated[str, Field(description="check or rendering")]
    pages: Annotated[int, Field(ge=0)]
    sample: list[str]
    opened_at: Time
    asked_at: Annotated[Time | None, Field(description="when the user was told; null: failures are being gathered")]
    answered_at: Time | None
    closed_at: Time | None
    instruction: Annotated[str | None, Field(description="what was answered")]
    attempts: Annotated[list[Attempt], Field(description="of the page that failed first")]
    last_received_at: Time | None
    next_occasion: Annotated[Time | None, Field(description="when it is tried without an answer (T61)")]
    pending_change: Annotated[Json | None, Field(description="a change that was found and could not be rendered")]
    copies: Annotated[list[Copy], Field(description="that can be taken in the page's stead")]


class WholeQuestion(Question):
    """A question with its pages and the copies of all of them."""

    urls: Annotated[list[str], Field(description="its pages, at most 1,000")]


class Answer(Model):
    """What to do about the pages of a question (T60).

    again        try again: `times` sets of requests, `new_connections`, `at` a time, or `later`
    never        no more, until the rule is lifted
    until-major  silent tries, until the page has a major change
    drop         take its pages off the list
    copy         take this copy in its stead, once
    """

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"kind": "again", "times": 3}, {"kind": "never", "scope": "host"}]}
    )

    kind: Literal["again", "never", "until-major", "drop", "copy"]
    times: Annotated[int | None, Field(ge=1, le=100, description="again: so many sets of requests")] = None
    new_connections: Annotated[bool | None, Field(description="again: in a fresh session")] = None
    at: Annotated[
        str | None,
        Field(
            max_length=40,
            description="again: then; a time with its offset, or a duration from now such as 6h; at once without",
            examples=["6h"],
        ),
    ] = None
    later: Annotated[bool | None, Field(description="again: silent until a time is set")] = None
    copy_url: Annotated[Url | None, Field(description="copy: its URL")] = None
    url: Annotated[Url | None, Field(description="only for this page of the question")] = None
    scope: Annotated[
        Literal["page", "host-cause", "host", "cause"] | None,
        Field(description="never, until-major: what it is remembered for"),
    ] = None

    @model_validator(mode="after")
    def _fits(self) -> Answer:
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


class Rule(Model):
    """An answer that stays in force."""

    id: Id
    instruction: Literal["never", "until-major"]
    scope: Literal["page", "host-cause", "host", "cause"]
    url: str | None
    host: str | None
    cause: str | None
    since: Time
