"""*Nodes*: the processes that work on the store; each can be drained."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from tocsin.server.nodes import all_nodes, set_draining
from tocsin.server.parts import Administering, Given, Reading
from tocsin.server.web.rendering import go_on, page
from tocsin.server.web.settings import tabs_at
from tocsin.settings import Scope

router = APIRouter(include_in_schema=False)
_PATH = "/settings/nodes"
# A row has some 600 bytes; more nodes than a store can serve.
_MOST = 60


@router.get(_PATH)
async def nodes(request: Request, caller: Reading, parts: Given) -> Response:
    """List the nodes."""
    found = await all_nodes(parts)
    return await page(
        request,
        "nodes.html",
        tabs=tabs_at(_PATH),
        nodes=found.items[:_MOST],
        parts_alone=found.parts_alone,
        may=caller.may(Scope.ADMIN),
    )


@router.post("/settings/nodes/drain")
async def drain(request: Request, caller: Administering, parts: Given, name: Annotated[str, Form()] = "") -> Response:
    """Let a node give its work to the others."""
    await set_draining(parts, caller, name, draining=True)
    return go_on(request, _PATH, f"Node {name} gives its parts to the others.")


@router.post("/settings/nodes/undrain")
async def undrain(request: Request, caller: Administering, parts: Given, name: Annotated[str, Form()] = "") -> Response:
    """Let a node take its share again."""
    await set_draining(parts, caller, name, draining=False)
    return go_on(request, _PATH, f"Node {name} takes its share again.")
