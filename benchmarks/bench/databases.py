"""An unchanged check on PostgreSQL beside SQLite: the store alone, and the real service on pages that answer 304."""

from __future__ import annotations

import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.bench.measure import Aim, Figure, NotMeasured, Sizes, Stopwatch, figure, run_child, stopwatch
from benchmarks.bench.processes import SizeSite
from benchmarks.bench.results import result_of
from benchmarks.bench.size_running import reached
from benchmarks.bench.size_service import Service
from benchmarks.bench.size_stores import Shape, make_store, site_port
from benchmarks.bench.storing import BATCH, LATER, claimed
from benchmarks.postgres import DATABASE, HOW_TO_GET, PostgresProcess, programs
from tocsin.adapters.stores import open_store
from tocsin.model import CheckResult, Claim
from tocsin.ports import Store

# One page of each host that is due, as a service that has kept up finds them; or what lies together.
_PAGES_A_HOST: Final = 2
_SERVICES: Final = 2
_SQLITE, _POSTGRES = "SQLite", "PostgreSQL"
# WAL then has no images of pages: how many there are depends on the checkpoints, not on the checks.
_SERVER: Final = {"full_page_writes": "off"}


class _Arm(NamedTuple):
    """A store with its claim; `server` is None for SQLite, whose work is done in this process."""

    store: Store
    claim: Claim
    hosts: list[int]
    server: PostgresProcess | None


async def measure(sizes: Sizes) -> list[Figure]:
    """Measure both stores in turns; without PostgreSQL nothing is."""
    if programs() is None:
        raise NotMeasured(HOW_TO_GET)
    with PostgresProcess(**_SERVER) as server:
        server.create()
        return [*await _stores(server, sizes), *await _services(server, sizes)]


async def _stores(server: PostgresProcess, sizes: Sizes) -> list[Figure]:
    """Read due pages and write that nothing of them has changed."""
    samples: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        path = await make_store(Shape.usual(sizes.stored), site_port(), Path(name))
        url = _copied(path, server, Path(name), DATABASE)
        async with (
            await open_store(f"sqlite:{path}", engine=True) as file,
            await open_store(url, engine=True) as database,
        ):
            arms = [await _arm(file, None), await _arm(database, server)]
            # The first round warms both, and does not count.
            for number in range(sizes.rounds + 1):
                for arm in arms:
                    found = await _check_all(arm, sizes.stored, number + 1)
                    for what, value in found.items() if number else ():
                        samples[what].append(value)
    pages = f"store, unchanged check, {sizes.stored:,} pages: "
    beside = samples[_SQLITE]
    all_in = [sum(both) for both in zip(samples[_POSTGRES], samples["database"], strict=True)]
    return [
        figure(f"{pages}SQLite, all in", beside, "us CPU/page"),
        figure(f"{pages}node on PostgreSQL", samples[_POSTGRES], "us CPU/page", aim=Aim("<=", 20)),
        figure("… the database for it", samples["database"], "us CPU/page", aim=Aim("<=", 45)),
        figure("… both", all_in, "us CPU/page", beside="SQLite", reference=beside),
        figure("… WAL without images", samples["wal"], "B/page", aim=Aim("<=", 512)),
        figure("… of its updates that touch no index (HOT)", samples["hot"], "%"),
    ]


async def _arm(store: Store, server: PostgresProcess | None) -> _Arm:
    claim = await claimed(store)
    return _Arm(store, claim, [host async for host, _ in await store.host_agenda(claim, since_revision=None)], server)


async def _check_all(arm: _Arm, pages: int, version: int) -> dict[str, float]:
    """Check every page once, in batches of pages that are due together; returns what each of them cost."""
    watch, server = Stopwatch([], []), arm.server
    before = _spent(server) if server else (0.0, 0, 0, 0)
    at_a_time, done = BATCH // _PAGES_A_HOST, 0
    prepared = -(-pages // len(arm.hosts) // _PAGES_A_HOST) if arm.hosts else 0
    for _ in range(prepared):
        for start in range(0, len(arm.hosts), at_a_time):
            hosts = arm.hosts[start : start + at_a_time]
            with stopwatch(watch):
                tasks = await arm.store.due_pages(arm.claim, hosts, LATER, per_host=_PAGES_A_HOST)
            results: list[CheckResult] = [result_of(task, version, changed=False) for task in tasks]
            with stopwatch(watch):
                await arm.store.commit(arm.claim, results)
            done += len(results)
    own = sum(watch.cpu_s) / done * 1e6
    if server is None:
        return {_SQLITE: own}
    cpu_s, wal, updates, hot = (after - then for after, then in zip(_spent(server), before, strict=True))
    return {_POSTGRES: own, "database": cpu_s / done * 1e6, "wal": wal / done, "hot": 100 * hot / max(updates, 1)}


def _spent(server: PostgresProcess) -> tuple[float, int, int, int]:
    """What a server has spent so far: seconds of processor, bytes of WAL; updates of pages, and how many were HOT."""
    ((wal, updates, hot),) = server.read(
        "select (pg_current_wal_insert_lsn() - '0/0')::bigint, n_tup_upd, n_tup_hot_upd "
        "from pg_stat_user_tables where relname = 'pages'"
    )
    return server.cpu_s(), wal, updates, hot


async def _services(server: PostgresProcess, sizes: Sizes) -> list[Figure]:
    """Run the real service on either store: all pages are always due, and answer 304."""
    samples: dict[str, list[float]] = defaultdict(list)
    shape = Shape.usual(sizes.watched[0])
    async with SizeSite(port=site_port()) as site:
        for _ in range(min(sizes.rounds, _SERVICES)):
            for name in (_SQLITE, _POSTGRES):
                samples[name].append(await _serve(site, server if name == _POSTGRES else None, shape, sizes.checks))
    return [
        figure(
            f"service, {shape.pages:,} pages, all 304, on PostgreSQL: node and database",
            samples[_POSTGRES],
            "us CPU/check",
            beside="the same on SQLite",
            reference=samples[_SQLITE],
            aim=Aim("<=", 2),
        )
    ]


async def _serve(site: SizeSite, server: PostgresProcess | None, shape: Shape, checks: int) -> float:
    """Let a service check until it is warm, then measure it; returns the microseconds of all processors for a check."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = await make_store(shape, site.port, folder)
        url = _copied(path, server, folder, "service") if server else ""
        await site.ask("clear")
        async with Service(folder, store=url) as service:
            await reached(site, service, checks)
            before, seen = _taken_s(service, server), (await site.ask("stats"))["pages"]
            await reached(site, service, seen + checks)
            after, seen = _taken_s(service, server), (await site.ask("stats"))["pages"] - seen
        if troubles := service.troubles():
            raise RuntimeError(f"the service had trouble: {troubles[:3]}")
    return float((after - before) / seen * 1e6)


def _taken_s(service: Service, server: PostgresProcess | None) -> float:
    return service.usage().cpu_s + (server.cpu_s() if server else 0)


def _copied(path: Path, server: PostgresProcess, folder: Path, database: str) -> str:
    """Copy a store into a database of its own; returns its URL."""
    server.command(f"drop database if exists {database} with (force)", database="postgres")
    server.command(f"create database {database}", database="postgres")
    copied = run_child(folder, "store", "copy", f"sqlite:{path}", server.url(database))
    if copied.status:
        raise RuntimeError(f"the store cannot be copied: {copied.said}")
    return server.url(database)
