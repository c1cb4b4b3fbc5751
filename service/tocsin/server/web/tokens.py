"""*Access*: tokens are made, shown once, and revoked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from tocsin.errors import UsageError
from tocsin.model import Scope
from tocsin.server.access.auditing import audit
from tocsin.server.access.credentials import digest_of, new_secret, new_token
from tocsin.server.access.guard import (
    COOKIE,
    LOST_FORM,
    SECURE_COOKIE,
    SECURE_COOKIE_BELOW,
    Doorkeeper,
    cookie_name,
    session_cookie,
)
from tocsin.server.decisions import read_moment
from tocsin.server.lost_forms import kept_of
from tocsin.server.parts import SENDER, Administering, Caller, Given, Parts, Reading, Via
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import local_path, zone_named
from tocsin.server.web.rendering import again_page, ask, go_on, language_of, page, plain_page, say
from tocsin.server.web.settings import tabs_at
from tocsin.wording.words import Words, words_of

# Login and logout of browsers.


_UNAUTHORIZED: Final = 401
_MEND: Final = (
    "paste it whole; where the service runs, tocsin token list shows which there are, and token add makes one"
)

router = APIRouter(include_in_schema=False)


@router.get("/login")
async def form(request: Request, next: Annotated[str, Query()] = "/") -> Response:  # noqa: A002 - the name that users see
    """Show the form; redirect where no login is needed."""
    if await _doorkeeper(request).is_open():
        return RedirectResponse(onward(next), 303)
    return plain_page(request, "login.html", wrong=None, next=onward(next), kept="", kept_path="")


@router.post(LOST_FORM)
async def keep(request: Request) -> Response:
    """Ask for a login where a form came without a session; the page carries what was typed."""
    path = request.scope["state"].get("lost_form")
    if path is None:
        return RedirectResponse("/login", 303)
    kept = kept_of(await request.form())
    page = plain_page(request, "login.html", status=_UNAUTHORIZED, wrong=None, next="/", kept=kept, kept_path=path)
    # With Basic, a browser would ask in a window of its own, above the form.
    page.headers["www-authenticate"] = 'Bearer realm="Tocsin"'
    return page


@router.post("/login")
async def login(
    request: Request,
    parts: Given,
    token: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - as above
    kept: Annotated[str, Form()] = "",
    kept_path: Annotated[str, Form()] = "",
) -> Response:
    """Open a session under a new secret, so that a secret planted before has no effect (session fixation)."""
    sender = request.scope[SENDER]
    try:
        caller = await _doorkeeper(request).by_token(token.strip(), sender, Via.SESSION)
    except Problem as exc:
        again = {"next": onward(next), "kept": kept, "kept_path": onward(kept_path)}
        page = plain_page(
            request, "login.html", status=exc.status, wrong=_words(exc, words_of(language_of(request))), **again
        )
        page.headers.update(exc.headers)
        return page
    if caller.token_id is None:
        raise AssertionError("a token has an id")
    settings = parts.service.settings().http
    now, length, name = parts.clock.now(), settings.session, cookie_name(sender, settings)
    if (before := session_cookie(request, settings)) is not None:
        await parts.store.close_session(digest_of(before))
    secret, csrf = new_secret(), new_secret()
    until = now + round(length.total_seconds() * 1_000_000)
    await parts.store.open_session(digest_of(secret), caller.token_id, csrf, now, until=until)
    await audit(parts, caller, "session.open")
    response: Response = RedirectResponse(onward(next), 303)
    if kept_path:
        response = again_page(request, onward(kept_path), kept, status=200, csrf=csrf, why="logged_in")
    response.set_cookie(
        name,
        secret,
        max_age=round(length.total_seconds()),
        path="/",
        secure=name != COOKIE,
        httponly=True,
        samesite="lax",
    )
    return response


@router.post("/logout")
async def logout(request: Request, parts: Given, _caller: Reading) -> Response:
    """Close the session."""
    if (secret := session_cookie(request, parts.service.settings().http)) is not None:
        await parts.store.close_session(digest_of(secret))
    response = RedirectResponse("/login", 303)
    for name in (COOKIE, SECURE_COOKIE, SECURE_COOKIE_BELOW):
        response.delete_cookie(name, path="/", secure=name != COOKIE, httponly=True, samesite="lax")
    return response


def _words(problem: Problem, words: Words) -> str:
    """Put a problem into words for the form, without the parts about headers."""
    mend = _MEND if problem.status == _UNAUTHORIZED else problem.mend
    return " ".join(f"{each[:1].upper()}{each[1:]}." for each in map(words.retell, (problem.detail, mend)) if each)


def onward(wanted: str) -> str:
    """Return a path of this service to redirect to; any other target becomes the first page."""
    path = local_path(wanted)
    return "/" if path.startswith(("/login", "/logout")) else path


def _doorkeeper(request: Request) -> Doorkeeper:
    found = request.app.state.doorkeeper
    assert isinstance(found, Doorkeeper)  # noqa: S101 - `make_app` sets it
    return found


_LONGEST_NAME: Final = 64
_PART: Final = 25
_PATH: Final = "/settings/access"


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
        wrong["scope"] = say(request, "access.wrong_scope")
    named, until = name.strip(), None
    if not named or len(named) > _LONGEST_NAME or not named.isprintable():
        wrong["name"] = say(request, "access.wrong_name", most=_LONGEST_NAME)
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
        key = "own_token" if name == caller.who else "token"
        path, values = f"{_PATH}/tokens/revoke", {"name": name}
        token = name[:_LONGEST_NAME]
        return await ask(request, key, path, back=_PATH, section="settings", values=values, danger=True, token=token)
    try:
        row = await parts.store.revoke_token(name, parts.clock.now())
    except UsageError as exc:
        why = words_of(language_of(request)).retell(str(exc))
        return go_on(request, _PATH, "not_revoked", kind="warn", why=why)
    await audit(parts, caller, "token.revoke", token=row.name)
    return go_on(request, _PATH, "token_revoked", token=row.name)


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
        scopes=[each.value for each in Scope],
        session=parts.service.settings().http.session,
    )
