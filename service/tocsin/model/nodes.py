"""Nodes: processes that work on one store, and what each of them holds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject

NodeState: TypeAlias = Literal["working", "draining", "gone"]


class NodeIdentity(Struct, frozen=True):
    """One process among those that work on a store.

    incarnation  when it entered, by the database's clock: tells it from another process of the same name
    """

    node: str
    incarnation: int


class Membership(Struct, frozen=True):
    """What a node learns as it renews its lease.

    alive     nodes with a lease in force that do not drain; this one counts unless it drains
    draining  this node is to give back what it holds, and to take nothing
    parts     how many parts the store has
    held      the parts of this node, each with its epoch
    ahead     living nodes that hold more parts than this one, or as many and come first by name: they are the first to
              have one more where the parts cannot be shared evenly
    now       the database's time, where other nodes can work on the store
    """

    alive: int
    draining: bool
    parts: int
    held: dict[int, int]
    ahead: int = 0
    now: Instant | None = None


class TakenPart(Struct, frozen=True):
    """A part that this node took.

    epoch    grows with each change of the holder; what is written under an older one is refused
    alone_s  for how many seconds no node held it. It counts as years where a store's only engine starts: what is
             overdue is to be spread then, however short the pause was
    """

    part: int
    epoch: int
    alone_s: float


class NamedLease(Struct, frozen=True):
    """The right of a node to do what one node at a time does, such as "leader" or "channel:ops".

    epoch  grows with each taking; what is written under an older one is refused
    """

    name: str
    node: str
    epoch: int


class LeaseRow(Struct, frozen=True):
    """A named lease as all see it.

    node    the one that has it, or had it last
    left_s  seconds until it ends; not positive: it is free
    """

    name: str
    node: str
    left_s: float


def node_state(left_s: float, *, draining: bool) -> NodeState:
    """Tell the state of a node by its lease: one that did not renew it is gone."""
    return "gone" if left_s <= 0 else "draining" if draining else "working"


class NodeRow(Struct, frozen=True):
    """A node as all see it.

    entered_at  when its process came, by the database's clock
    left_s      seconds until its lease ends; not positive: it did not renew it
    said        of itself: version, address, counts
    """

    node: str
    entered_at: Instant
    left_s: float
    draining: bool
    parts: int
    said: JsonObject
