"""A database of a hundred million pages as a model: who holds what, when each host is due, and what statements cost.

Every page is checked once a day, and those of a host follow each other evenly, so that one number says all of a host:
how many of its checks were committed so far.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from benchmarks.cluster.virtual import VirtualClock
from tocsin.errors import StaleClaim, StoreError
from tocsin.model import (
    CheckOrder,
    CheckResult,
    Claim,
    CommittedResults,
    Instant,
    JsonObject,
    Membership,
    NodeIdentity,
    PageTask,
    TakenPart,
)

_SECOND: Final = 1_000_000
DAY_US: Final = 86_400 * _SECOND
# The longest time that a node waits for a database that does not answer (`tcp_user_timeout`).
_UNANSWERED_S: Final = 8.0


class Costs(NamedTuple):
    """What statements take, as measured on the real ones (`./dev bench postgresql`, docs/speed.md).

    page_us     of the database for an unchanged check: reading that it is due, and writing it
    renewal_us  for a renewal of a lease, or a taking of parts
    host_us     for each host of an agenda that is read
    round_s     on the way to the database and back
    cores       that the database has
    """

    page_us: float = 26.0
    renewal_us: float = 300.0
    host_us: float = 3.0
    round_s: float = 0.001
    cores: int = 4


class ModelledDatabase:
    """What all nodes share.

    away_until_s  it answers nothing before
    """

    def __init__(self, clock: VirtualClock, *, hosts: int, pages_a_host: int, parts: int, costs: Costs) -> None:
        self._clock, self._costs = clock, costs
        self.pages_a_host, self.parts, self._interval = pages_a_host, parts, DAY_US // pages_a_host
        self._began = clock.now()
        self.done = array("q", bytes(8 * hosts))
        self.holders: list[str | None] = [None] * parts
        self.epochs = [0] * parts
        self._left_s = [0.0] * parts
        self.nodes: dict[str, tuple[int, float, bool]] = {}
        self.away_until_s = 0.0
        self._cores_s = [0.0] * costs.cores
        self.cpu_s = 0.0
        self.committed = self.refused = self.twice = 0
        self.taken: list[tuple[float, int, str, float]] = []

    def due_of(self, host: int) -> Instant:
        """When the next page of a host is due: the hosts have their places evenly in an interval."""
        place = host * self._interval // len(self.done)
        return self._began + place + self.done[host] * self._interval

    def part_of(self, host: int) -> int:
        """The part of a host."""
        return host % self.parts

    async def spend(self, cpu_us: float) -> None:
        """Wait for a core of the database, and for the way there."""
        now_s = self._clock.monotonic()
        if now_s < self.away_until_s:
            await self._clock.sleep(min(self.away_until_s - now_s, _UNANSWERED_S))
            raise StoreError("the database is away")
        core = min(range(len(self._cores_s)), key=self._cores_s.__getitem__)
        ends_s = self._cores_s[core] = max(now_s, self._cores_s[core]) + cpu_us / 1e6
        self.cpu_s += cpu_us / 1e6
        await self._clock.sleep(ends_s - now_s + self._costs.round_s)

    @property
    def costs(self) -> Costs:
        """What statements take."""
        return self._costs

    def is_alive(self, node: str) -> bool:
        """Whether a node has a lease in force."""
        return node in self.nodes and self.nodes[node][1] > self._clock.monotonic()

    def hold(self, part: int, node: str | None) -> float:
        """Give a part a holder; returns for how long it had none."""
        now_s, before = self._clock.monotonic(), self.holders[part]
        left_s = self.nodes[before][1] if before is not None and before in self.nodes else self._left_s[part]
        self.holders[part], self._left_s[part] = node, now_s
        self.epochs[part] += 1
        if node is not None:
            self.taken.append((now_s, part, node, now_s - left_s))
        return now_s - left_s


class ModelledStore:
    """One node's way to the database; implements what the engine's scheduling asks of a store.

    is_gone  the node was killed: nothing that it asks for is answered
    """

    def __init__(self, database: ModelledDatabase, clock: VirtualClock) -> None:
        self._db, self._clock = database, clock
        self.is_gone = False
        self._is_told = False

    async def _spend(self, cpu_us: float) -> None:
        await self._db.spend(cpu_us)
        if self.is_gone:
            await asyncio.Event().wait()

    @property
    def is_shared(self) -> bool:
        """There are other nodes."""
        return True

    async def keep_place(self) -> bool:
        """There is no file to lose."""
        return False

    async def enter(self, node: str, lease: timedelta, said: JsonObject) -> NodeIdentity | None:  # noqa: ARG002 - as the port
        """See ports.NodeStore."""
        await self._spend(self._db.costs.renewal_us)
        if self._db.is_alive(node):
            return None
        incarnation = round(self._clock.monotonic() * _SECOND)
        self._db.nodes[node] = (incarnation, self._clock.monotonic() + lease.total_seconds(), False)
        return NodeIdentity(node, incarnation)

    async def renew_node(self, me: NodeIdentity, lease: timedelta, said: JsonObject | None = None) -> Membership:  # noqa: ARG002 - as the port
        """See ports.NodeStore."""
        await self._spend(self._db.costs.renewal_us)
        _, _, draining = self._mine(me)
        self._db.nodes[me.node] = (me.incarnation, self._clock.monotonic() + lease.total_seconds(), draining)
        counted = Counter(self._db.holders)
        living = [node for node, row in self._db.nodes.items() if self._db.is_alive(node) and not row[2]]
        ahead = sum((-counted[node], node) < (-counted[me.node], me.node) for node in living)
        held = {part: self._db.epochs[part] for part, holder in enumerate(self._db.holders) if holder == me.node}
        return Membership(len(living), draining=draining, parts=self._db.parts, held=held, ahead=ahead)

    async def take_parts(self, me: NodeIdentity, most: int, *, expired: bool) -> list[TakenPart]:
        """See ports.NodeStore."""
        await self._spend(self._db.costs.renewal_us)
        self._mine(me)
        free = [
            part
            for part, holder in enumerate(self._db.holders)
            if holder is None or (expired and not self._db.is_alive(holder))
        ]
        return [TakenPart(part, self._db.epochs[part] + 1, self._db.hold(part, me.node)) for part in free[:most]]

    async def give_back(self, me: NodeIdentity, parts: Collection[int]) -> None:
        """See ports.NodeStore."""
        await self._spend(self._db.costs.renewal_us)
        for part in parts:
            if self._db.holders[part] == me.node:
                self._db.hold(part, None)

    async def leave(self, me: NodeIdentity) -> None:
        """See ports.NodeStore."""
        await self.give_back(me, range(self._db.parts))
        self._db.nodes.pop(me.node, None)

    async def drain_node(self, node: str, *, draining: bool) -> bool:
        """See ports.NodeStore."""
        await self._spend(self._db.costs.renewal_us)
        incarnation, until_s, _ = self._db.nodes[node]
        self._db.nodes[node] = (incarnation, until_s, draining)
        return True

    def _mine(self, me: NodeIdentity) -> tuple[int, float, bool]:
        row = self._db.nodes.get(me.node)
        if row is None or row[0] != me.incarnation:
            raise StaleClaim("another process of this name")
        return row

    async def overrides(self) -> tuple[JsonObject, dict[int, tuple[str, JsonObject]]]:
        """Nothing is set."""
        return {}, {}

    async def wake_off(self, now: Instant, *, mode: str) -> int:  # noqa: ARG002 - as the port
        """No page is off."""
        return 0

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        """All are."""
        return set(page_ids)

    async def hosts_received_last(self, limit: int) -> list[tuple[int, Instant]]:  # noqa: ARG002 - as the port
        """There is no outage."""
        return []

    async def foreign_revision(self) -> int | None:
        """Nobody edits."""
        was_told, self._is_told = self._is_told, True
        return None if was_told else 1

    async def host_agenda(self, claim: Claim, *, since_revision: int | None) -> AsyncIterator[tuple[int, Instant]]:
        """See ports.WorkStore; an edit is none of a host."""
        parts = claim.parts if since_revision is None else []
        hosts = len(self._db.done) * len(parts) // self._db.parts
        await self._spend(self._db.costs.host_us * hosts)
        return self._agenda(parts)

    async def _agenda(self, parts: Sequence[int]) -> AsyncIterator[tuple[int, Instant]]:
        for part in parts:
            for host in range(part, len(self._db.done), self._db.parts):
                yield host, self._db.due_of(host)

    async def due_pages(
        self,
        claim: Claim,
        host_ids: Sequence[int],
        now: Instant,
        *,
        per_host: int,  # noqa: ARG002 - one page of a host at a time is enough
        request_id: int | None = None,  # noqa: ARG002 - as the port
    ) -> list[PageTask]:
        """See ports.WorkStore."""
        await self._spend(self._db.costs.page_us / 2 * len(host_ids))
        found = []
        for host in host_ids:
            part, due = self._db.part_of(host), self._db.due_of(host)
            if claim.epochs[part] and due <= now:
                page = host * self._db.pages_a_host + self._db.done[host] % self._db.pages_a_host
                order = CheckOrder(due_at=due, part=part, epoch=claim.epochs[part])
                found.append(PageTask(page, host, f"h{host}", f"http://h{host}/", 1, None, None, order=order))
        return found

    async def commit(self, claim: Claim, results: Sequence[CheckResult]) -> CommittedResults:
        """See ports.WorkStore."""
        await self._spend(self._db.costs.page_us / 2 * len(results))
        due: dict[int, Instant | None] = {}
        refused = 0
        for result in results:
            order, host = result.order, result.host_id
            if self._db.holders[order.part] != claim.node or self._db.epochs[order.part] != order.epoch:
                refused += 1
                continue
            if order.due_at != self._db.due_of(host):
                self._db.twice += 1
                continue
            self._db.done[host] += 1
            due[host] = self._db.due_of(host)
        self._db.committed += len(results) - refused
        self._db.refused += refused
        return CommittedResults(due, refused)
