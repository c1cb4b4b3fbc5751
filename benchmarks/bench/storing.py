"""The store alone: results written per second, and due pages found among many."""

from __future__ import annotations

import tempfile
import time
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.bench.measure import Stopwatch, figure, stopwatch
from benchmarks.bench.results import result_of
from tocsin.adapters.stores import open_store
from tocsin.model import SHARDS, NewPage
from tocsin.spec.html.urls import shard_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.bench.measure import Figure, Sizes
    from tocsin.model import CheckResult, Claim, PageTask
    from tocsin.ports import Store

BATCH = 1000
_HOSTS = 1000
_AT_A_TIME = 200
_PER_HOST = 64
_LATER = 2**60


async def measure(sizes: Sizes) -> list[Figure]:
    """Write and pick."""
    return [*await _measure_commits(sizes), *await _measure_picks(sizes)]


async def _measure_commits(sizes: Sizes) -> list[Figure]:
    same, some = Stopwatch([], []), Stopwatch([], [])
    with tempfile.TemporaryDirectory() as name:
        async with await open_store(f"sqlite:{Path(name)}/store.db", engine=True) as store:
            await add(store, sizes.stored, hot=0)
            claim = await claimed(store)
            tasks = await all_tasks(store, claim, sizes.stored)
            await _commit_all(store, claim, [result_of(task, 1, changed=False) for task in tasks])
            for number in range(sizes.rounds):
                tasks = await all_tasks(store, claim, sizes.stored)
                unchanged = [result_of(task, 2 * number + 2, changed=False) for task in tasks]
                mixed = [result_of(task, 2 * number + 3, changed=task.page_id % 20 == 0) for task in tasks]
                with stopwatch(same):
                    await _commit_all(store, claim, unchanged)
                with stopwatch(some):
                    await _commit_all(store, claim, mixed)
    lines = []
    for what, watch in (("all unchanged", same), ("5 % changed", some)):
        cpu = [seconds / sizes.stored * 1e6 for seconds in watch.cpu_s]
        rates = [sizes.stored / seconds for seconds in watch.wall_s]
        reference = [sizes.stored / seconds for seconds in same.wall_s] if watch is some else []
        lines.append(
            figure(
                f"store: results written, {what}",
                rates,
                "1/s",
                beside="unchanged" * (watch is some),
                reference=reference,
            )
        )
        lines.append(figure("… processor time", cpu, "us/result"))
    return lines


async def _measure_picks(sizes: Sizes) -> list[Figure]:
    picks: list[float] = []
    agenda: list[float] = []
    hosts_seen: list[float] = []
    hot = sizes.listed // 10
    with tempfile.TemporaryDirectory() as name:
        async with await open_store(f"sqlite:{Path(name)}/store.db", engine=True) as store:
            await add(store, sizes.listed, hot=hot)
            claim = await claimed(store)
            for _ in range(sizes.rounds):
                began = time.perf_counter()
                hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
                agenda.append((time.perf_counter() - began) * 1000)
                began = time.perf_counter()
                found: list[PageTask] = []
                for start in range(0, len(hosts), _AT_A_TIME):
                    some = hosts[start : start + _AT_A_TIME]
                    found += await store.due_pages(claim, some, _LATER, per_host=_PER_HOST)
                picks.append((time.perf_counter() - began) / len(found) * 1e6)
                hosts_seen.append(float(len({task.host_id for task in found})))
    what = f"due pages picked of {sizes.listed:,} on {_HOSTS:,} hosts, one with {hot:,}"
    return [
        figure(what, picks, "us/page", note=f"at most {_PER_HOST} a host"),
        figure("… hosts that got a turn", hosts_seen, "hosts"),
        figure("… agenda of all hosts", agenda, "ms"),
    ]


async def add(store: Store, pages: int, *, hot: int) -> None:
    """Add pages on a thousand hosts, so many of them more on the first one."""
    hosts = [f"h{number}.example.org" for number in range(min(_HOSTS, pages))]
    shards = [shard_of(host) for host in hosts]
    for start in range(0, pages, BATCH):
        new = []
        for number in range(start, min(start + BATCH, pages)):
            host = 0 if number < hot else number % len(hosts)
            url = f"https://{hosts[host]}/{number}"
            new.append(NewPage(url, url, hosts[host], shards[host]))
        await store.add_pages(new, 0)


async def claimed(store: Store) -> Claim:
    """Claim everything."""
    claim = await store.claim(range(SHARDS), 0, timedelta(days=1), "bench")
    if claim is None:
        raise RuntimeError("a store of our own is claimed by somebody else")
    return claim


async def all_tasks(store: Store, claim: Claim, pages: int) -> list[PageTask]:
    """Give every page, as a visit would get it."""
    hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
    return await store.due_pages(claim, hosts, _LATER, per_host=pages)


async def _commit_all(store: Store, claim: Claim, results: Sequence[CheckResult]) -> None:
    for start in range(0, len(results), BATCH):
        await store.commit(claim, results[start : start + BATCH])
