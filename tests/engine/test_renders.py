"""The render queue at work, over a real store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.awareness import DAY, NEW, NEWER, OLD, SECOND, Bench
from tests.fakes import ManualClock, settle
from tocsin.adapters.stores import open_store
from tocsin.engine.receive import Disallowed
from tocsin.errors import FetchFailed, FetchRefused
from tocsin.model import FailureKind, Instruction

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from datetime import timedelta
    from pathlib import Path

    from tocsin.adapters.stores.sqlite.store import SqliteStore
    from tocsin.model import RenderJob


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


def url_of(name: str) -> str:
    return f"https://example.org/{name}"


def failure(name: str, *, retry_after: timedelta | None = None) -> FetchFailed:
    return FetchFailed(url_of(name), FailureKind.CONNECT, "connection refused", retry_after=retry_after)


def data_of(event: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = event["data"]
    return data


async def test_T57_a_change_is_rendered_and_told_in_one_alert(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)

    await bench.drain()

    (event,) = await bench.events()
    assert (event["type"], event["subject"]) == ("tocsin.page.changed.v1", url_of("a"))
    assert data_of(event)["rendering"]["title"] == "A page"
    assert data_of(event)["rendering"]["same_state"] is True
    assert bench.committed == 1


async def test_T55_no_more_pages_are_rendered_at_once_than_the_limit(store: SqliteStore) -> None:
    bench = Bench(store, limit=3)
    under_way, most = 0, 0

    async def count(_job: RenderJob) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await settle()
        under_way -= 1

    bench.renderer.before = count
    await bench.add(*"abcdefgh")
    for name in "abcdefgh":
        await bench.check(name, NEW)

    await bench.drain()

    assert most == 3
    assert sorted(bench.renderer.pages) == list("abcdefgh")


async def test_T55_deferred_pages_go_major_ones_first_but_none_waits_for_ever(store: SqliteStore) -> None:
    bench = Bench(store, limit=1)
    await bench.add(*"abcde")
    for name in "abc":
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check(name, NEW, major=False)
    for name in "de":
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check(name, NEW)

    await bench.drain()

    assert bench.renderer.pages == ["d", "a", "e", "b", "c"]


async def test_T58_a_failed_rendering_is_tried_again_and_the_tries_outlive_a_restart(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"), failure("a"), NEW)

    await bench.drain()

    assert [len(job.task.attempts) for job in bench.renderer.asked] == [0, 1, 2]
    (event,) = await bench.events()
    assert data_of(event)["rendering"]["error"] is None


async def test_T55_a_slot_is_given_up_during_the_pause_between_tries(store: SqliteStore) -> None:
    bench = Bench(store, ManualClock(), limit=1)
    await bench.add("a", "b")
    await bench.check("a", NEW)
    bench.clock.set_wall(bench.clock.now() + SECOND)
    await bench.check("b", NEW)
    bench.renderer.on(url_of("a"), failure("a"), NEW)
    second = asyncio.Event()

    async def tell(job: RenderJob) -> None:
        if job.task.url == url_of("b"):
            second.set()

    bench.renderer.before = tell
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.drain(), name="drain")
        await second.wait()
        await bench.clock.advance(2)

    assert bench.renderer.pages == ["a", "b", "a"]


@pytest.mark.parametrize("kind", [FailureKind.STATUS, FailureKind.TOO_LARGE, FailureKind.BLOCKED_ADDRESS])
async def test_T58_in_awareness_every_failure_is_tried_again(bench: Bench, kind: FailureKind) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), FetchRefused(url_of("a"), kind, "no", status=404), NEW)

    await bench.drain()

    assert len(bench.renderer.asked) == 2


async def test_T60_a_rendering_that_failed_is_told_with_its_error_and_the_user_is_asked(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"))

    await bench.drain()

    (event,) = await bench.events()
    assert data_of(event)["rendering"]["error"] == {"kind": "connect", "status": None, "message": "connection refused"}
    (question,) = await bench.store.questions()
    assert (question.cause, question.during, len(question.attempts)) == ("connect", "rendering", 3)
    assert question.pending_change is not None
    assert question.pending_change["outcome"] == "major"
    assert (await bench.task("a")).owed


async def test_a_page_that_crashes_its_rendering_is_told_of_and_stops_no_other(bench: Bench) -> None:
    await bench.add("a", "b")
    await bench.check("a", NEW)
    await bench.check("b", NEW)
    bench.renderer.on(url_of("a"), ZeroDivisionError("division by zero"))

    await bench.drain()

    errors = {event["subject"]: data_of(event)["rendering"]["error"] for event in await bench.events()}
    assert errors[url_of("b")] is None
    assert errors[url_of("a")]["kind"] == "crashed"
    assert "page.crashed" in bench.telemetry.names()


async def test_T70_after_a_rendering_only_the_latest_record_is_left(bench: Bench) -> None:
    await bench.add("a")
    bench.clock.set_wall(bench.clock.now() + DAY)
    await bench.check("a", NEW)

    await bench.drain()

    rows = [row.fields async for row in await bench.store.table_rows()]
    assert rows == [NEW]


async def test_T70_a_rendering_that_failed_prunes_nothing(bench: Bench) -> None:
    await bench.add("a")
    bench.clock.set_wall(bench.clock.now() + DAY)
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"))

    await bench.drain()

    rows = [row.fields async for row in await bench.store.table_rows()]
    assert rows == [OLD, NEW]


async def test_T20_the_state_that_a_rendering_found_is_stored_and_told_in_the_same_alert(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.clock.set_wall(bench.clock.now() + 60 * SECOND)
    bench.renderer.on(url_of("a"), NEWER)

    await bench.drain()

    (event,) = await bench.events()
    assert data_of(event)["rendered"]["outcome"] == "major"
    state = (await bench.task("a")).state
    assert state is not None
    assert state.fields == NEWER
    assert len(bench.renderer.asked) == 1


async def test_T60_an_owed_rendering_is_told_in_the_recovered_event(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    bench.renderer.on(url_of("a"), NEW)
    await bench.receive("a")

    await bench.drain()

    _, event = await bench.events()
    assert event["type"] == "tocsin.page.recovered.v1"
    assert data_of(event)["rendering"]["status"] == 200
    assert data_of(event)["question"] == {"id": "1", "ended": True}
    assert await bench.store.questions() == []
    assert not (await bench.task("a")).owed


async def test_a_page_forbidden_by_robots_is_told_with_that_and_nobody_is_asked(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), Disallowed(url_of("a"), "Disallow: /", None))

    await bench.drain()

    (event,) = await bench.events()
    assert data_of(event)["rendering"]["error"]["kind"] == "disallowed"
    assert await bench.store.questions() == []
    assert (await bench.task("a")).owed


async def test_our_own_outage_costs_no_try_and_asks_nobody(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)

    async def lose_the_connection(_job: RenderJob) -> None:
        for host in ("a.example", "b.example", "c.example"):
            bench.outage.note(host, ok=False, kind=FailureKind.CONNECT)

    bench.renderer.before = lose_the_connection
    bench.renderer.on(url_of("a"), failure("a"), NEW)
    await bench.drain()
    during = await bench.events()
    bench.outage.note("a.example", ok=True)
    bench.renderer.before = None
    bench.clock.set_wall(bench.clock.now() + 61 * SECOND)

    await bench.drain()

    assert during == []
    assert len(await bench.events()) == 1
    assert [len(job.task.attempts) for job in bench.renderer.asked] == [0, 0]


async def test_T62_a_page_that_was_turned_off_is_not_requested_and_its_alert_is_given(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)
    await bench.store.edit_group(None, bench.clock.now(), settings={"mode": "off"}, unset=[])
    await bench.policies.load(bench.store)

    await bench.drain()

    (event,) = await bench.events()
    assert data_of(event)["rendering"]["error"]["kind"] == "skipped"
    assert bench.renderer.asked == []


async def test_T72_a_rendering_that_was_cut_off_is_made_again_after_a_restart(store: SqliteStore) -> None:
    bench = Bench(store, ManualClock())
    await bench.add("a")
    await bench.check("a", NEW)
    begun = asyncio.Event()

    async def hang(_job: RenderJob) -> None:
        begun.set()
        await asyncio.Event().wait()

    bench.renderer.before = hang
    async with asyncio.TaskGroup() as group:
        cut = group.create_task(bench.drain(), name="cut off")
        await begun.wait()
        cut.cancel()
    bench.renderer.before = None

    await bench.drain()

    assert len(await bench.events()) == 1
    assert len(bench.renderer.asked) == 2


async def test_T72_what_a_lost_claim_rendered_is_not_written(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)

    async def lose_the_claim(_job: RenderJob) -> None:
        bench.renderer.before = None
        await bench.store.claim(range(4096), bench.clock.now(), bench.lease._length, "test")

    bench.renderer.before = lose_the_claim
    bench.queue = bench.fresh_queue()
    await bench.lease.take()
    async with asyncio.TaskGroup() as group:
        group.create_task(bench.queue.run(group), name="renders")
        await bench.telemetry.heard("render.lost")
        bench.queue.stop()

    assert await bench.events() == []


async def test_a_verdict_that_comes_while_its_page_is_rendered_gets_a_rendering_of_its_own(bench: Bench) -> None:
    await bench.add("a")
    await bench.check("a", NEW)

    async def change_again(_job: RenderJob) -> None:
        bench.renderer.before = None
        bench.clock.set_wall(bench.clock.now() + SECOND)
        await bench.check("a", NEWER)

    bench.renderer.before = change_again
    bench.renderer.on(url_of("a"), NEW, NEWER)

    await bench.drain()

    assert len(bench.renderer.asked) == 2
    assert len(await bench.events()) == 2


async def test_a_copy_that_the_user_chose_is_received_instead_and_nothing_is_stored(bench: Bench) -> None:
    copy = "https://archive.example/a"
    await bench.add("a")
    await bench.check("a", NEW)
    bench.renderer.on(url_of("a"), failure("a"))
    await bench.drain()
    (question,) = await bench.store.questions()
    await _answer_copy(bench, question.id, copy)
    bench.renderer.on(copy, NEWER)

    await bench.drain()

    assert bench.renderer.asked[-1].copy_url == copy
    event = (await bench.events())[-1]
    assert (event["type"], data_of(event)["rendering"]["kind"]) == ("tocsin.page.recovered.v1", "copy")
    state = (await bench.task("a")).state
    assert state is not None
    assert state.fields == NEW


async def _answer_copy(bench: Bench, question_id: int, copy: str) -> None:
    instruction = Instruction("copy", copy_url=copy)
    await bench.store.answer(question_id, instruction, scope="page", url=None, now=bench.clock.now())
