"""The nodes that work on one store, as surfaces show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final

from msgspec import Meta

from tocsin.model.common import Instant, to_rfc3339
from tocsin.model.nodes import LeaseRow, NodeRow, NodeState, node_state
from tocsin.model.records.fields import Number, Part, Record, Time

_SECOND: Final = 1_000_000


class Node(Record, frozen=True):
    """A process that works on the store."""

    node: Annotated[str, Meta(description="its name", examples=["tocsin-1"])]
    state: Annotated[NodeState, Meta(description="gone: its lease ran out, and the other nodes take its parts")]
    lease_s: Annotated[float, Meta(title="Lease", description="seconds until its lease ends; negative: since it did")]
    parts: Annotated[Number, Meta(description="parts of the hosts that it works on")]
    duties: Annotated[list[str], Meta(description="what it alone does: leader, channel:NAME", examples=[["leader"]])]
    checks: Annotated[Number, Meta(description="that it wrote since it came")]
    checks_per_s: Annotated[float, Meta(title="Checks/s", description="on average since it came")]
    version: Annotated[str | None, Meta(description="null: it did not say")]
    address: Annotated[str | None, Meta(description="of its web pages; null: it did not say")]
    entered_at: Annotated[Time, Meta(title="Since", description="by the clock of the database")]


class Nodes(Part[Node], frozen=True):
    """The nodes of a store, and what none of them works on."""

    parts_alone: Annotated[Number, Meta(description="parts that no node with a lease works on; their pages wait")]


def nodes_of(rows: Sequence[NodeRow], leases: Sequence[LeaseRow], parts_alone: int, now: Instant) -> Nodes:
    """Show all nodes of a store by name."""
    return Nodes(items=[_node_of(row, leases, now) for row in rows], next=None, parts_alone=parts_alone)


def _node_of(row: NodeRow, leases: Sequence[LeaseRow], now: Instant) -> Node:
    checks = _number(row.said.get("checks"))
    # Its clock is the database's: where ours is behind, it came less than a second ago.
    return Node(
        node=row.node,
        state=node_state(row.left_s, draining=row.draining),
        lease_s=round(row.left_s, 1),
        parts=row.parts,
        duties=[lease.name for lease in leases if lease.node == row.node and lease.left_s > 0],
        checks=checks,
        checks_per_s=round(checks * _SECOND / max(now - row.entered_at, _SECOND), 1),
        version=_text(row.said.get("version")),
        address=_text(row.said.get("address")),
        entered_at=to_rfc3339(row.entered_at),
    )


# What a node says of itself may be another version's.
def _number(said: Any) -> int:
    return said if isinstance(said, int) and said >= 0 else 0


def _text(said: Any) -> str | None:
    return said if isinstance(said, str) and said else None
