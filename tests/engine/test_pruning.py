from __future__ import annotations

import asyncio
from datetime import timedelta

from tests.fakes import START, EagerClock, ManualClock, RecordingTelemetry
from tocsin.engine.pruning import BATCH_ROWS, EVERY_S, ROOM_EVERY_S, Pruning
from tocsin.errors import StoreError
from tocsin.model import Instant
from tocsin.settings import SnapshotSettings

YEAR = timedelta(days=365)


TEXTS = SnapshotSettings(keep=timedelta(days=9), per_page=3, total=1000)


class Attic:
    """What pruning needs of a store, with so many rows and texts that are past their retention."""

    def __init__(self, rows: int = 0, *faults: StoreError, texts: int = 0) -> None:
        self.rows, self.faults, self.texts = rows, list(faults), texts
        self.asked_for_texts: list[Instant] = []
        self.terms: set[tuple[timedelta, int]] = set()
        self.too_many = 0
        self.totals: list[int] = []
        self.asked: list[tuple[Instant, timedelta, int]] = []
        self.pruned_at: Instant | None = None
        self.looks_for_titles = 0

    async def sweep_pictures(self) -> int:
        return 0

    async def begin_pruning(self, now: Instant, *, most: timedelta) -> Instant:
        us = most // timedelta(microseconds=1)
        self.pruned_at = min(now, self.pruned_at + us if self.pruned_at is not None else now)
        return self.pruned_at

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        self.asked.append((now, history, limit))
        if self.faults:
            raise self.faults.pop()
        gone = min(self.rows, limit)
        self.rows -= gone
        return gone

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        self.terms.add((keep, per_page))
        self.asked_for_texts.append(now)
        gone = min(self.texts, limit)
        self.texts -= gone
        return gone

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        self.totals.append(total)
        gone = min(self.too_many, limit)
        self.too_many -= gone
        return gone

    async def keep_titles(self) -> int:
        self.looks_for_titles += 1
        return 0


async def test_what_is_past_its_retention_goes_in_small_batches() -> None:
    attic, clock = Attic(rows=1200), EagerClock()

    forgotten = await Pruning(attic, YEAR, TEXTS, clock, RecordingTelemetry()).prune()

    assert (forgotten, attic.rows) == (1200, 0)
    assert {(history, limit) for _, history, limit in attic.asked} == {(YEAR, BATCH_ROWS)}
    assert len(clock.slept) == 3, "the writer of states has a breath between batches"


async def test_pruning_is_done_every_hour_and_goes_on_after_the_store_failed() -> None:
    attic, clock, telemetry = Attic(0, StoreError("the disk is full")), ManualClock(), RecordingTelemetry()
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(Pruning(attic, YEAR, TEXTS, clock, telemetry).run(), name="pruning")
        await clock.advance(2 * EVERY_S + 1)
        loop.cancel()

    assert attic.looks_for_titles == 2 * EVERY_S / ROOM_EVERY_S
    assert [now - START for now, _, _ in attic.asked] == [0, 3_600_000_000, 7_200_000_000]
    assert telemetry.names() == ["pruning.failed"]


async def test_a_clock_that_jumps_ahead_of_the_retention_takes_a_day_an_hour_at_most() -> None:
    attic, clock = Attic(), ManualClock()
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(Pruning(attic, YEAR, TEXTS, clock, RecordingTelemetry()).run(), name="pruning")
        await clock.advance(1)
        clock.set_wall(START + 2 * YEAR // timedelta(microseconds=1))
        await clock.advance(2 * EVERY_S)
        clock.set_wall(START)
        await clock.advance(EVERY_S)
        loop.cancel()

    days = [round((now - START) / 86_400_000_000, 2) for now, _, _ in attic.asked]
    assert days == [0, 1, 2, 0.04]


async def test_texts_go_by_terms_of_their_own() -> None:
    attic = Attic(rows=1, texts=2 * BATCH_ROWS)

    forgotten = await Pruning(attic, YEAR, TEXTS, EagerClock(), RecordingTelemetry()).prune()

    assert forgotten == 1 + 2 * BATCH_ROWS
    assert attic.asked_for_texts == sorted(attic.asked_for_texts)
    assert attic.terms == {(timedelta(days=9), 3)}
    assert attic.totals == [1000]


async def test_texts_that_take_too_much_room_do_not_wait_for_the_hour() -> None:
    attic, clock = Attic(), ManualClock()
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(Pruning(attic, YEAR, TEXTS, clock, RecordingTelemetry()).run(), name="pruning")
        await clock.advance(1)
        attic.too_many = BATCH_ROWS + 1
        await clock.advance(ROOM_EVERY_S + 1)
        loop.cancel()

    assert attic.too_many == 0
    assert len(attic.asked) == 1
