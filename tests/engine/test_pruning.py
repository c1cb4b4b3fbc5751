from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.fakes import START, EagerClock, ManualClock, RecordingTelemetry
from tocsin.engine.pruning import BATCH_ROWS, EVERY_S, Pruning
from tocsin.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tocsin.model import Instant

YEAR = timedelta(days=365)


class Attic:
    """Implements ports.StoreCare: holds so many rows that are past their retention."""

    def __init__(self, rows: int = 0, *faults: StoreError) -> None:
        self.rows, self.faults = rows, list(faults)
        self.asked: list[tuple[Instant, timedelta, int]] = []

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        self.asked.append((now, history, limit))
        if self.faults:
            raise self.faults.pop()
        gone = min(self.rows, limit)
        self.rows -= gone
        return gone

    async def backup(self, target: str) -> AsyncIterator[tuple[int, int]]:
        raise NotImplementedError(target)

    async def check(self) -> list[str]:
        return []

    async def is_held(self) -> bool:
        return True

    async def close(self) -> None:
        return


async def test_what_is_past_its_retention_goes_in_small_batches() -> None:
    attic, clock = Attic(rows=1200), EagerClock()

    forgotten = await Pruning(attic, YEAR, clock, RecordingTelemetry()).prune()

    assert (forgotten, attic.rows) == (1200, 0)
    assert {(history, limit) for _, history, limit in attic.asked} == {(YEAR, BATCH_ROWS)}
    assert len(clock.slept) == 3, "the writer of states has a breath between batches"


async def test_pruning_is_done_every_hour_and_goes_on_after_the_store_failed() -> None:
    attic, clock, telemetry = Attic(0, StoreError("the disk is full")), ManualClock(), RecordingTelemetry()
    async with asyncio.TaskGroup() as group:
        loop = group.create_task(Pruning(attic, YEAR, clock, telemetry).run(), name="pruning")
        await clock.advance(2 * EVERY_S + 1)
        loop.cancel()

    assert [now - START for now, _, _ in attic.asked] == [0, 3_600_000_000, 7_200_000_000]
    assert telemetry.names() == ["pruning.failed"]
