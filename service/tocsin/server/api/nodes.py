"""Nodes: the processes that work on the store."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path

from tocsin.model.records.nodes import Node, Nodes
from tocsin.server.api.operations import make_router
from tocsin.server.nodes import all_nodes, set_draining
from tocsin.server.parts import Administering, Given, Reading

router = make_router("nodes")

Name = Annotated[str, Path(min_length=1, max_length=253, examples=["tocsin-1"])]


@router.get("/nodes", summary="List nodes", operation_id="list_nodes")
async def list_nodes(_: Reading, parts: Given) -> Nodes:
    """List the processes that work on the store, with what each does, also those whose lease ran out."""
    return await all_nodes(parts)


@router.post("/nodes/{name}/drain", summary="Drain a node", operation_id="drain_node")
async def drain(caller: Administering, parts: Given, name: Name) -> Node:
    """Let a node give its work to the others; its pages in hand are finished. It lasts until the node ends."""
    return await set_draining(parts, caller, name, draining=True)


@router.post("/nodes/{name}/undrain", summary="End the draining of a node", operation_id="undrain_node")
async def undrain(caller: Administering, parts: Given, name: Name) -> Node:
    """Let a node take its share of the work again."""
    return await set_draining(parts, caller, name, draining=False)
