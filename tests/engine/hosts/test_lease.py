"""The right to work on the store, and what ends it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import cast

import pytest

from tests.fakes import ManualClock, RecordingTelemetry
from tocsin.engine.hosts.lease import CommitHealth, Lease, LeaseStore
from tocsin.errors import StaleClaim, StoreError, StoreLost
from tocsin.model import JsonObject, Membership, NodeIdentity, TakenPart

LEASE_S = 9


class _Store:
    """A store of one part, which one node at a time enters, and that fails as it is told.

    renewed  when, in seconds since the start
    """

    is_shared = False

    def __init__(self, clock: ManualClock) -> None:
        self._clock, self._began = clock, clock.now()
        self.node, self.epoch, self.until = "", 0, 0
        self.renewed: list[float] = []
        self.fault: StoreError | None = None
        self.is_lock_removed = False

    async def enter(self, node: str, lease: timedelta, _said: JsonObject) -> NodeIdentity | None:
        now = self._clock.now()
        if self.until > now:
            return None
        self.node, self.until = node, now + lease // timedelta(microseconds=1)
        return NodeIdentity(node, now)

    async def renew_node(self, me: NodeIdentity, lease: timedelta, _said: JsonObject) -> Membership:
        if me.node != self.node:
            raise StaleClaim("replaced")
        if self.fault is not None:
            raise self.fault
        now = self._clock.now()
        if now > self._began:
            self.renewed.append((now - self._began) / 1_000_000)
        self.until = now + lease // timedelta(microseconds=1)
        return Membership(1, draining=False, parts=1, held={0: self.epoch} if self.epoch else {})

    async def take_parts(self, _me: NodeIdentity, _most: int, *, expired: bool) -> list[TakenPart]:
        del expired
        self.epoch += 1
        return [TakenPart(0, self.epoch, 1e9)]

    async def keep_place(self) -> bool:
        if isinstance(self.fault, StoreLost):
            raise self.fault
        removed, self.is_lock_removed = self.is_lock_removed, False
        return removed


class _Engine:
    """A lease on a store of its own, or on that of another engine."""

    def __init__(self, name: str = "engine 1", store: _Store | None = None, clock: ManualClock | None = None) -> None:
        self.clock, self.telemetry = clock or ManualClock(), RecordingTelemetry()
        self.store = store or _Store(self.clock)
        length = timedelta(seconds=LEASE_S)
        self.lease = Lease(cast("LeaseStore", self.store), name, length, self.clock, self.telemetry)


async def test_a_lease_is_renewed_at_a_third_of_its_length() -> None:
    engine = _Engine()
    await engine.lease.take()

    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(engine.lease.keep())
        await engine.clock.advance(10)
        keeping.cancel()

    assert engine.store.renewed == [3, 6, 9]


async def test_an_engine_whose_store_was_removed_ends_before_it_renews_again() -> None:
    engine = _Engine()
    await engine.lease.take()

    async def lose_the_store() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.lease.keep())
            await engine.clock.advance(0.1)
            engine.store.fault = StoreLost("tocsin.db: moved", keeps_log=True)
            await engine.clock.advance(1)

    with pytest.raises(ExceptionGroup) as ended:
        await lose_the_store()

    assert ended.group_contains(StoreLost, match="moved")
    assert engine.store.renewed == []


async def test_a_lock_file_that_was_removed_is_told_once() -> None:
    engine = _Engine()
    await engine.lease.take()

    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(engine.lease.keep())
        engine.store.is_lock_removed = True
        await engine.clock.advance(5)
        keeping.cancel()

    assert engine.telemetry.names() == ["store.lock_removed"]


async def test_a_store_that_cannot_be_written_is_tried_again_at_the_next_third() -> None:
    engine = _Engine()
    await engine.lease.take()

    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(engine.lease.keep())
        engine.store.fault = StoreError("the disk is full")
        await engine.clock.advance(7)
        engine.store.fault = None
        await engine.clock.advance(3)
        keeping.cancel()

    assert engine.telemetry.names() == ["claim.unrenewed"] * 2
    assert engine.store.renewed == [9]


async def test_of_two_engines_on_one_store_one_works_and_the_other_waits() -> None:
    first = _Engine("tocsin 1")
    await first.lease.take()
    second = _Engine("tocsin 2", first.store, first.clock)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(first.lease.keep()), group.create_task(second.lease.take())]
        await first.clock.advance(10 * LEASE_S)
        for task in tasks:
            task.cancel()

    assert first.store.epoch == 1
    assert not second.lease.is_held


async def test_what_cannot_be_written_is_counted_from_the_first_failure_until_that_part_is_written() -> None:
    clock = ManualClock()
    commits = CommitHealth(clock)
    assert commits.unwritten() == (0, "")

    commits.failed("results", StoreError("full", why="the disk is full"))
    await clock.advance(5)
    commits.failed("results", StoreError("full", why="the disk is full"))
    commits.succeeded("lease")
    assert commits.unwritten() == (5, "the disk is full")

    commits.failed("lease", StoreError("other"))
    commits.succeeded("results")
    await clock.advance(1)
    assert commits.unwritten() == (1, "see the log")
    commits.succeeded("lease")

    assert commits.unwritten() == (0, "")


async def test_a_lease_that_cannot_be_renewed_counts_as_unwritten_until_it_can() -> None:
    engine = _Engine()
    await engine.lease.take()

    async with asyncio.TaskGroup() as group:
        keeping = group.create_task(engine.lease.keep())
        engine.store.fault = StoreError("the disk is full")
        await engine.clock.advance(LEASE_S + 4)
        unwritten_s, _ = engine.lease.commits.unwritten()
        engine.store.fault = None
        await engine.clock.advance(3)
        keeping.cancel()

    assert unwritten_s > LEASE_S
    assert engine.lease.commits.unwritten() == (0, "")
