"""Jobs of several nodes on one store: each is shown, and cancelled, from every node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from tests.fakes import ManualClock, RecordingTelemetry, SeededChance, settle
from tests.postgres import postgres
from tests.server.rig import StillService
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.model import JsonObject
from tocsin.server.jobs import Jobs, Progress, running_jobs
from tocsin.server.parts import Parts


@pytest.fixture
def url() -> Iterator[str]:
    """A new store on PostgreSQL."""
    taken = postgres().take()
    yield taken
    postgres().give_back(taken)


@asynccontextmanager
async def node(url: str, name: str, seed: int = 1) -> AsyncIterator[Jobs]:
    """Run the jobs of a node inside."""
    async with await open_store(url, engine=False) as store:
        service = StillService(ManualClock())
        service.node_ = name
        async with running_jobs(Parts(store, service, SystemClock(), SeededChance(seed), RecordingTelemetry())) as jobs:
            yield jobs


async def never(progress: Progress) -> JsonObject:
    """Do two steps, then nothing more."""
    progress.advance(2)
    await asyncio.Event().wait()
    return {}


async def test_a_job_is_shown_and_cancelled_at_any_node(url: str) -> None:
    async with node(url, "one") as one, node(url, "two", 2) as two:
        job = await one.start("pages.import", "ops", never)
        await settle()

        before, cancelled = await two.find(job.row.id), await two.cancel(job.row.id)

    assert before is not None
    assert cancelled is not None
    assert (before.node, before.state) == ("one", "running")
    assert (cancelled.state, cancelled.done, job.is_cancelled) == ("cancelled", 2, True)


async def test_a_node_that_starts_or_stops_leaves_the_jobs_of_others_alone(url: str) -> None:
    async with node(url, "one") as one:
        job = await one.start("pages.import", "ops", never)
        async with node(url, "two", 2) as two:
            at_start = await two.find(job.row.id)
        async with node(url, "three", 3) as three:
            after_stop = await three.find(job.row.id)

    assert at_start is not None
    assert after_stop is not None
    assert (at_start.state, after_stop.state) == ("running", "running")
