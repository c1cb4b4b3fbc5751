"""*Access*: tokens are made, shown once, and revoked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import Response

from tocsin.errors import UsageError
from tocsin.model import Scope
from tocsin.server.access.auditing import audit
from tocsin.server.access.credentials import digest_of, new_token
from tocsin.server.access.rights import Administering, Caller, Reading
from tocsin.server.moments import read_moment
from tocsin.server.parts import Given, Parts
from tocsin.server.web.formatting import zone_named
from tocsin.server.web.notices import go_on
from tocsin.server.web.rendering import page
from tocsin.server.web.settings import tabs_at

router = APIRouter(include_in_schema=False)

_LONGEST_NAME: Final = 64
_PART: Final = 25
_PATH: Final = "/settings/access"
SCOPES: Final[Mapping[str, str]] = {
    "read": "read everything",
    "write": "read, and change what is watched",
    "admin": "everything, including tokens and the audit log",
}


@router.get(_PATH)
async def access(
    request: Request, caller: Reading, parts: Given, begin: Annotated[int, Query(alias="from", ge=0, le=10**6)] = 0
) -> Response:
    """Show the caller and the tokens."""
    return await _show(request, parts, caller, begin=begin)


@router.post("/settings/access/tokens")
async def add(
    request: Request,
    caller: Administering,
    parts: Given,
    name: Annotated[str, Form(max_length=1000)] = "",
    scope: Annotated[str, Form(max_length=20)] = "read",
    expires: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Make a token, and show it once: only its digest is stored."""
    now = parts.clock.now()
    zone = zone_named(parts.service.settings().instance.time_zone)
    typed, wrong = {"name": name, "scope": scope, "expires": expires}, {}
    chosen = next((each for each in Scope if each == scope), None)
    if chosen is None:
        wrong["scope"] = "choose one of the three"
    named, until = name.strip(), None
    if not named or len(named) > _LONGEST_NAME or not named.isprintable():
        wrong["name"] = f"a name has 1 to {_LONGEST_NAME} printable characters"
    if expires.strip():
        try:
            until = read_moment(expires.strip(), now, zone)
        except ValueError as exc:
            wrong["expires"] = str(exc)
    if wrong or chosen is None:
        return await _show(request, parts, caller, typed, wrong, status=422)
    secret = new_token()
    try:
        row = await parts.store.add_token(named, chosen, digest_of(secret), now, expires_at=until)
    except UsageError as exc:
        return await _show(request, parts, caller, typed, {"name": str(exc)}, status=422)
    await audit(parts, caller, "token.add", token=row.name, scope=row.scope.value)
    return await page(
        request,
        "token_made.html",
        tabs=tabs_at(_PATH),
        token=row,
        secret=secret,
        was_open=caller.token_id is None,
    )


@router.post("/settings/access/tokens/revoke")
async def revoke(
    request: Request,
    caller: Administering,
    parts: Given,
    name: Annotated[str, Form(max_length=1000)],
    confirmed: Annotated[str, Form()] = "",
) -> Response:
    """Revoke a token, and close the sessions opened with it."""
    if not confirmed:
        own = " You are here by it yourself, and will be sent away." if name == caller.who else ""
        return await page(
            request,
            "confirm.html",
            section="settings",
            title="Revoke a token",
            question=f"Revoke the token {name[:_LONGEST_NAME]}?",
            detail=f"Its clients are refused from now on, including browsers that logged in with it.{own}",
            path="/settings/access/tokens/revoke",
            values={"name": name},
            verb="Revoke",
            back=_PATH,
            danger=True,
        )
    try:
        row = await parts.store.revoke_token(name, parts.clock.now())
    except UsageError as exc:
        return go_on(request, _PATH, str(exc), kind="warn")
    await audit(parts, caller, "token.revoke", token=row.name)
    return go_on(request, _PATH, f"The token {row.name} is revoked.")


async def _show(
    request: Request,
    parts: Parts,
    caller: Caller,
    typed: Mapping[str, str] | None = None,
    wrong: Mapping[str, str] | None = None,
    *,
    status: int = 200,
    begin: int = 0,
) -> Response:
    may = caller.may(Scope.ADMIN)
    tokens = await parts.store.tokens() if may else []
    left = [row for row in tokens if row.revoked_at is None]
    now, end = parts.clock.now(), begin + _PART
    return await page(
        request,
        "access.html",
        status=status,
        tabs=tabs_at(_PATH),
        tokens=left[begin:end],
        # Revoking is by name: it must not hit a valid token when an expired one of the same name was meant.
        names={row.name for row in left if row.is_in_force(now)},
        following=f"{_PATH}?from={end}" if end < len(left) else None,
        first=_PATH if begin else None,
        revoked=[row for row in tokens if row.revoked_at is not None][-20:],
        may=may,
        me=caller,
        typed=typed or {"name": "", "scope": "read" if tokens else "admin", "expires": ""},
        wrong=wrong or {},
        scopes=list(SCOPES.items()),
        session=parts.service.settings().http.session,
    )
