"""While fifty hosts misbehave at once, all other hosts' pages are checked as if there were no such hosts."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

from tests.hostile.behaviour import KIBI, PLENTY_S, UNCHANGED, Behaviour
from tests.hostile.interim_table import INTERIM
from tests.hostile.leaks import leaving_nothing_behind, watch_memory
from tests.hostile.meeting import GRACE_S
from tests.hostile.rig import Rig, limits
from tests.hostile.site import GOOD, Site
from tests.hostile.size_table import BODIES, BOMBS, HEADERS
from tests.hostile.time_table import TIME
from tests.origin import hang
from tocsin.model import CheckReport

PLENTY = 50
HEALTHY = 10
PAGES = ("/page", "/b", "/c")
WELL = Behaviour("well", GOOD, UNCHANGED, paths={"/b": GOOD, "/c": GOOD}, keep=True)
CAPS = 2 * 256 * KIBI
SPARE_BYTES = 16 * 2**20

WICKED = tuple(
    behaviour
    for behaviour in (*TIME, *HEADERS, *BODIES, *BOMBS, *INTERIM)
    if behaviour.ends.kind is not None and not behaviour.paths
)[:PLENTY]


async def test_fifty_hosts_that_misbehave_at_once_keep_no_other_host_waiting(
    tmp_path: Path, hasten: Callable[[float], None]
) -> None:
    async with leaving_nothing_behind(), Rig.at(tmp_path) as rig, AsyncExitStack() as sites:
        wicked = [
            await sites.enter_async_context(Site(behaviour, host=f"127.0.1.{number}"))
            for number, behaviour in enumerate(WICKED, 1)
        ]
        well = [await sites.enter_async_context(Site(WELL, host=f"127.0.2.{number}")) for number in range(HEALTHY)]
        healthy = [site.url.replace("/page", path) for site in well for path in PAGES]
        await rig.watch(*(site.url for site in wicked), *healthy)
        first = await rig.check()
        assert Counter(report.outcome for report in first) == {"first": PLENTY + len(healthy)}
        known = {site.url: await rig.kept(site.url) for site in wicked}
        alone = [len(site.heads) for site in well]
        for site in wicked:
            await site.misbehave()

        # Whoever lets us wait until a deadline is still waited for when every other page is done.
        late = {
            site.url: site for site, behaviour in zip(wicked, WICKED, strict=True) if behaviour.ends.kind == "timeout"
        }
        awaited = known.keys() - late.keys() | set(healthy)
        done = asyncio.Event()

        def hear(report: CheckReport) -> None:
            awaited.discard(report.url)
            if not awaited:
                done.set()

        grown = watch_memory()
        async with asyncio.timeout(PLENTY_S + GRACE_S), asyncio.TaskGroup() as group:
            checking = group.create_task(rig.check(fetch=limits(WELL), heard=hear))
            await done.wait()
            for site in late.values():
                await site.was_asked.wait()
            hasten(PLENTY_S)
        reports, peak = checking.result(), grown()

        ended = {report.url: report for report in reports}
        assert {url: ended[url].outcome for url in healthy} == dict.fromkeys(healthy, "unchanged")
        assert {site.url: kind_of(ended[site.url]) for site in wicked} == {
            site.url: behaviour.ends.kind for site, behaviour in zip(wicked, WICKED, strict=True)
        }
        assert late.keys() == {report.url for report in reports[-len(late) :]}
        # No request was made of a healthy host but its pages: its robots.txt was known.
        assert [len(site.heads) - before for site, before in zip(well, alone, strict=True)] == [len(PAGES)] * HEALTHY
        assert {site.url: await rig.kept(site.url) for site in wicked} == known
        assert peak <= PLENTY * CAPS + SPARE_BYTES


async def test_a_check_that_is_interrupted_lets_go_of_all_who_hang(tmp_path: Path) -> None:
    hangs = Behaviour("hangs", hang, UNCHANGED, robots=hang, total_s=PLENTY_S, phase_s=PLENTY_S)
    async with leaving_nothing_behind(), Rig.at(tmp_path) as rig, AsyncExitStack() as sites:
        hanging = [await sites.enter_async_context(Site(hangs, host=f"127.0.1.{number}")) for number in range(1, 21)]
        await rig.watch(*(site.url for site in hanging))
        for site in hanging:
            await site.misbehave()
        stopping = asyncio.Event()

        async with asyncio.timeout(GRACE_S), asyncio.TaskGroup() as group:
            checking = group.create_task(rig.check(stopping, fetch=limits(hangs)))
            for site in hanging:
                await site.was_asked.wait()
            stopping.set()

        assert checking.result() == []


def kind_of(report: CheckReport) -> str | None:
    """The kind of a report's error."""
    return str(report.error[0]) if report.error else None
