"""The nodes of the store, for web pages and API: listed, drained."""

from __future__ import annotations

from tocsin.model.records.nodes import Node, Nodes, nodes_of
from tocsin.server.access.auditing import audit
from tocsin.server.decisions import missing
from tocsin.server.parts import Caller, Parts


async def all_nodes(parts: Parts) -> Nodes:
    """Read the nodes of the store, with what each does."""
    store = parts.store
    return nodes_of(await store.nodes(), await store.leases(), await store.parts_alone(), parts.clock.now())


async def set_draining(parts: Parts, caller: Caller, name: str, *, draining: bool) -> Node:
    """Let a node give its work to the others, or take its share again; audited. Raises Problem for an unknown one."""
    is_known = await parts.store.drain_node(name, draining=draining)
    # It may have left meanwhile.
    found = next((node for node in (await all_nodes(parts)).items if node.node == name), None)
    if not is_known or found is None:
        raise missing("node", name, "GET /api/v1/nodes")
    await audit(parts, caller, "node.drain" if draining else "node.undrain", node=name)
    return found
