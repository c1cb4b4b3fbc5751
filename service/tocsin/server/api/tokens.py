"""Who may use the service, and who changed what; for administrators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Path, Query, Response

from tocsin.server.access import Administering, audit
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.api.given import Once, PartOf, make_router, problems
from tocsin.server.api.questions import moment_of
from tocsin.server.api.schemas.common import Part, time_of, time_or_none
from tocsin.server.api.schemas.service import AuditLine, NewToken, Token, Tokens, TokenToAdd
from tocsin.server.decisions import missing
from tocsin.server.parts import Given
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from typing import Any

    from tocsin.model import TokenRow

router = make_router("access")


@router.get("/tokens", summary="List tokens", operation_id="list_tokens")
async def list_tokens(_: Administering, parts: Given) -> Tokens:
    """List all tokens, revoked ones too; of their secrets only digests are kept."""
    return Tokens(items=[Token(**_shown(row)) for row in await parts.store.tokens()])


@router.post(
    "/tokens",
    status_code=201,
    summary="Make a token",
    operation_id="add_token",
    responses=problems(409),
    dependencies=Once,
)
async def add_token(caller: Administering, parts: Given, response: Response, wanted: TokenToAdd) -> NewToken:
    """Make a token; its secret is in this answer, and nowhere else.

    The first one ends the time in which everybody on this machine is let in.
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
    # Neither caches nor the keeper of idempotent answers may hold on to a secret.
    response.headers["Cache-Control"] = "no-store"
    response.headers["Location"] = "/api/v1/tokens"
    return NewToken(**_shown(row), token=secret)


@router.delete(
    "/tokens/{name}",
    status_code=204,
    summary="Revoke a token",
    operation_id="revoke_token",
    responses=problems(404),
    dependencies=Once,
)
async def revoke_token(
    caller: Administering,
    parts: Given,
    name: Annotated[str, Path(min_length=1, max_length=64, examples=["grafana"])],
) -> None:
    """Revoke a token, and end the sessions of browsers that logged in with it."""
    now = parts.clock.now()
    if not any(row.name == name and row.revoked_at is None for row in await parts.store.tokens()):
        raise missing("token", name, "GET /api/v1/tokens")
    await parts.store.revoke_token(name, now)
    await audit(parts, caller, "token.revoke", token=name)


@router.get("/audit", summary="List who changed what", operation_id="list_audit")
async def list_audit(_: Administering, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[AuditLine]:
    """List the audit log, newest first."""
    found = await parts.store.audit(cursor=asked.cursor, limit=asked.limit)
    items = [
        AuditLine(
            id=str(entry.id),
            at=time_of(entry.at),
            who=entry.who,
            what=entry.what,
            detail=entry.detail,
            request_id=entry.request_id,
        )
        for entry in found.rows
    ]
    return Part[AuditLine](items=items, next=found.next)


def _shown(row: TokenRow) -> dict[str, Any]:
    return {
        "id": str(row.id),
        "name": row.name,
        "scope": row.scope,
        "created_at": time_of(row.created_at),
        "expires_at": time_or_none(row.expires_at),
        "last_used_at": time_or_none(row.last_used_at),
        "revoked_at": time_or_none(row.revoked_at),
    }
