"""A claim of all that a store has, for tests that write to it as an engine does."""

from __future__ import annotations

from datetime import timedelta

from tocsin.model import Claim, NodeIdentity
from tocsin.ports import NodeStore

LEASE = timedelta(seconds=10)
MOST = 4096


async def claim_all(store: NodeStore, node: str = "engine") -> Claim:
    """Take all parts of a store, away from any node that holds them; results under earlier claims are refused."""
    for row in await store.nodes():
        await store.leave(NodeIdentity(row.node, row.entered_at))
    me = await store.enter(node, LEASE, {})
    assert me is not None
    taken = await store.take_parts(me, MOST, expired=True)
    # No node is left behind that has a share: an engine of this name takes over at once.
    await store.renew_node(me, timedelta())
    return Claim(node, tuple(part.epoch for part in taken))
