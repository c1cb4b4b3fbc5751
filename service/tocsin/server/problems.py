"""Every error as RFC 9457 problem details; for people in a browser, as a page that says why, and the mend."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from tocsin.errors import (
    DeliveryError,
    NotWatched,
    Shortage,
    StaleClaim,
    StoreError,
    StoreLocked,
    TocsinError,
    UsageError,
    shortage_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI
    from starlette.requests import Request

PROBLEM = "application/problem+json"
_GONE = 499
"""What logs of servers say where whoever asked has hung up."""
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_KINDS: tuple[tuple[type[TocsinError], int, str, str], ...] = (
    (NotWatched, 404, "not-watched", "/api/v1/pages lists the pages that are watched"),
    (StoreLocked, 503, "store-busy", "try again in a moment; /readyz says what is missing"),
    (StaleClaim, 409, "conflict", "look at it as it is now, and ask again"),
    (Shortage, 503, "shortage", "try again in a moment; the log says what the machine is short of, and the mend"),
    (StoreError, 503, "store", "try again in a moment; /readyz says what is missing"),
    (DeliveryError, 502, "delivery", "see that the channel is set as its receiver wants it, and try it again"),
)
_MENDS = {
    404: "look the address up: pages at /, the API at /api/openapi.json",
    405: "use one of the methods that Allow names",
    413: "send it in smaller parts",
    415: "send it as application/json",
    429: "wait as long as Retry-After says",
    503: "try again in a moment; /readyz says what is missing",
}
_ASK = "/api/openapi.json says what can be asked for"


class Problem(TocsinError):
    """A request that is refused, in the words of RFC 9457.

    type     a short name, stable: "not-watched"; told as `urn:tocsin:problem:not-watched`
    title    what kind of thing went wrong, the same each time
    detail   what went wrong this time
    mend     what to do about it
    headers  of the answer, besides
    extra    further members, such as `errors`
    """

    def __init__(
        self,
        status: int,
        type: str,  # noqa: A002 - the name that RFC 9457 gives it
        title: str,
        detail: str = "",
        *,
        mend: str = "",
        headers: Mapping[str, str] | None = None,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(": ".join(part for part in (title, detail) if part))
        self.status, self.type, self.title, self.detail, self.mend = status, type, title, detail, mend
        self.headers, self.extra = dict(headers or {}), dict(extra or {})

    def record(self, request_id: str) -> dict[str, Any]:
        """Tell it as JSON does."""
        told = {
            "type": f"urn:tocsin:problem:{self.type}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "mend": self.mend,
        }
        return {**{key: value for key, value in told.items() if value}, **self.extra, "request_id": request_id}


def problem_of(exc: Exception) -> Problem:
    """Say an error as a problem; what was not meant for users keeps its text to itself."""
    match exc:
        case Problem():
            return exc
        case RequestValidationError():
            return _invalid(exc)
        case HTTPException():
            return _of_http(exc)
        case TocsinError() if (known := _of_ours(exc)) is not None:
            return known
        case OSError() | MemoryError() | ImportError() if (short := shortage_of(exc)) is not None:
            return problem_of(short)
    return Problem(
        500,
        "internal",
        "A fault of ours",
        "this request could not be answered; nothing was lost",
        mend="the log says more under this request id; please report it",
    )


async def answer(request: Request, exc: Exception) -> Response:
    """Answer with an error: in JSON, or to a browser as a page."""
    problem = _unread(request, exc) or problem_of(exc)
    if problem.status == HTTPStatus.METHOD_NOT_ALLOWED:
        problem.headers["Allow"] = ", ".join(_methods_of(request))
    request_id = str(request.scope.get("state", {}).get("request_id", ""))
    if wants_html(request):
        from tocsin.server.web.rendering import error_page  # noqa: PLC0415 - templates are loaded for whoever reads them

        return error_page(request, problem, request_id)
    return problem_response(problem, request_id)


def problem_response(problem: Problem, request_id: str) -> Response:
    """Answer in JSON."""
    body = msgspec.json.encode(problem.record(request_id))
    return Response(body, problem.status, problem.headers, PROBLEM)


def wants_html(request: Request) -> bool:
    """Say whether a person is to read the answer."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI) -> None:
    """Have every error of this application answered here."""
    for kind in (TocsinError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(ClientDisconnect, _answer_nobody)


async def _answer_nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=_GONE)


def _of_ours(exc: TocsinError) -> Problem | None:
    """Say an error that is raised on purpose; None for one that no caller is meant to see."""
    for kind, status, name, mend in _KINDS:
        if isinstance(exc, kind):
            headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
            return Problem(status, name, HTTPStatus(status).phrase, str(exc), mend=mend, headers=headers)
    match exc:
        case UsageError():
            # What stands behind the last of them is the mend, as people read it at the end of a line.
            detail, _, mend = str(exc).rpartition("; ")
            return Problem(422, "refused", "This is refused", detail or mend, mend=mend if detail else _ASK)
    return None


def _of_http(exc: HTTPException) -> Problem:
    phrase = HTTPStatus(exc.status_code).phrase
    detail = "" if exc.detail == phrase else str(exc.detail)
    name = phrase.lower().replace(" ", "-")
    return Problem(exc.status_code, name, phrase, detail, mend=_MENDS.get(exc.status_code, ""), headers=exc.headers)


def _methods_of(request: Request) -> list[str]:
    """List what may be done with a path, by whichever route; the framework names the methods of the first one only."""
    path = request.url.path
    routes = (route for route in iter_route_contexts(request.app.routes) if route.methods)
    found = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return sorted(found, key=lambda method: (method != "GET", method))


def _unread(request: Request, exc: Exception) -> Problem | None:
    """Say that a body is of a kind that is not read here; a JSON that is wrong is told field by field."""
    if not isinstance(exc, RequestValidationError) or all(tuple(found["loc"]) != ("body",) for found in exc.errors()):
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind or kind.endswith("json") or kind in FORMS:
        return None
    return Problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported-media-type",
        "A body of this kind is not read here",
        f"it came as {kind}",
        mend="send it as application/json; /api/openapi.json says what else is read",
        headers={"Accept-Post": "application/json"},
    )


def _invalid(exc: RequestValidationError) -> Problem:
    errors = [
        {
            "in": str(found["loc"][0]) if found["loc"] else "",
            "field": ".".join(str(step) for step in found["loc"][1:]),
            "message": str(found["msg"]),
        }
        for found in exc.errors()
    ]
    named = ", ".join(sorted({error["field"] or error["in"] for error in errors}))
    return Problem(
        422,
        "invalid",
        "The request is not as described",
        f"wrong: {named}",
        mend="each of `errors` says what is expected there; /api/openapi.json describes it all",
        extra={"errors": errors},
    )
