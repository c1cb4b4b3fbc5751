"""One page, once received well, is checked again while its server misbehaves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

from tests.hostile.behaviour import Behaviour
from tests.hostile.certificates import client_tls, server_tls
from tests.hostile.leaks import watch_memory
from tests.hostile.rig import Kept, Rig, limits, without_robots
from tests.hostile.site import Site
from tocsin.model import CheckReport, PageRow

HOST = "127.0.0.1"
GRACE_S = 30.0
"""How much longer than its deadline a check is waited for: who misses the deadline never ends, others are only slow."""


class Met(NamedTuple):
    """How a check ended.

    page    as it is listed then
    before  what was kept of the good answer before it
    after   what is kept now
    held_s  for how long its host's gate is closed
    heads   the requests that were made meanwhile: path and header
    grown   by how many bytes the process was larger meanwhile, at its most
    """

    report: CheckReport
    page: PageRow
    before: Kept
    after: Kept
    held_s: float
    heads: list[tuple[str, bytes]]
    grown: int


async def meet_unknown(behaviour: Behaviour, folder: Path) -> tuple[CheckReport, PageRow, int]:
    """Let the page's server misbehave at the first check already; (report, page, growth in bytes)."""
    async with Rig.at(folder) as rig, Site(behaviour) as site:
        await rig.watch(site.url)
        await site.misbehave()
        grown = watch_memory()
        async with asyncio.timeout(behaviour.total_s + GRACE_S):
            (report,) = await rig.check(fetch=limits(behaviour))
        return report, await rig.page(site.url), grown()


async def meet(behaviour: Behaviour, folder: Path) -> Met:
    """Let the page's server be well, then misbehave; TimeoutError if the check does not end soon enough."""
    calm = server_tls() if behaviour.tls is not None else None
    async with Rig.at(folder) as rig, Site(behaviour, calm=calm) as site:
        rig.tls = client_tls() if calm else None
        await rig.watch(site.url)
        # What its robots.txt says is remembered for a day: one that is to misbehave must not have been asked before.
        hosts = without_robots(HOST) if behaviour.robots is not None else rig.settings.hosts
        (first,) = await rig.check(hosts=hosts)
        assert (first.outcome, first.error) == ("first", None)
        before, asked = await rig.kept(site.url), len(site.heads)
        await site.misbehave()
        grown = watch_memory()
        async with asyncio.timeout(behaviour.total_s + GRACE_S):
            (report,) = await rig.check(fetch=limits(behaviour))
        peak = grown()
        page, after = await rig.page(site.url), await rig.kept(site.url)
        return Met(report, page, before, after, rig.held_s[HOST], site.heads[asked:], peak)
