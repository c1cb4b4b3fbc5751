"""Results written by the store, beside a bare `executemany` of the same rows."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks.bench.measure import Aim, Figure, Sizes, Stopwatch, figure, stopwatch
from benchmarks.bench.results import result_of
from benchmarks.bench.size_rows import demand_equal, differences, write_bare
from benchmarks.bench.size_stores import Shape, make_store, site_port
from tests.claiming import claim_all
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sqlite.connection import connect
from tocsin.model import CheckResult, Claim, NewPage, PageTask
from tocsin.ports import Store
from tocsin.spec.html.urls import shard_of

BATCH = 1000
LATER = 2**60
_HOSTS = 1000
_LEAST_A_HOST = 2
_WAYS = {"unchanged": False, "changed": True}
_BUSY = timedelta(seconds=10)


class _Arms(NamedTuple):
    """The store that writes, and where the same rows are written bare; `seen` reads what the store wrote."""

    store: Store
    claim: Claim
    seen: sqlite3.Connection
    bare: sqlite3.Connection


async def measure(sizes: Sizes) -> list[Figure]:
    """Write results into lists of each length, in turns with the bare rows."""
    lines = []
    for pages in dict.fromkeys((sizes.stored, max(sizes.stored, sizes.watched[-1]))):
        watches = await _write(Shape.usual(pages), sizes)
        for way, (ours, bare) in watches.items():
            what = f"store: results written, {way}, {pages:,} pages watched"
            costs, bare_costs = ([cpu / sizes.stored * 1e6 for cpu in watch.cpu_s] for watch in (ours, bare))
            beside = "bare executemany of the same rows"
            aim = Aim("<=", 1.5)
            lines.append(figure(what, costs, "us CPU/result", beside=beside, reference=bare_costs, aim=aim))
            rates, bare_rates = ([sizes.stored / wall for wall in watch.wall_s] for watch in (ours, bare))
            lines.append(figure("… on the wall", rates, "1/s", beside=beside, reference=bare_rates))
    return lines


async def _write(shape: Shape, sizes: Sizes) -> dict[str, tuple[Stopwatch, Stopwatch]]:
    watches = {way: (Stopwatch([], []), Stopwatch([], [])) for way in _WAYS}
    with tempfile.TemporaryDirectory() as name, ExitStack() as opened:
        path = await make_store(shape, site_port(), Path(name))
        shutil.copyfile(path, Path(name) / "bare.db")
        seen, bare = (
            opened.enter_context(closing(connect(str(at), busy=_BUSY, writes=True)))
            for at in (path, Path(name) / "bare.db")
        )
        async with await open_store(f"sqlite:{path}", engine=True) as store:
            arms = _Arms(store, await claimed(store), seen, bare)
            hosts = [host async for host, _ in await store.host_agenda(arms.claim, since_revision=None)]
            # The first round warms both, and does not count.
            for number in range(sizes.rounds + 1):
                for way, (ours, bare_watch) in watches.items():
                    batches = await _batches(arms, hosts, sizes.stored, number + 1, changed=_WAYS[way])
                    counted = (ours, bare_watch) if number else (Stopwatch([], []), Stopwatch([], []))
                    await _write_both(arms, batches, counted, durable=_WAYS[way])
            demand_equal(seen, bare)
    return watches


async def _batches(arms: _Arms, hosts: list[int], most: int, version: int, *, changed: bool) -> list[list[CheckResult]]:
    """The next results, as a service would hand them over: a batch from many hosts, a few pages of each."""
    found = []
    per_host = max(_LEAST_A_HOST, most // len(hosts))
    at_a_time = max(1, BATCH // per_host)
    for start in range(0, -(-most // per_host), at_a_time):
        some = hosts[start : start + at_a_time]
        tasks = await arms.store.due_pages(arms.claim, some, LATER, per_host=per_host)
        found.append([result_of(task, version, changed=changed) for task in tasks])
    return found


async def _write_both(
    arms: _Arms, batches: list[list[CheckResult]], watches: tuple[Stopwatch, Stopwatch], *, durable: bool
) -> None:
    with stopwatch(watches[0]):
        for batch in batches:
            await arms.store.commit(arms.claim, batch)
    bare = differences(arms.seen, arms.bare, [[result.page_id for result in batch] for batch in batches])
    with stopwatch(watches[1]):
        for statements in bare:
            write_bare(arms.bare, statements, durable=durable)


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
    claim = await claim_all(store, "bench")
    if claim is None:
        raise RuntimeError("a store of our own is claimed by somebody else")
    return claim


async def all_tasks(store: Store, claim: Claim, pages: int) -> list[PageTask]:
    """Give every page, as a visit would get it."""
    hosts = [host async for host, _ in await store.host_agenda(claim, since_revision=None)]
    return await store.due_pages(claim, hosts, LATER, per_host=pages)
