"""Routes and silences over the API."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

from fastapi import Body, Path, Query, Response
from pydantic import ConfigDict, Field

from tocsin.errors import FieldErrors, UsageError
from tocsin.model import SavedKind
from tocsin.model.records.fields import Part
from tocsin.model.records.routing import (
    ConfiguredRoute,
    RoutePreviewed,
    SilenceEntry,
    silence_of,
)
from tocsin.server.api.operations import (
    IfMatch,
    Input,
    NumberInPath,
    PartOf,
    make_router,
    problems,
    revision_wanted,
    tag,
)
from tocsin.server.api.questions import moment_of
from tocsin.server.decisions import missing
from tocsin.server.notifications import (
    MOST_PREVIEWED,
    add_silence,
    demand_saved,
    end_silence,
    entry_of,
    latest_alerts,
    preview_route,
    previewed_of,
    remove_entry,
    save_route,
    show_routes,
)
from tocsin.server.parts import Given, Parts, Reading, Writing

routes = make_router("routes")
silences = make_router("silences")

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")
_EXAMPLE: Final[dict[str, Any]] = {
    "name": "press",
    "channels": ["ops"],
    "match": {"group": ["press"]},
    "digest": "0 7 * * mon-fri",
}

Name = Annotated[str, Path(min_length=1, max_length=63, examples=["press"])]
RouteBody = Annotated[
    dict[str, Any],
    Body(
        description="the keys of `[[routes]]` in the configuration; an unknown one is refused with the nearest known",
        examples=[_EXAMPLE],
    ),
]


class RouteToPreview(Input):
    """A route that need not be saved."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"route": _EXAMPLE, "last": 50}]})

    route: Annotated[dict[str, Any], Field(description="as in `POST /routes`")]
    last: Annotated[int, Field(ge=1, le=MOST_PREVIEWED, description="how many of the latest alerts are tried")] = 50


class SilenceToAdd(Input):
    """Alerts that are not to be sent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"match": {"host": "staging.example.org"}, "until": "7d", "reason": "relaunch"}]
        }
    )

    match: Annotated[dict[str, Any], Field(description="as in routes; at least one key")]
    until: Annotated[
        str | None, Field(max_length=40, description="a time with its offset, or a duration; null: until you end it")
    ] = None
    reason: Annotated[str, Field(max_length=500)] = ""


@routes.get("/routes", summary="List routes", operation_id="list_routes")
async def list_routes(_: Reading, parts: Given) -> Part[ConfiguredRoute]:
    """List the routes from top to bottom; without any, every channel gets every alert.

    Those of the configuration come first and are read-only; `source` names it.
    """
    return Part(items=show_routes(parts), next=None)


@routes.get("/routes/{name}", summary="Show a route", operation_id="show_route")
async def show_route(_: Reading, parts: Given, response: Response, name: Name) -> ConfiguredRoute:
    """Show a route; one that was made at run time has the ETag that an edit needs."""
    return _route(parts, response, name)


@routes.post("/routes", status_code=201, summary="Make a route", operation_id="add_route", responses=problems(409))
async def add_route(caller: Writing, parts: Given, response: Response, wanted: RouteBody) -> ConfiguredRoute:
    """Make a route below the others; it holds for alerts that are written from now on."""
    name = name_in(wanted, "route")
    await save_route(parts, caller, name, _without_name(wanted), if_revision=0)
    response.headers["Location"] = f"/api/v1/routes/{name}"
    return _route(parts, response, name)


@routes.put(
    "/routes/{name}", summary="Replace a route", operation_id="replace_route", responses=problems(409, 412, 428)
)
async def replace_route(
    caller: Writing, parts: Given, response: Response, name: Name, wanted: RouteBody, if_match: IfMatch = None
) -> ConfiguredRoute:
    """Replace a route that was made at run time; its place stays."""
    revision = saved_revision(parts, "route", name, if_match)
    await save_route(parts, caller, name, _without_name(wanted), if_revision=revision)
    return _route(parts, response, name)


@routes.delete(
    "/routes/{name}",
    status_code=204,
    summary="Remove a route",
    operation_id="remove_route",
    responses=problems(409, 412),
)
async def remove_route(caller: Writing, parts: Given, name: Name, if_match: IfMatch = None) -> None:
    """Remove a route that was made at run time; its open digests are sent at once."""
    revision = saved_revision(parts, "route", name, if_match, needed=False)
    await remove_entry(parts, caller, "route", name, if_revision=revision)


@routes.post("/routes/preview", summary="Preview a route", operation_id="preview_route")
async def show_preview(_: Reading, parts: Given, wanted: RouteToPreview) -> RoutePreviewed:
    """Say which of the latest alerts a route would have taken, and why not the others; nothing is stored or sent."""
    name = name_in(wanted.route, "route")
    alerts = await latest_alerts(parts, wanted.last)
    return previewed_of(await preview_route(parts, name, _without_name(wanted.route), alerts), alerts)


@silences.get("/silences", summary="List silences", operation_id="list_silences")
async def list_silences(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[SilenceEntry]:
    """List silences, newest first, ended ones too."""
    if asked.cursor is not None and not _NUMBER.fullmatch(asked.cursor):
        raise UsageError("cursor: invalid; pass the `next` value of the previous part, or leave it out")
    before = None if asked.cursor is None else int(asked.cursor)
    found = await parts.store.silences(limit=asked.limit, before=before)
    following = str(found[-1].id) if len(found) == asked.limit else None
    return Part(items=[silence_of(silence) for silence in found], next=following)


@silences.post("/silences", status_code=201, summary="Make a silence", operation_id="add_silence")
async def make_silence(caller: Writing, parts: Given, response: Response, wanted: SilenceToAdd) -> SilenceEntry:
    """Hold back alerts that match: they are listed and counted, and can be delivered afterwards."""
    now = parts.clock.now()
    until = moment_of(wanted.until, now, name="until") if wanted.until is not None else None
    silence = await add_silence(parts, caller, wanted.match, until=until, reason=wanted.reason)
    response.headers["Location"] = "/api/v1/silences"
    return silence_of(silence)


@silences.delete("/silences/{number}", status_code=204, summary="End a silence", operation_id="end_silence")
async def stop_silence(caller: Writing, parts: Given, number: NumberInPath) -> None:
    """End a silence before its time; what it held back stays so until you deliver it."""
    await end_silence(parts, caller, int(number))


def name_in(given: dict[str, Any], kind: str) -> str:
    """Return the name in a body. Raises FieldErrors."""
    name = given.get("name")
    if not isinstance(name, str) or not name:
        raise FieldErrors(f"{kind}s", [("name", 'it is missing; give it, as in "name": "press"')])
    return name


def saved_revision(
    parts: Parts, kind: SavedKind, name: str, if_match: str | None, *, needed: bool = True
) -> int | None:
    """Read the revision that an edit of a channel or route is based on, as `revision_wanted`.

    Raises Problem where there is none of this name, or the configuration has it.
    """
    return revision_wanted(if_match, current=demand_saved(parts, kind, name).revision, needed=needed)


def tag_saved(parts: Parts, response: Response, kind: SavedKind, name: str) -> None:
    """Set the ETag of a channel or route that was made at run time."""
    entry = entry_of(parts, kind, name)
    if entry is not None:
        tag(response, entry.revision)


def _without_name(given: dict[str, Any]) -> dict[str, Any]:
    # What was shown may come back as it is.
    return {key: value for key, value in given.items() if key not in {"name", "source", "error"} and value is not None}


def _route(parts: Parts, response: Response, name: str) -> ConfiguredRoute:
    tag_saved(parts, response, "route", name)
    for route in show_routes(parts):
        if route.name == name:
            return route
    raise missing("route", name, "GET /api/v1/routes")
