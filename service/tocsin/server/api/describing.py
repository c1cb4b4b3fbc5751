"""The description of the API (OpenAPI 3.1): complete, with every refusal that a route may answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from fastapi.openapi.utils import get_openapi

if TYPE_CHECKING:
    from fastapi import FastAPI

PREFIX: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
_WRITES: Final = frozenset({"post", "put", "patch", "delete"})
_OPERATIONS: Final = _WRITES | {"get"}

TAGS: Final = (
    ("pages", "The watch list: added, shown, edited, checked, extracted."),
    ("bulk", "One thing done to many pages, as a job."),
    ("imports", "Lists of pages in any format, streamed in."),
    ("jobs", "Work that goes on after its request was answered."),
    ("groups", "What holds for groups, and for all pages (T52)."),
    ("records", "What was stored of a page: states, verdicts, renderings, texts, and how they differ."),
    ("questions", "Pages that could not be received, and what to do about them (T60)."),
    ("alerts", "What was told, to whom, and dead letters."),
    ("storms", "Changes that many pages of a host had in common, told once."),
    ("channels", "Where alerts go."),
    ("table", "The specification's plain-text table of states, streamed out and in."),
    ("service", "Settings in force, what the service does now, and what it did."),
    ("access", "Tokens, and who changed what; for administrators."),
)

ABOUT: Final = """\
Every error is a problem document (RFC 9457) that says why and the mend. Lists come in parts: give `next` as `cursor`.
Edits need `If-Match` with the `ETag` of what they stand on. Writes may carry an `Idempotency-Key`: the same request
with the same key is done once. Times are RFC 3339 in UTC; ids are strings of digits; durations are written as
`10s`, `6h`, `80d`. Secrets are shown masked. What is long is a job: its answer is 202, and `Location` says where its
progress is.
"""

_REFUSALS: Final = {
    "400": "The request cannot be read.",
    "401": "A token is needed.",
    "408": "Its body came too slowly.",
    "421": "Without a token the service is not known by this name.",
    "403": "The token does not allow this, or the request comes from another site.",
    "422": "The request is not as described, or cannot be done; `errors` or `detail` says why.",
    "429": "Too many requests, failures or jobs; Retry-After says when.",
    "503": "The store cannot be used now; Retry-After says when.",
}
_OF_WRITES: Final = {
    "409": "It does not go with what is there, or the same request is being worked on.",
    "413": "The body is too large.",
    "415": "The body is of a type that is not read here.",
}

_MADE: Final = frozenset({"201", "202"})
_LOCATION: Final = {"description": "where it is, or where its progress is", "schema": {"type": "string"}}


def describe(app: FastAPI) -> dict[str, Any]:
    """Write the description of an application's API; made once, and kept by the application."""
    if app.openapi_schema:
        return app.openapi_schema
    found = get_openapi(
        title="Tocsin",
        version=app.version,
        summary=app.summary,
        description=ABOUT,
        routes=app.routes,
        tags=[{"name": name, "description": about} for name, about in TAGS],
    )
    found["paths"] = {path: item for path, item in found["paths"].items() if path.startswith(PREFIX)}
    for path, item in found["paths"].items():
        for method, operation in item.items():
            if method in _OPERATIONS:
                _complete(path, method, operation)
    schemas = found["components"]["schemas"]
    for left in ("HTTPValidationError", "ValidationError"):
        schemas.pop(left, None)
    app.openapi_schema = found
    return found


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    refusals = dict(_REFUSALS)
    if method in _WRITES:
        refusals |= _OF_WRITES
    if "{" in path:
        refusals["404"] = "There is no such thing."
    for status, why in refusals.items():
        said = responses.get(status, {}).get("description", why)
        responses[status] = {"description": said}
    for status, response in responses.items():
        if status in _MADE:
            response["headers"] = {"Location": _LOCATION}
        if status >= "400":
            response["content"] = {PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    operation["responses"] = dict(sorted(responses.items()))
    # Each operation asks for the same: any of the three ways to show a token.
    operation["security"] = [{"token": []}, {"basic": []}, {"session": []}]
