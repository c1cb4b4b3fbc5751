"""Renderings for which no set of requests was made: put off by the host, or no longer wanted."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.awareness import NEW, POLICY, SECOND, Bench, job_of, page_html
from tests.fakes import EagerClock, ScriptedFetcher
from tocsin.adapters.stores import open_store
from tocsin.engine.hosts.gates import Gates
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.hosts.request_slots import RequestSlots
from tocsin.engine.policies import Policies
from tocsin.engine.rendering.renderer import HttpRenderer
from tocsin.engine.visiting.receive import Receiver
from tocsin.errors import FetchFailed, Postponed, StoreError, Withdrawn
from tocsin.settings import FetchSettings, HostSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tocsin.adapters.stores.sqlite.store import SqliteStore
    from tocsin.model import RenderJob

A = "https://example.org/a"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True)
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def bench(store: SqliteStore) -> Bench:
    return Bench(store)


async def test_T58_a_host_that_puts_a_rendering_off_costs_it_no_try_and_holds_up_nobody(bench: Bench) -> None:
    await bench.add("a", "b")
    for name in "ab":
        await bench.check(name, NEW)
    bench.renderer.on(A, Postponed(bench.clock.now() + 5 * SECOND, 0), NEW)

    await bench.drain()

    assert sorted(bench.renderer.pages) == ["a", "a", "b"]
    assert [len(job.task.attempts) for job in bench.renderer.asked] == [0, 0, 0]
    assert len(await bench.events()) == 2


async def test_a_host_that_asks_a_rendering_to_wait_is_left_alone_after_a_restart_too(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    asked_at: list[int] = []

    async def hold(_job: RenderJob) -> None:
        if not asked_at:
            asked_at.append(bench.clock.now())
            bench.gates.hold("example.org", bench.clock.monotonic() + 600)

    bench.renderer.before = hold
    bench.renderer.on(A, FetchFailed(A, "status", "answered 503", status=503), NEW)

    await bench.drain()

    gates = await bench.store.host_gates(asked_at[0])
    assert gates["example.org"] >= asked_at[0] + 590 * SECOND


async def test_T62_a_page_that_is_removed_before_its_rendering_asks_for_it_is_told_of_no_more(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)

    async def remove(_job: RenderJob) -> None:
        await bench.store.remove_pages([bench.page_id("a")])

    bench.renderer.before = remove
    bench.renderer.on(A, Withdrawn(f"{A}: no longer watched"))
    async with asyncio.timeout(60):
        await bench.drain()

    assert len(bench.renderer.asked) == 1
    assert await bench.events() == []


class Agreement:
    """Knows which pages are watched; None: cannot say."""

    def __init__(self, watched: set[int] | None) -> None:
        self.watched = watched

    async def still_watched(self, page_ids: Sequence[int]) -> set[int]:
        if self.watched is None:
            message = "tocsin.db: disk I/O error"
            raise StoreError(message)
        return self.watched.intersection(page_ids)


def renderer_of(web: ScriptedFetcher, watched: set[int] | None) -> HttpRenderer:
    clock = EagerClock()
    gates = Gates(HostSettings(), clock)
    receiver = Receiver(gates, None, OutageWatch(clock), RequestSlots(1), FetchSettings(), clock)
    return HttpRenderer(receiver, web, Policies(POLICY), Agreement(watched), clock)


async def test_T62_a_page_is_received_for_awareness_while_it_is_watched() -> None:
    job, web = job_of(), ScriptedFetcher()
    web.page(job.task.url, page_html(NEW))

    rendered = await renderer_of(web, {job.page_id}).render(job)

    assert rendered.title == "A page"


@pytest.mark.parametrize(("watched", "error"), [(set(), Withdrawn), (None, Postponed)])
async def test_T62_nothing_is_asked_for_awareness_without_the_users_agreement(
    watched: set[int] | None, error: type[Exception]
) -> None:
    job, web = job_of(), ScriptedFetcher()

    with pytest.raises(error):
        await renderer_of(web, watched).render(job)

    assert web.requests == []
