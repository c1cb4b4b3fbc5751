"""The demo site, one click away."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tocsin.model import DEMO_GROUP
from tocsin.server.access.auditing import audit
from tocsin.server.access.rights import Writing
from tocsin.server.parts import Given
from tocsin.server.web.listing import Asked
from tocsin.server.web.notices import Undo, go_on
from tocsin.server.web.words import count

router = APIRouter(include_in_schema=False)


@router.post("/demo")
async def begin(request: Request, caller: Writing, parts: Given) -> Response:
    """Watch the demo site."""
    await parts.service.demo.begin()
    await audit(parts, caller, "demo.begin")
    said = "The demo site is being watched. The first change comes within half a minute."
    return go_on(request, Asked(group=DEMO_GROUP).path(), said)


@router.post("/demo/remove")
async def end(request: Request, caller: Writing, parts: Given) -> Response:
    """Take the demo site off the list, and nothing else."""
    number = await parts.service.demo.end()
    await audit(parts, caller, "demo.end", pages=number)
    undo = Undo("/demo", "Undo: watch it again", {})
    return go_on(request, "/", f"Removed the demo site and its {count(number, 'page')}.", undo=undo)
