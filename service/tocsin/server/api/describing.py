"""The description of the API (OpenAPI 3.1), with every error that an operation may answer with."""

from __future__ import annotations

from typing import Any, Final

import msgspec
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import iter_route_contexts

from tocsin.model.records.service import ProblemDetails
from tocsin.server.api.operations import SCHEMAS, WRITES, Operation

PREFIX: Final = "/api/v1"
PROBLEM: Final = "application/problem+json"
_WRITES: Final = frozenset(map(str.lower, WRITES))
_OPERATIONS: Final = _WRITES | {"get"}

TAGS: Final = (
    ("pages", "The watch list: added, shown, edited, checked."),
    ("bulk", "One action on many pages, as a job."),
    ("imports", "Lists of pages in any format, streamed in."),
    ("jobs", "Work that goes on after its request was answered."),
    ("groups", "Settings of groups, and of all pages (T52)."),
    ("records", "What is stored of a page: states, verdicts, renderings, texts, and their differences."),
    ("questions", "Pages that could not be received, and what to do about them (T60)."),
    ("alerts", "Alerts, their deliveries, and dead letters."),
    ("storms", "Changes that many pages of a host had in common, reported once."),
    ("channels", "Where alerts go."),
    ("routes", "Which alerts go to which channels, and when."),
    ("silences", "Alerts that are not sent for a time."),
    ("digests", "Alerts that a channel gets together: what waits, what was sent, what was given up."),
    ("table", "The specification's plain-text table of states, streamed out and in."),
    ("service", "Settings in force, what the service does now, and what it did."),
    ("nodes", "The processes that work on the store, and what each does."),
    ("access", "Tokens, and who changed what; for administrators."),
)

ABOUT: Final = """\
Every error is a problem document (RFC 9457) that names the cause and the mend. Lists are paginated by cursor: pass
`next` as `cursor`. Edits need `If-Match` with the `ETag` of the version that they are based on. Writes accept an
`Idempotency-Key`: the same request with the same key is done once. Times are RFC 3339 in UTC; ids are strings of
digits; durations are written as `10s`, `6h`, `80d`. Secrets are masked. Long work is a job: the answer is 202, and
`Location` says where its progress is.
"""

_ERRORS: Final = {
    "400": "The request cannot be parsed.",
    "401": "A token is needed.",
    "403": "The token does not allow this, or the request comes from another site.",
    "408": "The body arrived too slowly.",
    "421": "Without a token the service does not answer under this name.",
    "422": "The request is invalid; `errors` or `detail` says why.",
    "429": "Too many requests, failures or jobs; Retry-After says when to try again.",
    "503": "The store cannot be used now; Retry-After says when to try again.",
}
_ERRORS_OF_WRITES: Final = {
    "409": "Conflicts with the current state, or the same request is being processed.",
    "413": "The body is too large.",
    "415": "The body has an unsupported type.",
}

_MADE: Final = frozenset({"201", "202"})
_LOCATION: Final = {"description": "of what was made, or of its progress", "schema": {"type": "string"}}


def describe(app: FastAPI) -> dict[str, Any]:
    """Write the description of an application's API once; the application keeps it."""
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
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    schemas |= _record_schemas(app)
    app.openapi_schema = found
    return found


def _record_schemas(app: FastAPI) -> dict[str, Any]:
    """Describe every record that operations answer with."""
    routes = (context.original_route for context in iter_route_contexts(app.routes))
    records = [record for route in routes if isinstance(route, Operation) for record in route.records]
    _, schemas = msgspec.json.schema_components([*records, ProblemDetails], ref_template=SCHEMAS)
    return schemas


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    responses = operation["responses"]
    errors = dict(_ERRORS)
    if method in _WRITES:
        errors |= _ERRORS_OF_WRITES
    if "{" in path:
        errors["404"] = "Not found."
    for status, why in errors.items():
        said = responses.get(status, {}).get("description", why)
        responses[status] = {"description": said}
    for status, response in responses.items():
        if status in _MADE:
            response["headers"] = {"Location": _LOCATION}
        if status >= "400":
            response["content"] = {PROBLEM: {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    operation["responses"] = dict(sorted(responses.items()))
    # Every operation accepts any of the three ways to present a token.
    operation["security"] = [{"token": []}, {"basic": []}, {"session": []}]
