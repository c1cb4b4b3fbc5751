"""What a cluster is made to suffer, one trouble after the other."""

from __future__ import annotations

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from benchmarks.cluster.evidence import is_in_transaction
from benchmarks.cluster.nodes import LEASE_S, Node, clock_library
from benchmarks.cluster.proxy import Direction
from benchmarks.cluster.site import ClusterReceivers, ClusterSite, until
from benchmarks.postgres import PostgresProcess

# Longer than the slowest request, and what a page may take in hand.
_LEAVES_S: Final = 15.0
_STARTS_S: Final = 60.0
_WRONG_S: Final = 3600.0
_TRIES: Final = 300


class Cluster:
    """Nodes, two databases of which one is the primary, and notes of what was done to them.

    nodes     those that are meant to run
    outages   from when to when nothing could be checked
    deaths    nodes that could not renew their lease, and since when
    met       how often each trouble was made
    findings  what went wrong beside the logs
    """

    def __init__(
        self, folder: Path, site: ClusterSite, receivers: ClusterReceivers, chance: Random, *, every_s: float
    ) -> None:
        self.folder, self.site, self.receivers, self.chance, self.every_s = folder, site, receivers, chance, every_s
        self.databases: list[PostgresProcess] = []
        self.nodes: list[Node] = []
        self.outages: list[tuple[float, float]] = []
        self.deaths: list[tuple[str, float]] = []
        self.met: Counter[str] = Counter()
        self.leaving_s: list[float] = []
        self.joins: list[tuple[str, float]] = []
        self.findings: list[str] = []
        self._stack = AsyncExitStack()
        self._made = 0

    async def open(self) -> None:
        """Start two databases, the second one as a standby of the first one; its tables are still to be made."""
        for _ in range(2):
            self.databases.append(self._stack.enter_context(PostgresProcess()))
        await asyncio.to_thread(self.databases[0].create)

    async def close(self) -> None:
        """Kill what is left."""
        await self._stack.aclose()

    @property
    def primary(self) -> PostgresProcess:
        """The database that is written to."""
        return self.databases[0]

    async def add(self, name: str, *, app: str = "", fetchers: int = 0) -> Node:
        """Lay out a node, which does not run yet."""
        node = await self._stack.enter_async_context(Node(self.folder, name, app=app, fetchers=fetchers))
        await node.connect(sorted(self.databases, key=lambda server: server.port), self.receivers, self.every_s)
        return node

    async def follow(self) -> None:
        """Make the second database a standby, which durable commits wait for."""
        await asyncio.to_thread(self.databases[1].copy, self.primary)
        await asyncio.to_thread(self.primary.wait_for_standby, wanted=True)

    async def ready(self, node: Node) -> None:
        """Wait until a node asks for pages."""
        since = len(self.site.requested)
        asked = self.site.requested

        def asks() -> bool:
            return not node.runs or any(request.node == node.app for request in asked[since:])

        if not await until(asks, _STARTS_S) or not node.runs:
            self.findings.append(f"{node.app} was started, and asks for no page: {node.last_words()}")

    async def again(self, node: Node) -> None:
        """Start a node again."""
        await node.start()
        await self.ready(node)

    async def leave(self, node: Node) -> None:
        """End a node as users do."""
        began = time.monotonic()
        status = await node.leave(_LEAVES_S)
        self.leaving_s.append(time.monotonic() - began)
        if status != 0:
            self.findings.append(f"{node.app}: SIGTERM ended it with {status}: {node.last_words()}")
            await node.kill()

    def out(self, since: float, *, whole: bool) -> None:
        """Note an outage until now; one of a node alone counts only where there is no other.

        whole  of the database
        """
        if whole or len(self.nodes) == 1:
            self.outages.append((since, time.time()))

    def next_name(self) -> str:
        """A name that no process had so far."""
        self._made += 1
        return f"x{self._made}"


async def kill_node(cluster: Cluster) -> None:
    """Kill a node, and start it again after a while."""
    node, since = cluster.chance.choice(cluster.nodes), time.time()
    cluster.deaths.append((node.name, since))
    await node.kill()
    await asyncio.sleep(cluster.chance.uniform(0, 2 * LEASE_S))
    await cluster.again(node)
    cluster.out(since, whole=False)


async def stop_node(cluster: Cluster) -> None:
    """Let a node stand still for longer than its lease, and go on."""
    await _stand_still(cluster, cluster.chance.choice(cluster.nodes))


async def stop_in_transaction(cluster: Cluster) -> None:
    """The same at a moment at which the database waits for the rest of its transaction."""
    node = cluster.chance.choice(cluster.nodes)
    for _ in range(_TRIES):
        node.send(signal.SIGSTOP)
        # What it had sent before arrives meanwhile.
        await asyncio.sleep(0.01)
        if await asyncio.to_thread(is_in_transaction, cluster.primary, node.app):
            await _stand_still(cluster, node)
            return
        node.send(signal.SIGCONT)
        await asyncio.sleep(cluster.chance.uniform(0, 0.03))
    cluster.met[f"{_name_of(stop_in_transaction)}: not met"] += 1


async def _stand_still(cluster: Cluster, node: Node) -> None:
    since = time.time()
    node.send(signal.SIGSTOP)
    await asyncio.sleep(cluster.chance.uniform(1.5, 4) * LEASE_S)
    node.send(signal.SIGCONT)
    await cluster.ready(node)
    cluster.out(since, whole=False)


async def kill_database(cluster: Cluster) -> None:
    """Kill the database, and start it again."""
    since = time.time()
    await asyncio.to_thread(cluster.primary.kill)
    await asyncio.sleep(cluster.chance.uniform(0, 2 * LEASE_S))
    await asyncio.to_thread(cluster.primary.start)
    cluster.out(since, whole=True)


async def promote(cluster: Cluster) -> None:
    """Kill the database, and let its standby take its place; later the other one follows it."""
    since = time.time()
    await asyncio.to_thread(cluster.primary.kill)
    await asyncio.sleep(cluster.chance.uniform(0, LEASE_S))
    cluster.databases.reverse()
    await asyncio.to_thread(cluster.primary.promote)
    cluster.out(since, whole=True)
    await asyncio.sleep(cluster.chance.uniform(0, LEASE_S))
    await cluster.follow()


async def lose_to_database(cluster: Cluster) -> None:
    """Lose what a node sends to the database."""
    await _lose(cluster, Direction.TO_DATABASE)


async def lose_to_node(cluster: Cluster) -> None:
    """Lose what the database answers a node."""
    await _lose(cluster, Direction.TO_NODE)


async def _lose(cluster: Cluster, direction: Direction) -> None:
    node, since = cluster.chance.choice(cluster.nodes), time.time()
    await node.lose(direction, cluster.chance.uniform(0.5, 4) * LEASE_S)
    await cluster.ready(node)
    cluster.out(since, whole=False)


async def two_of_one_name(cluster: Cluster) -> None:
    """Start a second process of a node's name; then kill the first one, and give it its name back."""
    node = cluster.chance.choice(cluster.nodes)
    twin = await cluster.add(node.name, app=f"{node.app}-{cluster.next_name()}")
    await twin.start()
    await asyncio.sleep(1.5 * LEASE_S)
    if any(request.node == twin.app for request in cluster.site.requested):
        cluster.findings.append(f"{twin.app} asks for pages while another process of its name lives")
    since = time.time()
    await node.kill()
    if twin.runs:
        await cluster.ready(twin)
        await asyncio.sleep(cluster.chance.uniform(0, LEASE_S))
        await cluster.leave(twin)
    await cluster.again(node)
    cluster.out(since, whole=False)


async def wrong_clock(cluster: Cluster) -> None:
    """Run a node whose clock is an hour ahead or behind: the others have its pages meanwhile."""
    node, ahead_s = cluster.chance.choice(cluster.nodes), cluster.chance.choice((-_WRONG_S, _WRONG_S))
    await cluster.leave(node)
    since = len(cluster.site.requested)
    await node.start(ahead_s=ahead_s)
    await asyncio.sleep(cluster.chance.uniform(2, 4) * LEASE_S)
    if any(request.node == node.app for request in cluster.site.requested[since:]):
        cluster.findings.append(f"{node.app} asks for pages with a clock that is {ahead_s:+.0f} s off")
    await cluster.leave(node)
    await cluster.again(node)


async def join_and_leave(cluster: Cluster) -> None:
    """Let another node join, and leave again."""
    node = await cluster.add(cluster.next_name())
    cluster.joins.append((node.name, time.time()))
    await node.start()
    await cluster.ready(node)
    await asyncio.sleep(cluster.chance.uniform(1, 3) * LEASE_S)
    await cluster.leave(node)


async def leave_and_come_back(cluster: Cluster) -> None:
    """Stop a node as users do, and start it again."""
    node, since = cluster.chance.choice(cluster.nodes), time.time()
    await cluster.leave(node)
    await cluster.again(node)
    cluster.out(since, whole=False)


class Trouble(NamedTuple):
    """One kind of trouble; `nodes` is how many it takes."""

    name: str
    make: Callable[[Cluster], Awaitable[None]]
    nodes: int = 1
    takes_clock: bool = False


TROUBLES: Final = (
    Trouble("kill -9 of a node", kill_node),
    Trouble("kill -9 of the database", kill_database),
    Trouble("SIGSTOP of a node", stop_node),
    Trouble("SIGSTOP inside a transaction", stop_in_transaction),
    Trouble("a standby promoted", promote),
    Trouble("packets to the database lost", lose_to_database),
    Trouble("packets to a node lost", lose_to_node),
    Trouble("a node leaves and comes back", leave_and_come_back),
    Trouble("two nodes of one name", two_of_one_name, 2),
    Trouble("a node joins and leaves", join_and_leave, 2),
    Trouble("a clock an hour off", wrong_clock, 2, takes_clock=True),
)


def troubles(chance: Random, nodes: int) -> list[Trouble]:
    """Every kind that these nodes can have once, in an order of chance."""
    fitting = [
        each for each in TROUBLES if each.nodes <= nodes and (not each.takes_clock or clock_library() is not None)
    ]
    chance.shuffle(fitting)
    return fitting


def _name_of(make: Callable[[Cluster], Awaitable[None]]) -> str:
    return next(each.name for each in TROUBLES if each.make is make)
