"""Asking the user, over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.awareness import DAY, SECOND, Bench
from tests.fakes import ManualClock, cut_off
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.alerting.announcements import QuestionAnnouncer
from tocsin.errors import StoreError
from tocsin.model import (
    Attempt,
    CheckReport,
    CheckResult,
    Claim,
    DueTime,
    Failure,
    Instant,
    JsonObject,
    QuestionRow,
)

GATHER = timedelta(seconds=60)


class Desk:
    """Pages that fail, and the loop that asks about them."""

    def __init__(self, store: SqlStore) -> None:
        self.bench = Bench(store, ManualClock())
        self.clock, self.store, self.telemetry = self.bench.clock, store, self.bench.telemetry
        self.announced = 0
        self.attention = QuestionAnnouncer(
            store,
            self.bench.alerts,
            self.bench.outage,
            GATHER,
            self.clock,
            self.telemetry,
            on_announced=self._note,
        )

    async def fail(self, *names: str, cause: str = "connect") -> None:
        """Let checks of these pages fail."""
        await self.bench.lease.take()
        for name in names:
            task, now = await self.bench.task(name), self.clock.now()
            attempt = Attempt(now, cause, None, "connection refused", 12)
            result = CheckResult(
                page_id=task.page_id,
                host_id=task.host_id,
                report=CheckReport(task.url, "unreachable"),
                checked_at=now,
                set_at=None,
                due=DueTime(now + DAY, "every 24h"),
                failure=Failure(cause, (attempt,), "check"),
            )
            await self.store.commit(self.bench.lease.claim, [result])

    async def questions(self) -> list[JsonObject]:
        """What the user was asked, in order."""
        return [event["data"] for event in await self.bench.events()]

    def pass_time(self, seconds: int) -> None:
        self.clock.set_wall(self.clock.now() + seconds * SECOND)

    def _note(self) -> None:
        self.announced += 1


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True, gather=GATHER) as store:
        desk = Desk(store)
        await desk.bench.add("a", "b", "c")
        yield desk


async def test_T60_pages_that_fail_for_one_host_and_cause_are_asked_about_together(desk: Desk) -> None:
    await desk.fail("a", "b", "c")
    desk.pass_time(60)

    assert await desk.attention.look() == 1

    (asked,) = await desk.questions()
    assert (asked["question"]["pages"], asked["question"]["scope"]) == (3, "host")
    assert asked["page"]["url"] == "https://example.org/a"
    assert desk.announced == 1
    assert desk.telemetry.happenings[-1].values["summary"] == asked["summary"]


async def test_T60_nobody_is_asked_while_failures_are_gathered(desk: Desk) -> None:
    await desk.fail("a")
    desk.pass_time(59)

    assert await desk.attention.look() == 0
    assert desk.announced == 0


async def test_T60_a_question_is_asked_once(desk: Desk) -> None:
    await desk.fail("a")
    desk.pass_time(60)
    await desk.attention.look()
    await desk.fail("b")
    desk.pass_time(600)

    assert await desk.attention.look() == 0
    assert len(await desk.questions()) == 1


async def test_T60_another_cause_is_another_question(desk: Desk) -> None:
    await desk.fail("a")
    await desk.fail("b", cause="timeout")
    desk.pass_time(60)

    assert await desk.attention.look() == 2


async def test_T60_a_one_shot_command_asks_at_once(desk: Desk) -> None:
    await desk.fail("a")

    assert await desk.attention.flush() == 1


async def test_nobody_is_asked_while_it_is_our_own_connection_that_fails(desk: Desk) -> None:
    await desk.fail("a")
    desk.pass_time(60)
    cut_off(desk.bench.outage)

    assert await desk.attention.look() == 0

    desk.bench.outage.note("a.example", ok=True)
    assert await desk.attention.look() == 1


async def test_the_loop_goes_on_after_the_store_failed(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    look = desk.store.questions_to_announce
    fails = [StoreError("the disk is full")]
    asked = asyncio.Event()

    async def sometimes(now: Instant, claim: Claim) -> list[QuestionRow]:
        if fails:
            raise fails.pop()
        asked.set()
        return await look(now, claim)

    monkeypatch.setattr(desk.store, "questions_to_announce", sometimes)
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(desk.attention.run(), name="attention")
        await desk.clock.advance(1)
        await asked.wait()
        loop.cancel()

    assert "attention.failed" in desk.telemetry.names()
