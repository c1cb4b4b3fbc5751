"""The service: what it is, what it does now and did, who may use it, and who changed what."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from tocsin.model import Scope
from tocsin.server.api.schemas.common import Count, Id, Json, Model, Time


class About(Model):
    """What answers here."""

    name: Annotated[str, Field(description="instance.name, the `source` of its events")]
    version: str
    now: Annotated[Time, Field(description="by its clock")]
    started_at: Time
    time_zone: str
    who: Annotated[str, Field(description="the name of the token that asks")]
    scope: Scope


class Fetcher(Model):
    """A fetcher process; number 0 is the service's own one where that one fetches."""

    number: int
    pid: int | None
    ready: bool
    in_flight: int
    checks: int
    restarts: int


class Live(Model):
    """What the service is doing at this moment."""

    in_flight: int
    checks: Annotated[int, Field(description="since the start")]
    fetchers: list[Fetcher]
    renders_limit: int
    renders_resume_at: int
    rendering: int
    waiting_renders: Count
    open_questions: Count
    outage_since: Annotated[Time | None, Field(description="our own connection is taken to be down")]


class Span(Model):
    """What happened within five minutes."""

    at: Time
    outcomes: Annotated[dict[str, int], Field(description="checks by outcome")]
    alerts: int
    rendered: int
    wire_bytes: int
    saved_bytes: int


class Activity(Model):
    """What happened, oldest first, five minutes each; spans without anything are left out."""

    items: list[Span]


class AuditLine(Model):
    """A change that somebody made."""

    id: Id
    at: Time
    who: Annotated[str, Field(description="the token's name")]
    what: Annotated[str, Field(examples=["pages.remove"])]
    detail: Json
    request_id: str


class TokenToAdd(Model):
    """A token that is to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "grafana", "scope": "read", "expires": "365d"}]})

    name: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$")]
    scope: Scope = Scope.READ
    expires: Annotated[
        str | None, Field(max_length=40, description="a time with its offset, or a duration from now; never without")
    ] = None


class Token(Model):
    """A token as listed; its secret is known to nobody."""

    id: Id
    name: str
    scope: Scope
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None
    revoked_at: Time | None


class NewToken(Token):
    """A token that was just made."""

    token: Annotated[str, Field(description="the secret; it is shown this once")]


class Tokens(Model):
    """All tokens, revoked ones too."""

    items: list[Token]
