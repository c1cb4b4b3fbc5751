"""*Machines*: the nodes that work on the store, fetchers and the store; a node can be drained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response
from msgspec import Struct

from tocsin.model.records.nodes import Node
from tocsin.server.nodes import all_nodes, set_draining
from tocsin.server.parts import Administering, Given, Reading
from tocsin.server.web.rendering import go_on, page
from tocsin.settings import Scope

router = APIRouter(include_in_schema=False)
_PATH: Final = "/machines"
# A row has some 600 bytes; more nodes than a store can serve.
_MOST: Final = 60
_WIDTH: Final = 640
_GAP: Final = 2


class PartsOfNode(Struct, frozen=True):
    """The parts of the hosts that a node works on, as a piece of a bar.

    name     of the node; "" for parts that no node works on
    is_lost  no node checks their pages now
    """

    name: str
    parts: int
    x: float
    width: float
    is_lost: bool


def draw_shares(nodes: Sequence[Node], parts_alone: int) -> list[PartsOfNode]:
    """Draw who works on which share of the hosts; nothing where one node has all."""
    # The parts of a node that is gone are alone, until another one takes them.
    alone = max(parts_alone - sum(node.parts for node in nodes if node.state == "gone"), 0)
    pieces = [(node.node, node.parts, node.state == "gone") for node in nodes if node.parts] + [
        ("", alone, True)
    ] * bool(alone)
    if len(pieces) <= 1:
        return []
    found, at, all_parts = [], 0, sum(parts for _, parts, _ in pieces)
    for name, parts, is_lost in pieces:
        x, end = _WIDTH * at / all_parts, _WIDTH * (at + parts) / all_parts
        found.append(PartsOfNode(name, parts, round(x, 1), round(max(end - x - _GAP, 1), 1), is_lost))
        at += parts
    return found


@router.get(_PATH)
@router.get("/settings/nodes")
async def machines(request: Request, caller: Reading, parts: Given) -> Response:
    """Show the machines."""
    found, settings = await all_nodes(parts), parts.service.settings()
    return await page(
        request,
        "machines.html",
        nodes=found.items[:_MOST],
        parts_alone=found.parts_alone,
        all_parts=sum(node.parts for node in found.items),
        shares=draw_shares(found.items[:_MOST], found.parts_alone),
        live=parts.service.live(),
        settings=settings,
        lease_s=settings.cluster.lease.total_seconds(),
        may=caller.may(Scope.ADMIN),
    )


@router.post("/settings/nodes/drain")
async def drain(request: Request, caller: Administering, parts: Given, name: Annotated[str, Form()] = "") -> Response:
    """Let a node give its work to the others."""
    await set_draining(parts, caller, name, draining=True)
    return go_on(request, _PATH, "draining", node=name)


@router.post("/settings/nodes/undrain")
async def undrain(request: Request, caller: Administering, parts: Given, name: Annotated[str, Form()] = "") -> Response:
    """Let a node take its share again."""
    await set_draining(parts, caller, name, draining=False)
    return go_on(request, _PATH, "undrained", node=name)
