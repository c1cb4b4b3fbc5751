"""The nodes that work on a store: their leases, the parts of the hosts, and what one node at a time does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import timedelta

    from tocsin.model import JsonObject, LeaseRow, Membership, NamedLease, NodeIdentity, NodeRow, TakenPart


class NodeStore(Protocol):
    """Only the database's clock counts, so that clocks of nodes may differ.

    None of these waits for other work that this process gave the store. Each is one short transaction.
    """

    @property
    def is_shared(self) -> bool:
        """Whether several nodes can work on the store; else a lock keeps others away from the only one."""

    async def enter(self, node: str, lease: timedelta, said: JsonObject) -> NodeIdentity | None:
        """Begin the lease of a node; None while another process of this name has one.

        Parts and named leases of an earlier process of this name are free again. Nodes whose lease ended more than a
        day ago are forgotten.
        """

    async def renew_node(self, me: NodeIdentity, lease: timedelta, said: JsonObject | None = None) -> Membership:
        """Extend the lease of a node, also one that has run out; parts that no other node took meanwhile stay its own.

        said  replaces what the node said before
        Raises StaleClaim if another process of this name entered, or the node left.
        """

    async def take_parts(self, me: NodeIdentity, most: int, *, expired: bool) -> list[TakenPart]:
        """Take parts that no node holds; returns at most `most`, none if this node has no lease in force.

        expired  take also parts of nodes whose lease ran out. Only a node that renewed its own lease without a gap for
                 a whole lease may do so: after a restart of the database the first node to come back would take all.
        """

    async def give_back(self, me: NodeIdentity, parts: Collection[int]) -> None:
        """Let other nodes take these parts; their epochs end. Parts of other nodes stay as they are."""

    async def leave(self, me: NodeIdentity) -> None:
        """End the lease of a node, and give back its parts and its named leases."""

    async def nodes(self) -> list[NodeRow]:
        """List all nodes by name, also those whose lease ran out."""

    async def parts_alone(self) -> int:
        """Count the parts that no node with a lease in force holds."""

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        """Let a node give its parts to the others, or take parts again; False if there is no node of this name.

        It lasts until the process of that node ends.
        """

    async def take_lease(self, me: NodeIdentity, name: str, lease: timedelta) -> NamedLease | None:
        """Take a named lease; None while another node has it. A node that has it gets a new epoch."""

    async def renew_leases(self, leases: Sequence[NamedLease], lease: timedelta) -> list[NamedLease]:
        """Extend named leases, also those that have run out; returns those that no other node took."""

    async def release_leases(self, leases: Sequence[NamedLease]) -> None:
        """Let other nodes take these leases at once. Those that were taken by now stay as they are."""

    async def leases(self) -> list[LeaseRow]:
        """List all named leases by name, also those that have run out."""
