"""The service: what it is, does and did; tokens and the audit log, for administrators."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final

from fastapi import Path, Query, Response
from pydantic import ConfigDict, Field

from tocsin.model.common import to_rfc3339
from tocsin.model.records.fields import Part
from tocsin.model.records.service import (
    About,
    ActivitySpan,
    AuditLine,
    Live,
    NewToken,
    Token,
    activity_of,
    audit_line_of,
    live_of,
    new_token_of,
    token_of,
)
from tocsin.server.access.auditing import audit
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.api.operations import Input, PartOf, make_router
from tocsin.server.api.questions import moment_of
from tocsin.server.decisions import missing
from tocsin.server.parts import Administering, Given, Reading
from tocsin.server.problems import Problem
from tocsin.settings import Scope

router = make_router("service")
access_routes = make_router("access")

_HOUR: Final = timedelta(hours=1) // timedelta(microseconds=1)


class ActivityHours(Input):
    """How far back to look."""

    hours: Annotated[int, Field(ge=1, le=24 * 31)] = 24


class TokenToAdd(Input):
    """A token to be made."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "grafana", "scope": "read", "expires": "365d"}]})

    name: Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$")]
    scope: Scope = Scope.READ
    expires: Annotated[
        str | None, Field(max_length=40, description="a time with its offset, or a duration from now; default: never")
    ] = None


@router.get("/service", summary="Show the service", operation_id="about")
async def about(caller: Reading, parts: Given) -> About:
    """Show the service, its version, and the token that asks: the first request of a new client."""
    settings, live = parts.service.settings(), parts.service.live()
    return About(
        name=settings.instance.name,
        version=live.version,
        now=to_rfc3339(parts.clock.now()),
        started_at=to_rfc3339(live.started_at),
        time_zone=settings.instance.time_zone,
        who=caller.who,
        scope=caller.scope,
    )


@router.get("/live", summary="Show what the service does now", operation_id="live")
async def show_live(_: Reading, parts: Given) -> Live:
    """Show what the service is doing at this moment: fetchers, render queue, questions, outage."""
    store = parts.store
    return live_of(parts.service.live(), await store.tally_renders(), await store.tally_questions())


@router.get("/activity", summary="Show what happened", operation_id="activity")
async def show_activity(_: Reading, parts: Given, asked: Annotated[ActivityHours, Query()]) -> Part[ActivitySpan]:
    """Show what happened in the last hours, oldest first, in spans of five minutes; empty spans are left out."""
    rows = await parts.store.activity(parts.clock.now() - asked.hours * _HOUR)
    return Part(items=[activity_of(row) for row in rows], next=None)


# Tokens and the audit log -----------------------------------------------------------------------------------------


@access_routes.get("/tokens", summary="List tokens", operation_id="list_tokens")
async def list_tokens(_: Administering, parts: Given) -> Part[Token]:
    """List all tokens, revoked ones too; of their secrets only digests are kept."""
    now = parts.clock.now()
    return Part(items=[token_of(row, now) for row in await parts.store.tokens()], next=None)


@access_routes.post("/tokens", status_code=201, summary="Make a token", operation_id="add_token")
async def add_token(caller: Administering, parts: Given, response: Response, wanted: TokenToAdd) -> NewToken:
    """Make a token; its secret is in this answer only.

    With the first token, requests from this machine are no longer accepted without one.
    """
    now = parts.clock.now()
    until = moment_of(wanted.expires, now, name="expires") if wanted.expires is not None else None
    if any(row.name == wanted.name and row.is_in_force(now) for row in await parts.store.tokens()):
        raise Problem(
            409, "name-taken", "The name is taken", f"token {wanted.name}", mend="choose another one, or revoke it"
        )
    secret = new_token()
    row = await parts.store.add_token(wanted.name, wanted.scope, digest_of(secret), now, expires_at=until)
    await audit(parts, caller, "token.add", token=wanted.name, scope=wanted.scope.value)
    # Caches, and the store of idempotent answers, must not keep a secret.
    response.headers["Cache-Control"] = "no-store"
    response.headers["Location"] = "/api/v1/tokens"
    return new_token_of(row, now, secret)


@access_routes.delete("/tokens/{name}", status_code=204, summary="Revoke a token", operation_id="revoke_token")
async def revoke_token(
    caller: Administering, parts: Given, name: Annotated[str, Path(min_length=1, max_length=64, examples=["grafana"])]
) -> None:
    """Revoke a token, and end the browser sessions that logged in with it."""
    now = parts.clock.now()
    if not any(row.name == name and row.revoked_at is None for row in await parts.store.tokens()):
        raise missing("token", name, "GET /api/v1/tokens")
    await parts.store.revoke_token(name, now)
    await audit(parts, caller, "token.revoke", token=name)


@access_routes.get("/audit", summary="List changes and who made them", operation_id="list_audit")
async def list_audit(_: Administering, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[AuditLine]:
    """List the audit log, newest first."""
    found = await parts.store.audit(cursor=asked.cursor, limit=asked.limit)
    return Part(items=[audit_line_of(entry) for entry in found.rows], next=found.next)
