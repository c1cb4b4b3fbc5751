"""Results are gathered, and written in batches."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import cast

import pytest

from tests.fakes import EagerClock, RecordingTelemetry
from tocsin.engine.hosts.lease import Lease, LeaseStore
from tocsin.engine.scheduling.writer import ResultWriter
from tocsin.errors import StoreError
from tocsin.model import (
    CheckReport,
    CheckResult,
    Claim,
    CommittedResults,
    DueTime,
    Membership,
    NodeIdentity,
)
from tocsin.ports import WorkStore
from tocsin.settings import StoreSettings


class _Store:
    """Notes the batches; commits when it is let, and fails as often as it is told."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.failures = 0
        self.let = asyncio.Event()
        self.let.set()
        self.asked = asyncio.Event()

    is_shared = False

    async def enter(self, node: str, _lease: timedelta, _said: object) -> NodeIdentity:
        return NodeIdentity(node, 1)

    async def renew_node(self, _me: NodeIdentity, _lease: timedelta, _said: object) -> Membership:
        return Membership(1, draining=False, parts=1, held={0: 1})

    async def commit(self, _claim: Claim, results: Sequence[CheckResult]) -> CommittedResults:
        self.asked.set()
        await self.let.wait()
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        self.batches.append([result.page_id for result in results])
        return CommittedResults({})


def _result(page_id: int, *, saved: int = 0) -> CheckResult:
    report = CheckReport("http://site.example/", "unchanged", not_modified=bool(saved), saved_bytes=saved)
    return CheckResult(page_id, 1, report, 0, 0, DueTime(None, "why"))


async def _writer(store: _Store, *, rows: int = 3, patient: bool = True) -> ResultWriter:
    clock, telemetry = EagerClock(), RecordingTelemetry()
    lease = Lease(cast("LeaseStore", store), "test", timedelta(seconds=10), clock, telemetry)
    await lease.take()
    settings = StoreSettings(batch_rows=rows)
    return ResultWriter(
        cast("WorkStore", store), lease, settings, clock, telemetry, patient=patient, on_committed=lambda _r, _d: None
    )


async def test_a_batch_has_at_most_its_rows_and_keeps_the_order() -> None:
    store = _Store()
    writer = await _writer(store)

    await writer.put_all([_result(number) for number in range(5)])
    await writer.finish()
    await writer.run()

    assert store.batches == [[0, 1, 2], [3, 4]]


async def test_whoever_hands_over_waits_while_the_store_is_behind() -> None:
    store = _Store()
    writer = await _writer(store)
    await writer.put_all([_result(number) for number in range(5)])

    async with asyncio.TaskGroup() as group:
        late = group.create_task(writer.put(_result(5)))
        await asyncio.sleep(0)
        assert not late.done()
        await writer.finish()
        await writer.run()

    assert [number for batch in store.batches for number in batch] == [0, 1, 2, 3, 4, 5]


async def test_what_was_handed_over_by_somebody_who_gave_up_waiting_is_written() -> None:
    store = _Store()
    writer = await _writer(store)
    await writer.put_all([_result(number) for number in range(5)])

    async with asyncio.TaskGroup() as group:
        late = group.create_task(writer.put(_result(5)))
        await asyncio.sleep(0)
        late.cancel()
        await writer.finish()
        await writer.run()

    assert [number for batch in store.batches for number in batch] == [0, 1, 2, 3, 4, 5]


async def test_results_that_cannot_be_written_are_noted_until_they_are() -> None:
    store = _Store()
    store.failures = 3
    writer = await _writer(store)
    commits = writer._lease.commits

    await writer.put(_result(1))
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        store.let.clear()
        await store.asked.wait()
        store.let.set()
        while not commits.unwritten()[0]:  # noqa: ASYNC110 - the eager clock lets every sleep end at once
            await asyncio.sleep(0)
        await writer.finish()

    assert store.batches == [[1]]
    assert commits.unwritten() == (0, "")


async def test_a_result_that_comes_while_a_batch_is_written_is_in_the_next_one() -> None:
    store = _Store()
    store.let.clear()
    writer = await _writer(store, rows=1)
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        await writer.put(_result(1))
        await store.asked.wait()

        await writer.put(_result(2))
        store.let.set()
        await writer.finish()

    assert store.batches == [[1], [2]]


async def test_a_store_that_cannot_be_written_is_tried_again_by_the_patient() -> None:
    store = _Store()
    store.failures = 2
    writer = await _writer(store)

    await writer.put(_result(1, saved=7))
    await writer.finish()
    await writer.run()

    assert store.batches == [[1]]
    assert (writer.written, writer.not_modified, writer.saved_bytes) == (1, 1, 7)


async def test_a_store_that_cannot_be_written_ends_the_impatient() -> None:
    store = _Store()
    store.failures = 1
    writer = await _writer(store, patient=False)
    await writer.put(_result(1))
    await writer.finish()

    with pytest.raises(StoreError, match="disk is full"):
        await writer.run()


async def test_a_writer_that_is_finished_with_nothing_in_hand_ends() -> None:
    store = _Store()
    writer = await _writer(store)
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        await asyncio.sleep(0)

        await writer.finish()

    assert store.batches == []
