"""The wall clock is set: what waits then waits no longer than it was to wait before."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.desk import DAY, GATHER, HOUR, LEASE, MINUTE, NOW, SECOND, A, B, Desk
from tests.fakes import EagerClock, ManualClock, RecordingTelemetry
from tocsin.engine.clock_watch import SETTLED_S, WHY, ClockWatch
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.judging.cadence import next_check
from tocsin.engine.policies import Policies
from tocsin.errors import StoreError
from tocsin.model import Instruction, JsonObject
from tocsin.settings import HostSettings, PageSettings

SIX_HOURS = PageSettings(every=timedelta(hours=6))


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    opened = await Desk.at(tmp_path)
    try:
        yield opened
        assert await opened.store.check() == []
    finally:
        await opened.store.close()


@pytest.fixture
async def shared(tmp_path: Path) -> AsyncIterator[Desk]:
    """A store that several nodes share."""
    opened = await Desk.at(tmp_path, "postgresql")
    try:
        yield opened
        assert await opened.store.check() == []
    finally:
        await opened.store.close()
        opened.behind.remove()


class Watching:
    """A clock watch over the desk's store; its clock is at NOW until it is set."""

    def __init__(self, desk: Desk, store: Any = None, clock: ManualClock | None = None, **pages: Any) -> None:
        self.desk, self.clock, self.telemetry = desk, clock or ManualClock(NOW), RecordingTelemetry()
        self.lease = Lease(desk.store, "engine", LEASE, self.clock, self.telemetry)
        self.told_back = 0
        self.spread: list[dict[int, int] | None] = []
        self.watch = ClockWatch(
            store or desk.store,
            self.lease,
            Policies(PageSettings(**({"every": timedelta(hours=6)} | pages))),
            HostSettings(),
            self.clock,
            self.telemetry,
            time_zone="UTC",
            on_back=self._tell,
            on_spread=self.spread.append,
        )

    def _tell(self) -> None:
        self.told_back += 1

    async def step(self, us: int) -> int:
        """Set the wall clock by so much, and let that be noticed; returns the time it shows then."""
        await self.lease.take()
        self.clock.set_wall(self.clock.now() + us)
        await self.watch.look()
        return self.clock.now()

    async def next_of(self, url: str) -> tuple[int | None, str | None]:
        row = await self.desk.page(url)
        return row.due.at, row.due.why


async def checked(desk: Desk, *urls: str, ago: int = MINUTE, **changes: Any) -> None:
    """Let pages be watched, and checked so long ago, as the clock says at NOW; due after their six hours."""
    desk.now = NOW - ago
    await desk.watch(*urls)
    for url in urls:
        task = await desk.task(url)
        at, why = next_check(task.page_id, desk.now, SIX_HOURS)
        planned: dict[str, Any] = {"next_at": at, "next_why": why}
        await desk.store.commit(desk.claim, [desk.result(task, **(planned | changes))])
    desk.now = NOW


@pytest.mark.parametrize("back", [7 * HOUR, DAY, 400 * DAY])
async def test_a_page_checked_before_a_step_back_is_due_within_its_interval(desk: Desk, back: int) -> None:
    await checked(desk, A, B)
    watching = Watching(desk)

    now = await watching.step(-back)

    for url in (A, B):
        due, why = await watching.next_of(url)
        assert due is not None
        assert now < due <= now + 6 * HOUR
        assert why == WHY
    assert watching.spread[-1] is None


@pytest.mark.parametrize("text", ["every = 1h", "[1]", "{"])
@pytest.mark.parametrize("level", ["pages", "groups", "store"])
async def test_settings_that_are_no_object_keep_no_page_from_being_planned_anew(
    desk: Desk, level: str, text: str
) -> None:
    # Checked before the time that the clock is set to, so that the interval decides, which settings may hold.
    await checked(desk, A, B, ago=8 * HOUR, next_at=NOW + 3 * DAY)
    with closing(sqlite3.connect(desk.folder / "tocsin.db")) as db, db:
        where = f" where url = '{A}'" if level == "pages" else ""
        db.execute(f"update {level} set settings = ?{where}", (text,))  # noqa: S608 - ours
    watching = Watching(desk)

    # A store that fails would be asked again for ever.
    async with asyncio.timeout(30):
        now = await watching.step(-7 * HOUR)

    for url in (A, B):
        due, _ = await watching.next_of(url)
        assert due is not None
        assert now < due <= now + 6 * HOUR
    assert watching.telemetry.names() == ["clock.stepped_back", "clock.replanned"]


async def test_a_step_back_is_told_once_and_at_once(desk: Desk) -> None:
    watching = Watching(desk)

    await watching.step(-HOUR)
    await watching.watch.look()

    (told,) = watching.telemetry.happenings
    assert told.name == "clock.stepped_back"
    assert (told.level, told.values["by"]) == ("warning", "1h")
    assert watching.told_back == 1


async def test_a_step_forward_is_told_and_moves_nothing(desk: Desk) -> None:
    await checked(desk, A)
    watching = Watching(desk)
    before = await watching.next_of(A)

    await watching.step(7 * DAY)

    assert watching.telemetry.names() == ["clock.forward"]
    assert await watching.next_of(A) == before


async def test_a_clock_that_is_kept_right_is_no_step(desk: Desk) -> None:
    watching = Watching(desk)

    for _ in range(20):
        await watching.step(-SECOND // 10)

    assert watching.telemetry.names() == []


async def test_what_was_checked_by_the_true_clock_is_not_moved(desk: Desk) -> None:
    await checked(desk, A, ago=2 * HOUR)
    watching = Watching(desk)
    before = await watching.next_of(A)

    await watching.step(-MINUTE)

    assert await watching.next_of(A) == before


async def test_a_page_keeps_the_wait_that_its_host_asked_for(desk: Desk) -> None:
    await checked(desk, A, next_at=NOW + 10 * MINUTE, next_why="held: the host asked to wait")
    watching = Watching(desk)

    now = await watching.step(-DAY)

    assert await watching.next_of(A) == (now + 11 * MINUTE, "held: the host asked to wait")


async def test_T43_a_page_keeps_the_wait_that_its_refresh_asks_for(desk: Desk) -> None:
    await checked(desk, A, next_at=NOW + 2 * DAY - MINUTE, next_why="the page's refresh of 172800 s")
    watching = Watching(desk)

    now = await watching.step(-5 * DAY)

    assert (await watching.next_of(A))[0] == now + 2 * DAY


async def test_a_page_with_a_cron_expression_is_due_at_its_next_occurrence(desk: Desk) -> None:
    await checked(desk, A, next_at=NOW + 20 * HOUR, next_why="cron 0 * * * *")
    watching = Watching(desk, cron="0 * * * *")

    now = await watching.step(-2 * DAY)

    page = await desk.page(A)
    assert page.due.at == next_check(page.id, now, PageSettings(cron="0 * * * *"))[0]


async def test_T60_a_time_that_the_user_named_stays(desk: Desk) -> None:
    await checked(desk, A)
    await desk.fail(A)
    desk.now = NOW + 2 * MINUTE
    (question,) = await desk.announce()
    named = Instruction("again", at=NOW + 3 * DAY)
    await desk.store.answer(question, named, scope="page", url=A, now=NOW)
    watching = Watching(desk)

    await watching.step(-DAY)

    assert (await watching.next_of(A))[0] == NOW + 3 * DAY


async def test_a_question_is_announced_after_its_gathering_not_when_the_clock_has_caught_up(desk: Desk) -> None:
    await checked(desk, A)
    await desk.fail(A)
    watching = Watching(desk)

    now = await watching.step(-DAY)

    assert len(await desk.store.questions_to_announce(now + GATHER // timedelta(microseconds=1))) == 1


async def test_a_host_is_left_alone_for_no_longer_than_it_asked(desk: Desk) -> None:
    await checked(desk, A, host_gate_at=NOW + 10 * MINUTE)
    watching = Watching(desk)

    now = await watching.step(-3 * HOUR)

    assert await desk.store.host_gates(now) == {"one.example": now + 10 * MINUTE}


async def test_a_rendering_pauses_for_no_longer_than_it_was_to(desk: Desk) -> None:
    await checked(desk, A)
    await desk.check(A, "2026-01-01")
    job = await desk.job(A)
    await desk.store.release_render(desk.claim, job.page_id, not_before=NOW + MINUTE)
    watching = Watching(desk)

    now = await watching.step(-DAY)

    assert await desk.store.waiting_renders(limit=9, now=now + MINUTE - 1) == []
    assert len(await desk.store.waiting_renders(limit=9, now=now + MINUTE)) == 1


async def test_a_clock_that_was_set_back_while_nothing_ran_is_mended_at_the_launch(desk: Desk) -> None:
    await checked(desk, A, next_at=NOW + 6 * HOUR)
    watching = Watching(desk)
    await watching.lease.take()
    watching.clock.set_wall(NOW - HOUR // 2)

    await watching.watch.mend()

    due, _ = await watching.next_of(A)
    assert due is not None
    assert NOW - HOUR // 2 < due <= NOW - HOUR // 2 + 6 * HOUR
    assert watching.told_back == 0


@pytest.mark.parametrize(("said", "why"), [({"ahead_s": 3600}, WHY), ({}, "checked by another node")])
async def test_parts_of_a_node_whose_clock_was_ahead_are_planned_anew_by_the_node_that_takes_them(
    shared: Desk, said: JsonObject, why: str
) -> None:
    await checked(shared, A, ago=-HOUR, next_at=NOW + 7 * HOUR, next_why="checked by another node")
    await shared.store.enter("alone before", timedelta(0), said)
    watching = Watching(shared)
    await watching.lease.take()

    await watching.watch.look()

    due, found = await watching.next_of(A)
    assert found == why
    assert due is not None
    assert (due <= NOW + 6 * HOUR) is (why == WHY)


async def test_a_result_that_comes_after_the_step_is_mended_too(desk: Desk) -> None:
    watching = Watching(desk)
    now = await watching.step(-DAY)
    desk.claim = watching.lease.claim
    await checked(desk, A)
    late, _ = await watching.next_of(A)
    assert late is not None
    assert late > now + 6 * HOUR

    await watching.clock.advance(SETTLED_S)
    await watching.watch.look()

    due, _ = await watching.next_of(A)
    assert due is not None
    assert due <= watching.clock.now() + 6 * HOUR


class FailingOnce:
    """A store whose first look for pages fails."""

    def __init__(self, desk: Desk) -> None:
        self._store, self.has_failed = desk.store, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def pull_in(self, *args: Any, **options: Any) -> int:
        if not self.has_failed:
            self.has_failed = True
            raise StoreError("tocsin.db: disk I/O error")
        return await self._store.pull_in(*args, **options)


async def test_a_store_that_fails_is_asked_again_and_no_pause_is_shortened_twice(desk: Desk) -> None:
    await checked(desk, A, host_gate_at=NOW + 10 * HOUR)
    watching = Watching(desk, FailingOnce(desk), EagerClock(NOW))

    await watching.step(-7 * HOUR)

    assert watching.telemetry.names() == ["clock.stepped_back", "clock.unmended", "clock.replanned"]
    assert await desk.store.host_gates(NOW - 7 * HOUR) == {"one.example": NOW + 3 * HOUR}
