"""Errors as RFC 9457 problem details; for browsers as a page with the reason and the mend."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tocsin.errors import (
    DeliveryError,
    FieldErrors,
    NotWatched,
    Shortage,
    StaleClaim,
    StoreError,
    StoreLocked,
    TocsinError,
    UsageError,
    shortage_of,
)

PROBLEM = "application/problem+json"
_GONE = 499  # The status that logs show for a request whose client has disconnected.
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_KINDS: tuple[tuple[type[TocsinError], int, str, str], ...] = (
    (NotWatched, 404, "not-watched", "/api/v1/pages lists the pages that are watched"),
    (StoreLocked, 503, "store-busy", "try again in a moment; see /readyz for the reason"),
    (StaleClaim, 409, "conflict", "read the current version, and try again"),
    (Shortage, 503, "shortage", "try again in a moment; the log names the shortage and the mend"),
    (StoreError, 503, "store", "try again in a moment; see /readyz for the reason"),
    (DeliveryError, 502, "delivery", "compare the channel's settings with what its receiver expects, and try again"),
)
_MENDS = {
    404: "look the address up: pages at /, the API at /api/openapi.json",
    405: "use one of the methods that Allow names",
    413: "send it in smaller parts",
    415: "send it as application/json",
    429: "wait as long as Retry-After says",
    503: "try again in a moment; see /readyz for the reason",
}
_ASK = "see /api/openapi.json for valid values"


class Problem(TocsinError):
    """A refused request, in the terms of RFC 9457.

    type     a short name, stable: "not-watched"; told as `urn:tocsin:problem:not-watched`
    title    the kind of problem, always the same for a type
    detail   what is wrong this time
    mend     how to fix it
    headers  additional headers of the answer
    extra    additional members, such as `errors`
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
        """Return it as a JSON object."""
        told = {
            "type": f"urn:tocsin:problem:{self.type}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "mend": self.mend,
        }
        return {**{key: value for key, value in told.items() if value}, **self.extra, "request_id": request_id}


def problem_of(exc: Exception) -> Problem:
    """Convert an error into a problem; the text of an unexpected one is hidden."""
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
        "Internal error",
        "the request failed; no data was lost",
        mend="the log says more under this request id; please report it",
    )


async def answer(request: Request, exc: Exception) -> Response:
    """Answer with an error: as JSON, or as a page for a browser."""
    problem = _unread(request, exc) or problem_of(exc)
    if problem.status == HTTPStatus.METHOD_NOT_ALLOWED:
        problem.headers["Allow"] = ", ".join(_methods_of(request))
    request_id = str(request.scope.get("state", {}).get("request_id", ""))
    if wants_html(request):
        from tocsin.server.web.rendering import error_page  # noqa: PLC0415 - loads the templates, which the API does not need

        return error_page(request, problem, request_id)
    return problem_response(problem, request_id)


def problem_response(problem: Problem, request_id: str) -> Response:
    """Make the JSON answer."""
    body = msgspec.json.encode(problem.record(request_id))
    return Response(body, problem.status, problem.headers, PROBLEM)


def wants_html(request: Request) -> bool:
    """Say whether a browser is to show the answer."""
    return not request.url.path.startswith("/api/") and "text/html" in request.headers.get("accept", "")


def install(app: FastAPI) -> None:
    """Register the handler for all errors of this application."""
    for kind in (TocsinError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)
    app.add_exception_handler(ClientDisconnect, _answer_disconnected)


async def _answer_disconnected(_: Request, __: Exception) -> Response:
    return Response(status_code=_GONE)


def _of_ours(exc: TocsinError) -> Problem | None:
    """Convert an error that is raised on purpose; None for others."""
    for kind, status, name, mend in _KINDS:
        if isinstance(exc, kind):
            headers = {"Retry-After": "5"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
            return Problem(status, name, HTTPStatus(status).phrase, str(exc), mend=mend, headers=headers)
    match exc:
        case UsageError():
            # By convention, the mend follows the last semicolon.
            detail, _, mend = str(exc).rpartition("; ")
            errors = exc.errors if isinstance(exc, FieldErrors) else ()
            extra = (
                {"errors": [{"in": "body", "field": key, "message": text} for key, text in errors]} if errors else {}
            )
            mend = mend if detail else _ASK
            return Problem(422, "refused", "The request is refused", detail or str(exc), mend=mend, extra=extra)
    return None


def _fields_of(exc: FieldErrors) -> list[dict[str, str]]:
    return [{"in": "body", "field": key, "message": text} for key, text in exc.errors]


def _of_http(exc: HTTPException) -> Problem:
    phrase = HTTPStatus(exc.status_code).phrase
    detail = "" if exc.detail == phrase else str(exc.detail)
    name = phrase.lower().replace(" ", "-")
    return Problem(exc.status_code, name, phrase, detail, mend=_MENDS.get(exc.status_code, ""), headers=exc.headers)


def _methods_of(request: Request) -> list[str]:
    """List the methods of a path over all routes; the framework names those of the first route only."""
    path = request.url.path
    routes = (route for route in iter_route_contexts(request.app.routes) if route.methods)
    found = {method for route in routes if route.path_regex.match(path) for method in route.methods or ()}
    return sorted(found, key=lambda method: (method != "GET", method))


def _unread(request: Request, exc: Exception) -> Problem | None:
    """Make the 415 for a body of an unsupported type; None for others, such as invalid JSON."""
    if not isinstance(exc, RequestValidationError) or all(tuple(found["loc"]) != ("body",) for found in exc.errors()):
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not kind or kind.endswith("json") or kind in FORMS:
        return None
    return Problem(
        HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
        "unsupported-media-type",
        "The type of the body is not supported",
        f"it came as {kind}",
        mend="send it as application/json; /api/openapi.json names the supported types",
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
        mend="each of `errors` names the expected value; /api/openapi.json describes the API",
        extra={"errors": errors},
    )
