"""What writers on PostgreSQL wait for: edits for all others, alerts for each other, checks for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.contract.desk import DAY, GATHER, NOW, A, B, C, Desk, alert
from tocsin.adapters.stores.postgres.connection import PostgresDatabase, PostgresLane, PostgresPlace
from tocsin.adapters.stores.postgres.session import PostgresSession
from tocsin.adapters.stores.postgres.store import PostgresStore
from tocsin.adapters.stores.sql.role import Options
from tocsin.errors import StoreError
from tocsin.settings import SignalSettings
from tocsin.spec.html.urls import shard_of

BUSY = timedelta(seconds=10)
LOCKED = "kept it locked for too long"
SHARED = "select pg_advisory_xact_lock_shared((x'546f6373'::bigint << 32) + 'store'::regclass::oid::bigint)"


@pytest.fixture
async def hasty(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """An engine that waits for no lock for long."""
    desk = await Desk.at(tmp_path, database, busy=timedelta(milliseconds=200))
    await desk.watch(A, B, C)
    yield desk
    await desk.store.close()


@contextmanager
def another(desk: Desk, *statements: str) -> Iterator[psycopg.Connection[Any]]:
    """A transaction of another process, under way, that has run these."""
    with psycopg.connect(desk.behind.url) as db:
        for statement in statements:
            db.execute(statement.encode())
        yield db


async def test_a_commit_waits_for_no_commit_of_another_node(hasty: Desk) -> None:
    with another(hasty, SHARED, "update pages set flags = flags where id = 3"):
        await hasty.check(A, "1")
        await hasty.check(A, "2")
        job = await hasty.job(A)
        await hasty.store.commit_renderings(hasty.claim, [hasty.rendered(job)])

    assert ((await hasty.page(A)).last.report or {})["outcome"] == "major"


async def test_an_edit_waits_until_no_commit_is_under_way(hasty: Desk) -> None:
    with another(hasty, SHARED), pytest.raises(StoreError, match=LOCKED):
        await hasty.edit(1, settings={"every": "1h"})

    await hasty.edit(1, settings={"every": "1h"})


async def test_alerts_wait_for_the_transaction_that_publishes_and_unchanged_checks_do_not(hasty: Desk) -> None:
    await hasty.check(A, "1")
    hasty.now += DAY

    with another(hasty, SHARED, "update positions set position = position + 1"):
        await hasty.check(A, "1")
        with pytest.raises(StoreError, match=LOCKED):
            await hasty.store.write_alert(alert("late", None))
        with pytest.raises(StoreError, match=LOCKED):
            await hasty.store.record_deliveries([])


async def test_waits_that_a_wrong_clock_made_too_long_are_shortened_beside_commits_for_the_hosts_of_this_node_alone(
    hasty: Desk,
) -> None:
    await hasty.check(A, "1", host_gate_at=NOW + 9 * DAY)
    await hasty.check(C, "1", host_gate_at=NOW + 9 * DAY)
    ours = [hasty.claim.part_of(shard_of("one.example"))]

    with another(hasty, SHARED):
        await hasty.store.pull_in_waits(hasty.claim.only(ours), NOW, back=timedelta(days=1), longest=timedelta(days=30))

    assert await hasty.store.host_gates(NOW) == {"one.example": NOW + 8 * DAY, "two.example": NOW + 9 * DAY}


async def test_a_batch_that_finds_nothing_new_takes_one_round_trip(desk: Desk) -> None:
    await desk.watch(A, B, C)
    place, said = PostgresPlace(desk.behind.url, BUSY), desk.folder / "said"

    class TracedSession(PostgresSession):
        """Notes each message to the server and from it."""

        def __init__(self, connection: psycopg.Connection[Any], give_up: Callable[[], None]) -> None:
            super().__init__(connection, give_up)
            connection.pgconn.trace(trace.fileno())

    database = PostgresDatabase(place)
    database.writer = PostgresLane(place, writes=True, kind=TracedSession)
    with said.open("wb") as trace:
        async with PostgresStore(database, Options(history=True, gather=GATHER, storms=SignalSettings())) as store:
            for _ in range(3):
                desk.now += DAY
                # The statements are prepared by the first of such batches.
                before = said.read_text("latin-1").count("\tSync")
                await store.commit(desk.claim, [desk.result(task, "1") for task in await desk.due()])

    assert said.read_text("latin-1").count("\tSync") - before == 1


async def test_nodes_that_keep_robots_txt_of_one_host_keep_both(desk: Desk) -> None:
    await desk.watch(A)
    theirs = """update hosts set robots = '{"https://one.example:8443": "theirs"}'"""

    with another(desk, SHARED, theirs) as other:
        async with asyncio.TaskGroup() as group:
            saving = group.create_task(desk.store.save_robots("https://one.example", "ours"))
            while not await asyncio.to_thread(desk.behind.look, WAITS) and not saving.done():
                pass
            other.commit()

    kept = [await desk.store.load_robots(f"https://one.example{port}") for port in ("", ":8443")]
    assert kept == ["ours", "theirs"]


async def test_a_commit_that_met_another_transaction_head_on_is_tried_again(desk: Desk) -> None:
    await desk.watch(A, B)
    results = [desk.result(await desk.task(url), "1") for url in (A, B)]

    with another(desk, "set deadlock_timeout = '1h'", "update pages set flags = flags where id = 2") as other:
        async with asyncio.TaskGroup() as group:
            committing = group.create_task(desk.store.commit(desk.claim, results))
            while not await asyncio.to_thread(desk.behind.look, WAITS) and not committing.done():
                pass
            # Each waits for the other now; the server ends the one that notices first.
            await asyncio.to_thread(other.execute, "update pages set flags = flags where id = 1")
            other.commit()

    assert [(await desk.page(url)).last.checked_at for url in (A, B)] == [NOW, NOW]


WAITS = "select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
