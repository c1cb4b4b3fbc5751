"""One soak of a cluster: its nodes, its troubles, and what the logs say in the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from benchmarks.cluster.evidence import commits, left_to_do, note_in, takings
from benchmarks.cluster.judge import GRACE_S, Case, judge
from benchmarks.cluster.nodes import LEASE_S
from benchmarks.cluster.site import ClusterReceivers, ClusterSite, until
from benchmarks.cluster.trouble import Cluster, Trouble, troubles

# A short soak has fewer pages and a shorter interval, so that each page is checked some times.
_SHORT_S: Final = 120.0
_PAGES_A_HOST: Final = 10
# Between two troubles each node renews its lease for as long as it lasts: only then may it take over from others.
_REST_S: Final = (1.5 * LEASE_S, 3 * LEASE_S)
_SETTLES_S: Final = 120.0


class Size(NamedTuple):
    """How much there is to check."""

    every_s: float
    hosts_a_node: int

    @classmethod
    def of(cls, seconds: float) -> Size:
        """Choose by how long the troubles last."""
        return cls(6.0, 30) if seconds < _SHORT_S else cls(15.0, 100)


class Outcome(NamedTuple):
    """The end of a soak: the table, and what is wrong."""

    rows: list[tuple[str, str]]
    findings: list[str]

    def table(self) -> str:
        """Write the rows as columns."""
        width = max(len(name) for name, _ in self.rows)
        return "\n".join(f"{name:<{width}}  {value:>12}" for name, value in self.rows)


async def soak(folder: Path, *, nodes: int, seconds: float, seed: int) -> Outcome:
    """Run nodes under troubles for a time, and judge."""
    chance = Random(seed)  # noqa: S311 - a plan that can be repeated
    async with AsyncExitStack() as stack:
        size = Size.of(seconds)
        hosts = nodes * size.hosts_a_node
        site = await stack.enter_async_context(
            ClusterSite(folder, Random(chance.random()), hosts=hosts, pages_a_host=_PAGES_A_HOST)  # noqa: S311 - as above
        )
        receivers = await stack.enter_async_context(ClusterReceivers(folder, Random(chance.random())))  # noqa: S311 - as above
        cluster = await stack.enter_async_context(
            _opened(Cluster(folder, site, receivers, chance, every_s=size.every_s))
        )
        await _prepare(cluster, nodes)
        began = time.time()
        count = await _trouble(cluster, chance, seconds)
        ended = await _settle(cluster)
        case = Case(
            every_s=size.every_s,
            lease_s=LEASE_S,
            began=began,
            ended=ended,
            versions=dict(site.versions),
            requested=site.requested,
            received=receivers.received,
            committed=await asyncio.to_thread(commits, cluster.primary),
            taken=await asyncio.to_thread(takings, cluster.primary),
            outages=cluster.outages,
            troubles=count,
            deaths=cluster.deaths,
            joins=cluster.joins,
            refused=sum(node.refused() for node in cluster.nodes),
        )
    verdict = judge(case)
    rows = [(name, f"{times:,}") for name, times in cluster.met.items()]
    rows += [("", ""), ("troubles, s", f"{ended - began:,.0f}"), ("pages", f"{len(site.versions):,}")]
    rows += [(name, _shown(value)) for name, value in verdict.figures.items()]
    rows += [("the database away, s", _shown(sum(end - begin for begin, end in cluster.outages)))]
    rows += [("SIGTERM to end, the latest, s", _shown(max(cluster.leaving_s)))] if cluster.leaving_s else []
    return Outcome(rows, [*cluster.findings, *verdict.findings])


@asynccontextmanager
async def _opened(cluster: Cluster) -> AsyncIterator[Cluster]:
    try:
        await cluster.open()
        yield cluster
    finally:
        await cluster.close()


async def _prepare(cluster: Cluster, count: int) -> None:
    """Make the store, and run all nodes until each page was checked once."""
    for number in range(1, count + 1):
        # One with fetcher processes, which survive a stop of the process that gives them work.
        cluster.nodes.append(await cluster.add(f"n{number}", fetchers=int(number == count)))
    listed = cluster.folder / "pages.txt"
    listed.write_text("\n".join(cluster.site.versions) + "\n", encoding="utf-8")
    status, said = await cluster.nodes[0].command("watch", "import", str(listed))
    if status:
        raise RuntimeError(f"watch import ended with {status}: {said}")
    await asyncio.to_thread(note_in, cluster.primary)
    await cluster.follow()
    for node in cluster.nodes:
        await node.start()
    for node in cluster.nodes:
        await cluster.ready(node)
    asked = cluster.site.requested
    if not await until(lambda: len({request.url for request in asked}) == len(cluster.site.versions), _SETTLES_S):
        raise RuntimeError(f"not every page was checked once; {cluster.nodes[0].last_words()}")
    await asyncio.sleep(cluster.every_s)


async def _trouble(cluster: Cluster, chance: Random, seconds: float) -> int:
    end, count = time.monotonic() + seconds, 0
    waiting: list[Trouble] = []
    while time.monotonic() < end and not cluster.findings:
        waiting = waiting or troubles(chance, len(cluster.nodes))
        trouble = waiting.pop()
        await trouble.make(cluster)
        cluster.met[trouble.name] += 1
        count += 1
        print(f"{trouble.name}", flush=True)
        await asyncio.sleep(chance.uniform(*_REST_S))
    return count


async def _settle(cluster: Cluster) -> float:
    """Let everything be told that has changed, end all nodes, and say when that was asked for."""
    await asyncio.sleep(cluster.every_s)
    cluster.site.is_frozen = cluster.receivers.is_well = True
    await asyncio.sleep(cluster.every_s + LEASE_S + GRACE_S)
    if not await until(lambda: not left_to_do(cluster.primary), _SETTLES_S):
        left = left_to_do(cluster.primary)
        cluster.findings.append(f"after {_SETTLES_S:.0f} s undisturbed, {left} deliveries and renderings wait")
    ended = time.time()
    async with asyncio.TaskGroup() as group:
        for node in cluster.nodes:
            group.create_task(cluster.leave(node), name=f"leave-{node.name}")
    status, said = await cluster.nodes[0].command("store", "check")
    if status:
        cluster.findings.append(f"store check: {said.strip()}")
    return ended


def _shown(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.3f}"
