"""Routes and silences over the API."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import Query

from tocsin.errors import UsageError
from tocsin.model.records.fields import Part
from tocsin.model.records.routing import ConfiguredRoute, SilenceEntry, route_of, silence_of
from tocsin.server.api.operations import PartOf, make_router
from tocsin.server.parts import Given, Reading

routes = make_router("routes")
silences = make_router("silences")

_NUMBER: Final = re.compile(r"[1-9][0-9]{0,17}")


@routes.get("/routes", summary="List routes", operation_id="list_routes")
async def list_routes(_: Reading, parts: Given) -> Part[ConfiguredRoute]:
    """List the routes in force, from top to bottom; without any, every channel gets every alert."""
    return Part(items=[route_of(route) for route in parts.service.settings().routes], next=None)


@silences.get("/silences", summary="List silences", operation_id="list_silences")
async def list_silences(_: Reading, parts: Given, asked: Annotated[PartOf, Query()]) -> Part[SilenceEntry]:
    """List silences, newest first, ended ones too."""
    if asked.cursor is not None and not _NUMBER.fullmatch(asked.cursor):
        raise UsageError("cursor: invalid; pass the `next` value of the previous part, or leave it out")
    before = None if asked.cursor is None else int(asked.cursor)
    found = await parts.store.silences(limit=asked.limit, before=before)
    following = str(found[-1].id) if len(found) == asked.limit else None
    return Part(items=[silence_of(silence) for silence in found], next=following)
