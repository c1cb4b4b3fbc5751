"""Nodes and parts in memory, for engines that share a store: what `ports.NodeStore` says, on a clock of the test."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta

from msgspec import Struct

from tests.fakes import ManualClock
from tocsin.errors import StaleClaim, StoreError
from tocsin.model import JsonObject, Membership, NodeIdentity, TakenPart

AWAY = StoreError("the server cannot be reached")


class NodeState(Struct):
    """A node as its row has it."""

    incarnation: int
    until_s: float
    draining: bool = False
    said: JsonObject = {}


class PartState(Struct):
    """A part as its row has it."""

    node: str | None = None
    epoch: int = 0
    left_s: float = float("-inf")


class SharedNodes:
    """What several nodes share. It is reached through a `NodeLink` of each."""

    def __init__(self, clock: ManualClock, parts: int) -> None:
        self.clock = clock
        self.nodes: dict[str, NodeState] = {}
        self.parts = [PartState() for _ in range(parts)]

    def is_alive(self, node: str | None) -> bool:
        """Tell whether the lease of a node is in force."""
        return node in self.nodes and self.nodes[node].until_s > self.clock.monotonic()

    def held_by(self, node: str) -> set[int]:
        """The parts that a node holds."""
        return {number for number, part in enumerate(self.parts) if part.node == node}


class NodeLink:
    """One node's way to what all share.

    is_cut   lets nothing through
    ahead_s  of the database's clock, that of this node
    """

    is_shared = True

    def __init__(self, shared: SharedNodes) -> None:
        self._shared = shared
        self.is_cut = False
        self.ahead_s = 0.0

    @property
    def _now_s(self) -> float:
        if self.is_cut:
            raise AWAY
        return self._shared.clock.monotonic()

    async def keep_place(self) -> bool:
        return False

    async def enter(self, node: str, lease: timedelta, _said: JsonObject) -> NodeIdentity | None:
        now_s, nodes = self._now_s, self._shared.nodes
        if self._shared.is_alive(node):
            return None
        for part in self._shared.parts:
            if part.node == node:
                part.node, part.epoch, part.left_s = None, part.epoch + 1, nodes[node].until_s
        before = nodes[node].incarnation if node in nodes else 0
        nodes[node] = NodeState(before + 1, now_s + lease.total_seconds())
        return NodeIdentity(node, before + 1)

    async def renew_node(self, me: NodeIdentity, lease: timedelta, said: JsonObject | None = None) -> Membership:
        now_s, nodes = self._now_s, self._shared.nodes
        row = nodes.get(me.node)
        if row is None or row.incarnation != me.incarnation:
            raise StaleClaim("replaced")
        row.until_s, row.said = now_s + lease.total_seconds(), said or {}
        alive = [node for node, state in nodes.items() if self._shared.is_alive(node) and not state.draining]
        ranks = {node: (-len(self._shared.held_by(node)), node) for node in (*alive, me.node)}
        ahead = sum(ranks[node] < ranks[me.node] for node in alive)
        now = self._shared.clock.now() - round(self.ahead_s * 1_000_000)
        held = {number: part.epoch for number, part in enumerate(self._shared.parts) if part.node == me.node}
        return Membership(len(alive), row.draining, len(self._shared.parts), held, ahead, now)

    async def take_parts(self, me: NodeIdentity, most: int, *, expired: bool) -> list[TakenPart]:
        now_s, taken = self._now_s, list[TakenPart]()
        for number, part in enumerate(self._shared.parts):
            if part.node is not None and not (expired and not self._shared.is_alive(part.node)):
                continue
            if len(taken) < most:
                left_s = part.left_s if part.node is None else self._shared.nodes[part.node].until_s
                part.node, part.epoch = me.node, part.epoch + 1
                taken.append(TakenPart(number, part.epoch, now_s - left_s))
        return taken

    async def give_back(self, me: NodeIdentity, parts: Collection[int]) -> None:
        now_s = self._now_s
        for number in parts:
            part = self._shared.parts[number]
            if part.node == me.node:
                part.node, part.epoch, part.left_s = None, part.epoch + 1, now_s

    async def leave(self, me: NodeIdentity) -> None:
        await self.give_back(me, self._shared.held_by(me.node))
        self._shared.nodes.pop(me.node, None)

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        self._shared.nodes[node].draining = draining
        return True
