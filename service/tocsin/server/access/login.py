"""Login and logout of browsers."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from tocsin.server.access.auditing import audit
from tocsin.server.access.credentials import digest_of, new_secret
from tocsin.server.access.guard import (
    COOKIE,
    SECURE_COOKIE,
    SECURE_COOKIE_BELOW,
    Doorkeeper,
    cookie_name,
    session_cookie,
)
from tocsin.server.access.origins import SENDER
from tocsin.server.access.rights import Reading, Via
from tocsin.server.parts import Given
from tocsin.server.problems import Problem
from tocsin.server.web.formatting import local_path
from tocsin.server.web.rendering import plain_page

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
    return plain_page(request, "login.html", wrong=None, next=onward(next))


@router.post("/login")
async def login(
    request: Request,
    parts: Given,
    token: Annotated[str, Form()] = "",
    next: Annotated[str, Form()] = "/",  # noqa: A002 - as above
) -> Response:
    """Open a session under a new secret, so that a secret planted before has no effect (session fixation)."""
    sender = request.scope[SENDER]
    try:
        caller = await _doorkeeper(request).by_token(token.strip(), sender, Via.SESSION)
    except Problem as exc:
        page = plain_page(request, "login.html", status=exc.status, wrong=_words(exc), next=onward(next))
        page.headers.update(exc.headers)
        return page
    if caller.token_id is None:
        raise AssertionError("a token has an id")
    settings = parts.service.settings().http
    now, length, name = parts.clock.now(), settings.session, cookie_name(sender, settings)
    if (before := session_cookie(request, settings)) is not None:
        await parts.store.close_session(digest_of(before))
    secret = new_secret()
    until = now + round(length.total_seconds() * 1_000_000)
    await parts.store.open_session(digest_of(secret), caller.token_id, new_secret(), now, until=until)
    await audit(parts, caller, "session.open")
    response = RedirectResponse(onward(next), 303)
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


def _words(problem: Problem) -> str:
    """Put a problem into words for the form, without the parts about headers."""
    mend = _MEND if problem.status == _UNAUTHORIZED else problem.mend
    return " ".join(f"{each[:1].upper()}{each[1:]}." for each in (problem.detail, mend) if each)


def onward(wanted: str) -> str:
    """Return a path of this service to redirect to; any other target becomes the first page."""
    path = local_path(wanted)
    return "/" if path.startswith(("/login", "/logout")) else path


def _doorkeeper(request: Request) -> Doorkeeper:
    found = request.app.state.doorkeeper
    assert isinstance(found, Doorkeeper)  # noqa: S101 - `make_app` sets it
    return found
