"""Which pages are asked for to find out whether our own connection fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import msgspec

from tests.builders import html
from tests.engine.visiting.checking import Engine, engine_on, many, watch
from tests.fakes import ManualClock, RecordingTelemetry
from tocsin.adapters.stores import open_store
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.policies import Policies
from tocsin.engine.scheduling.scheduler import OutageProbes
from tocsin.errors import FetchFailed
from tocsin.model import PageFilter, PageTask
from tocsin.ports import Store
from tocsin.settings import HostSettings, PageSettings

GONE = ("gone1.example", "gone2.example", "gone3.example")


class Bench:
    """The part that asks, beside a store whose hosts 0, 1, 2 … were received last in this order."""

    def __init__(self, store: Store, clock: ManualClock, *, is_once: bool, min_gap_s: float) -> None:
        self.store, self.clock, self.outage = store, clock, OutageWatch(clock)
        self.lease = Lease(store, "test", timedelta(seconds=10), clock, RecordingTelemetry())
        self.gates = Gates(HostSettings(delay=timedelta(0)), clock)
        policies = Policies(msgspec.structs.replace(PageSettings(), min_gap=timedelta(seconds=min_gap_s)))
        self.probing = OutageProbes(
            store, self.lease, policies, self.gates, self.outage, clock, wait_s=30.0, is_once=is_once
        )

    def fail(self, *hosts: str) -> None:
        for host in hosts:
            self.outage.note(host, ok=False, kind="dns")

    async def verdict(self, *, is_all_held: bool = False) -> list[str]:
        """Look once; returns whom it asks."""
        return names(await self.probing.verdict(set(), is_all_held=is_all_held))


def names(tasks: Sequence[PageTask]) -> list[str]:
    return [task.host for task in tasks]


@asynccontextmanager
async def bench_on(
    folder: Path, *, received: int, is_once: bool = False, min_gap_s: float = 0.0, ago_s: float = 3600.0
) -> AsyncIterator[Bench]:
    """A store with five hosts, of which the first ones were received, one a second, the last one so long ago."""
    async with engine_on(folder, many(5, 1)) as engine:
        for url in many(received, 1):
            engine.web.page(url, html(created="1"))
        for url in many(5, 1)[received:]:
            engine.web.on(url, FetchFailed(url, "timeout", "too late"))
        engine.policies.configure(msgspec.structs.replace(engine.policies.base, tries=0))
        results = await engine.run()
    last = max(result.set_at or result.checked_at for result in results)
    async with await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True) as store:
        bench = Bench(store, ManualClock(last + round(ago_s * 1_000_000)), is_once=is_once, min_gap_s=min_gap_s)
        await bench.lease.take()
        yield bench


async def test_T61_within_a_minute_of_an_answer_no_other_host_is_asked(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=5) as bench:
        bench.outage.note("host0.example", ok=True)
        bench.fail(*GONE)

        await bench.clock.advance(59)
        early = await bench.verdict()
        await bench.clock.advance(2)
        late = await bench.verdict()

        assert early == []
        assert len(late) == 3


async def test_T61_the_hosts_that_answered_last_are_asked_before_anything_is_called_our_outage(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=2) as bench:
        bench.fail(*GONE)
        await bench.clock.advance(60)

        asked = await bench.verdict()
        await bench.verdict()
        undecided = bench.outage.in_doubt and not bench.outage.is_outage()
        bench.fail(*asked)
        await bench.verdict()

        assert sorted(asked) == ["host0.example", "host1.example"]
        assert undecided
        assert bench.outage.is_outage()


async def test_T60_one_of_them_that_answers_shows_that_it_is_them(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3) as bench:
        bench.fail(*GONE)
        await bench.clock.advance(60)

        first, second, _ = await bench.verdict()
        bench.fail(first)
        bench.outage.note(second, ok=True)
        await bench.verdict()

        assert not bench.outage.in_doubt
        assert not bench.outage.is_outage()


async def test_hosts_that_say_nothing_for_half_a_minute_do_not_answer(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3) as bench:
        bench.fail(*GONE)
        await bench.clock.advance(60)
        await bench.verdict()

        await bench.clock.advance(29)
        await bench.verdict()
        before = bench.outage.is_outage()
        await bench.clock.advance(1)
        await bench.verdict()

        assert not before
        assert bench.outage.is_outage()


async def test_where_no_host_ever_answered_a_minute_of_failures_is_an_outage(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=0) as bench:
        bench.fail(*GONE)
        await bench.clock.advance(60)

        asked = await bench.verdict()
        await bench.verdict()

        assert asked == []
        assert bench.outage.is_outage()


async def test_T60_a_host_that_is_known_to_be_gone_is_no_witness(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3) as bench:
        bench.fail("host0.example")
        bench.outage.note("host1.example", ok=True)
        bench.fail(*GONE)
        await bench.clock.advance(60)

        assert sorted(await bench.verdict()) == ["host1.example", "host2.example"]


async def test_T21_a_page_is_not_asked_for_within_its_least_gap(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3, min_gap_s=7200) as bench:
        bench.fail(*GONE)
        await bench.clock.advance(60)

        assert await bench.verdict() == []


async def test_a_host_that_wants_to_be_left_alone_is_not_asked(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3) as bench:
        bench.gates.hold("host1.example", bench.clock.monotonic() + 3600)
        bench.fail(*GONE)
        await bench.clock.advance(60)

        assert sorted(await bench.verdict()) == ["host0.example", "host2.example"]


async def test_T61_a_one_shot_check_asks_them_as_soon_as_nothing_else_is_left_to_try(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3, is_once=True) as bench:
        bench.fail(*GONE)

        assert await bench.verdict() == []
        assert len(await bench.verdict(is_all_held=True)) == 3


async def test_T60_a_check_right_after_one_that_was_answered_blames_them(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=3, is_once=True, ago_s=59) as bench:
        bench.fail(*GONE)

        asked = await bench.verdict(is_all_held=True)

        assert asked == []
        assert not bench.outage.in_doubt
        assert not bench.outage.is_outage()


async def test_a_probe_asks_a_host_that_answered_last_and_another_one_each_time(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=2) as bench:
        hosts = list(await agenda(bench))
        probes = [names(await bench.probing.probes(lambda: hosts)) for _ in range(5)]

        witnesses = {host for host, *_ in probes}
        others = {probe[-1] for probe in probes}
        assert witnesses == {"host0.example", "host1.example"}
        assert others == {f"host{number}.example" for number in range(5)}


async def test_two_outages_do_not_begin_their_probes_at_one_host(tmp_path: Path) -> None:
    async with bench_on(tmp_path, received=0) as bench:
        hosts = list(await agenda(bench))
        firsts = []
        for _ in range(2):
            bench.outage.resume(bench.clock.now())
            firsts.append(names(await bench.probing.probes(lambda: hosts)))

        assert [len(first) for first in firsts] == [1, 1]
        assert firsts[0] != firsts[1]


async def agenda(bench: Bench) -> dict[int, int]:
    return {host: due async for host, due in await bench.store.host_agenda(bench.lease.claim, since_revision=None)}


# The whole checking half -------------------------------------------------------------------------------------------


async def check(engine: Engine) -> dict[str, str]:
    """Check what was asked for; returns the outcome of each page."""
    engine.batches.clear()
    results = await engine.run()
    return {result.report.url: str(result.report.outcome) for result in results if result.order.request_id is not None}


async def test_T60_a_few_dead_hosts_before_many_good_ones_are_unreachable_and_asked_about(tmp_path: Path) -> None:
    good, dead = many(10, 1), [f"http://{host}/" for host in GONE]
    async with engine_on(tmp_path, [*dead, *good], tries=0) as engine:
        for url in dead:
            engine.web.on(url, FetchFailed(url, "dns", "no such name"))
        for url in good:
            engine.web.page(url, html(created="1"))

        outcomes = await check(engine)
        await engine.uplink.look()

        assert {outcomes[url] for url in dead} == {"unreachable"}
        assert {outcomes[url] for url in good} == {"first"}
        assert len(await engine.store.questions()) == 3
        assert await engine.store.alerts(limit=10) == []


async def test_T60_a_run_that_checks_only_dead_hosts_remembers_who_answered_the_one_before(tmp_path: Path) -> None:
    good, dead = many(4, 1), [f"http://{host}/" for host in GONE]
    async with engine_on(tmp_path, good) as engine:
        for url in good:
            engine.web.page(url, html(created="1"))
        await check(engine)
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        await watch(store, dead)
        pages = [page.id for page in await store.pages(PageFilter()) if page.url in dead]
        request = await store.request_check(pages, 1)
        engine = Engine(store, request, tries=0)
        for url in dead:
            engine.web.on(url, FetchFailed(url, "dns", "no such name"))
        for url in good:
            engine.web.page(url, html(created="1"))

        outcomes = await check(engine)

        assert outcomes == dict.fromkeys(dead, "unreachable")
