"""What routes are given: the parts of the service, and their caller with its scope."""

from __future__ import annotations

import asyncio
import re
from enum import StrEnum
from secrets import compare_digest
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.dependencies.models import Dependant
from fastapi.security import APIKeyCookie, HTTPBasic, HTTPBearer
from msgspec import Struct, field

from tocsin.model import Scope
from tocsin.model.records.pages import Modes
from tocsin.ports import Chance, Clock, Service, Store, Telemetry
from tocsin.server.problems import FORMS, Problem

# The caller of a request, the scope that a route requires, and the CSRF token of forms.


class Via(StrEnum):
    """How a caller was authenticated.

    A browser sends SESSION, BASIC and LOCAL by itself, so that another site could make it send them.
    """

    BEARER = "bearer"
    BASIC = "basic"
    SESSION = "session"
    LOCAL = "local"


class Caller(Struct, frozen=True):
    """An authenticated client.

    who       the token's name; "local" where no token was ever made
    token_id  None for "local"
    csrf      the token that its forms must carry; empty without a session
    session   the digest of the session secret; empty without a session
    """

    who: str
    scope: Scope
    token_id: int | None = None
    csrf: str = ""
    via: Via = Via.BEARER
    session: bytes = b""

    def may(self, wanted: Scope) -> bool:
        """Say whether the caller has this scope."""
        return self.scope.allows(wanted)


FIELD = "csrf"
HEADER = "x-csrf-token"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_USUAL_CHARSET = re.compile(r""";\s*charset=(?P<quote>"?)(?:utf-?8|us-ascii)(?P=quote)\s*(?=;|$)""", re.IGNORECASE)


def refuse_odd_charset(request: Request) -> None:
    """Refuse a form in another charset than UTF-8, before it is read. Raises Problem: 415.

    The form parser decodes with any codec that the client names: some take quadratic time, others produce lone
    surrogates. Browsers send UTF-8, the charset of our pages.
    """
    kind = request.headers.get("content-type", "")
    if any(form in kind.lower() for form in FORMS) and "charset" in _USUAL_CHARSET.sub("", kind).lower():
        raise Problem(
            415,
            "unknown-charset",
            "The form's charset is not read here",
            "forms come in UTF-8",
            mend="leave charset out of Content-Type, or say charset=utf-8",
        )


async def check_form(request: Request, caller: Caller) -> None:
    """Check the CSRF token of a form, or of a script in `X-CSRF-Token`.

    Callers with a bearer token need none. Raises Problem: 403.
    """
    if request.method in SAFE or not caller.csrf:
        return
    said = request.headers.get(HEADER)
    if said is None:
        if not _is_form(request):
            if not _is_browser(request):
                return
        else:
            found = (await request.form()).get(FIELD)
            said = found if isinstance(found, str) else None
    if said is None or not compare_digest(said.encode(), caller.csrf.encode()):
        raise Problem(
            403,
            "csrf",
            "The form is not one of ours",
            "it lacks the token of this session, or has that of another one",
            mend="load the page again and send the form from there; a program sends a token as `Authorization: Bearer`",
        )


def _is_form(request: Request) -> bool:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower() in FORMS


def _is_browser(request: Request) -> bool:
    """Say whether a browser sent this: pages cannot remove these headers."""
    return "sec-fetch-site" in request.headers or "origin" in request.headers or "cookie" in request.headers


CALLER = "tocsin.caller"  # The key of the caller in a request's scope; the guard sets it.
# For the API description only: the guard reads the credentials.
_SCHEMES = (
    HTTPBearer(scheme_name="token", auto_error=False, description="`Authorization: Bearer tcs_…`"),
    HTTPBasic(scheme_name="basic", auto_error=False, description="Any user name, a token as the password."),
    APIKeyCookie(name="tocsin", scheme_name="session", auto_error=False, description="A browser that logged in."),
)
_token, _basic, _session = _SCHEMES


class Right:
    """A dependency that returns the caller, if it has this scope."""

    def __init__(self, wanted: Scope) -> None:
        self.wanted = wanted

    async def __call__(
        self,
        request: Request,
        _token: Annotated[object, Security(_token)],
        _basic: Annotated[object, Security(_basic)],
        _session: Annotated[object, Security(_session)],
    ) -> Caller:
        """Return the caller. Raises Problem: 401 without a caller, 403 without the scope."""
        caller = request.scope.get(CALLER)
        if not isinstance(caller, Caller):
            raise unknown()
        if not caller.may(self.wanted):
            raise not_allowed(caller, self.wanted)
        await check_form(request, caller)
        return caller


Reading = Annotated[Caller, Security(Right(Scope.READ))]
Writing = Annotated[Caller, Security(Right(Scope.WRITE))]
Administering = Annotated[Caller, Security(Right(Scope.ADMIN))]


def unknown(detail: str = "no token came with the request") -> Problem:
    """Make the 401 for a request without a valid credential."""
    return Problem(
        401,
        "unauthorized",
        "A token is needed",
        detail,
        mend="send `Authorization: Bearer TOKEN`, or the token as the password of Basic; "
        "`tocsin token add NAME --scope read` makes one",
        headers={"WWW-Authenticate": 'Bearer realm="Tocsin", Basic realm="Tocsin", charset="UTF-8"'},
    )


def not_allowed(caller: Caller, wanted: Scope) -> Problem:
    """Make the 403 for a caller without the scope."""
    return Problem(
        403,
        "not-allowed",
        "The token does not allow this",
        f"token {caller.who} has scope {caller.scope}, and {wanted} is needed",
        mend=f"use a token made by `tocsin token add NAME --scope {wanted}`",
    )


def wanted_of(dependant: Dependant) -> Scope | None:
    """Return the scope that a route requires; None where it declares none."""
    if isinstance(dependant.call, Right):
        return dependant.call.wanted
    found = [wanted for inner in dependant.dependencies if (wanted := wanted_of(inner)) is not None]
    return max(found, key=list(Scope).index, default=None)


class Parts(Struct, frozen=True):
    """The collaborators of the HTTP server.

    stopping  set at a stop of the service; streams end then
    """

    store: Store
    service: Service
    clock: Clock
    chance: Chance
    telemetry: Telemetry
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def modes(self) -> Modes:
        """Read which mode is in force for each page."""
        return Modes(self.service.settings().pages.mode, *await self.store.overrides())


async def parts(request: Request) -> Parts:
    """Return the parts of this application."""
    found = request.app.state.parts
    assert isinstance(found, Parts)  # noqa: S101 - `make_app` sets it
    return found


Given = Annotated[Parts, Depends(parts)]
