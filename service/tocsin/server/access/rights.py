"""What a route asks of its caller: it says so in its signature, and one that says nothing lets nobody in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from fastapi import Request, Security
from fastapi.security import APIKeyCookie, HTTPBasic, HTTPBearer

from tocsin.model import Scope
from tocsin.server.access.caller import Caller
from tocsin.server.access.forms import check_form
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

CALLER = "tocsin.caller"
"""Where the guard leaves the caller in a request's scope."""
_SCHEMES = (
    HTTPBearer(scheme_name="token", auto_error=False, description="`Authorization: Bearer tcs_…`"),
    HTTPBasic(scheme_name="basic", auto_error=False, description="Any user name, a token as the password."),
    APIKeyCookie(name="tocsin", scheme_name="session", auto_error=False, description="A browser that logged in."),
)
"""For the description of the API only: it is the guard that reads credentials."""
_token, _basic, _session = _SCHEMES


class Right:
    """A dependency that gives the caller, if they may do what asks for this scope."""

    def __init__(self, wanted: Scope) -> None:
        self.wanted = wanted

    async def __call__(
        self,
        request: Request,
        _token: Annotated[object, Security(_token)],
        _basic: Annotated[object, Security(_basic)],
        _session: Annotated[object, Security(_session)],
    ) -> Caller:
        """Give the caller. Raises Problem: 401 for nobody, 403 for one whose token does not allow it."""
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
    """Say that nobody was recognised."""
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
    """Say that somebody is known, and may not do this."""
    return Problem(
        403,
        "not-allowed",
        "The token does not allow this",
        f"token {caller.who} has scope {caller.scope}, and {wanted} is needed",
        mend=f"use a token made by `tocsin token add NAME --scope {wanted}`",
    )


def wanted_of(dependant: Dependant) -> Scope | None:
    """Give the scope that a route asks for; None where it asks for none."""
    if isinstance(dependant.call, Right):
        return dependant.call.wanted
    found = [wanted for inner in dependant.dependencies if (wanted := wanted_of(inner)) is not None]
    return max(found, key=list(Scope).index, default=None)
