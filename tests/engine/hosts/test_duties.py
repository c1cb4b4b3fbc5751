"""What one node at a time does: shared out, renewed, lost and taken over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.desk import Desk
from tests.fakes import ManualClock, RecordingTelemetry
from tocsin.engine.hosts.duties import LEADER, Duties
from tocsin.model import NamedLease, NodeIdentity

NAMES = ("leader", "channel:a", "channel:b", "channel:c")
LENGTH = timedelta(seconds=60)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    """A store that several nodes share."""
    opened = await Desk.at(tmp_path, "postgresql")
    try:
        yield opened
    finally:
        await opened.store.close()
        opened.behind.remove()


class Node:
    """A node of a store, with its own clock."""

    def __init__(self, desk: Desk, me: NodeIdentity, names: Collection[str] = NAMES) -> None:
        self.clock, self.telemetry, self.me, self.names = ManualClock(), RecordingTelemetry(), me, names
        self.changes = 0
        self.busy: set[str] = set()
        self.duties = Duties(
            desk.store,
            lambda: self.me,
            lambda: self.names,
            LENGTH,
            self.clock,
            self.telemetry,
            on_change=self._changed,
            is_busy=lambda name: name in self.busy,
        )

    def _changed(self) -> None:
        self.changes += 1

    @property
    def held(self) -> set[str]:
        """The names that it may work on."""
        return {name for name in NAMES if self.duties.of(name).is_held}


async def enter(desk: Desk, name: str) -> Node:
    """Let a node begin its work."""
    me = await desk.store.enter(name, LENGTH, {})
    assert me is not None
    return Node(desk, me)


def end_leases(desk: Desk, node: Node) -> None:
    """Let the time of a node's leases be over, as after its death."""
    desk.behind.alter("update leases set until = 0 where node = ?", node.me.node)
    desk.behind.alter("update nodes set until = 0 where node = ?", node.me.node)


async def test_one_node_does_everything(desk: Desk) -> None:
    one = await enter(desk, "one")

    before = one.held
    await one.duties.keep()

    assert (before, one.held, one.changes) == (set(), set(NAMES), 1)


async def test_a_node_that_joins_gets_an_even_share(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()
    two = await enter(desk, "two")

    await two.duties.keep()
    at_first = two.held
    await one.duties.keep()
    await two.duties.keep()

    assert at_first == set()
    assert (len(one.held), len(two.held), one.held | two.held) == (2, 2, set(NAMES))


async def test_a_lease_is_given_back_only_after_what_is_under_way_has_ended(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()
    two = await enter(desk, "two")
    one.busy = set(NAMES)

    await one.duties.keep()
    await two.duties.keep()
    while_busy = len(one.held), len(two.held)
    one.busy.clear()
    await one.duties.keep()
    await two.duties.keep()

    # Nothing more was begun meanwhile.
    assert while_busy == (2, 0)
    assert (len(one.held), len(two.held)) == (2, 2)


async def test_what_is_under_way_for_too_long_keeps_no_lease(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()
    two = await enter(desk, "two")
    one.busy = set(NAMES)
    await one.duties.keep()

    await one.clock.advance(60)
    await one.duties.keep()
    await two.duties.keep()

    assert len(two.held) == 2


async def test_what_a_dead_node_did_is_taken_over_under_a_new_epoch(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()
    before = one.duties.of("leader").lease
    two = await enter(desk, "two")

    end_leases(desk, one)
    await two.duties.keep()

    after = two.duties.of("leader").lease
    assert two.held == set(NAMES)
    assert before is not None
    assert after is not None
    assert (before.epoch, after.epoch) == (1, 2)
    # Who slept meanwhile learns it with its next renewal; what it wrote was refused by then.
    await one.duties.keep()
    assert one.held == set()


async def test_without_a_renewal_nothing_is_held_once_its_time_is_over(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()

    await one.clock.advance(59)
    before = one.held
    await one.clock.advance(1)

    assert (before, one.held) == (set(NAMES), set())
    # Its writes are still fenced by the lease that it had.
    assert one.duties.of("leader").lease is not None
    await one.duties.keep()
    assert one.held == set(NAMES)


async def test_a_store_that_is_away_costs_no_lease_before_its_time(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()

    await desk.store.close()
    await one.duties.keep()

    assert one.held == set(NAMES)
    assert one.telemetry.names()[-1] == "duties.unrenewed"


async def test_a_node_that_drains_gives_its_work_away_while_another_one_works(desk: Desk) -> None:
    one, two = await enter(desk, "one"), await enter(desk, "two")
    await one.duties.keep()
    await two.duties.keep()

    await desk.store.drain_node("one", draining=True)
    await one.duties.keep()
    await two.duties.keep()
    alone = one.held, two.held
    await desk.store.drain_node("two", draining=True)
    await two.duties.keep()

    assert alone == (set(), set(NAMES))
    assert two.held == set(NAMES)


async def test_a_channel_that_is_gone_is_given_up(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()

    one.names = ("leader", "channel:a")
    await one.duties.keep()

    assert one.held == {"leader", "channel:a"}
    assert [row.name for row in await desk.store.leases() if row.left_s > 0] == ["channel:a", "leader"]


async def test_a_node_that_leaves_lets_others_go_on_at_once(desk: Desk) -> None:
    one = await enter(desk, "one")
    await one.duties.keep()

    await one.duties.leave()
    await desk.store.leave(one.me)
    two = await enter(desk, "two")
    await two.duties.keep()

    assert (one.held, two.held) == (set(), set(NAMES))


async def test_work_is_done_only_while_its_lease_is_held(desk: Desk) -> None:
    one = await enter(desk, "one")
    told: list[str] = []
    leases: list[NamedLease | None] = []

    async def work(under: NamedLease | None) -> None:
        told.append("begun")
        leases.append(under)
        try:
            await asyncio.Event().wait()
        finally:
            told.append("ended")

    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.duties.while_held(LEADER, work))
        await one.clock.advance(5)
        before = list(told)
        await one.duties.keep()
        await one.clock.advance(5)
        while_held = list(told)
        await one.clock.advance(60)
        lost = list(told)
        await one.duties.keep()
        await one.clock.advance(5)
        again = list(told)
        task.cancel()

    assert (before, while_held, lost) == ([], ["begun"], ["begun", "ended"])
    assert again == ["begun", "ended", "begun"]
    assert leases == [NamedLease(LEADER, "one", 1)] * 2


async def test_a_store_of_one_engine_needs_no_leases(tmp_path: Path) -> None:
    desk = await Desk.at(tmp_path, "sqlite")
    one = Node(desk, NodeIdentity("one", 0))
    told: list[str] = []

    async def work(under: NamedLease | None) -> None:
        assert under is None
        told.append("done")

    await one.duties.keep()
    await one.duties.while_held(LEADER, work)

    assert (one.held, told) == (set(NAMES), ["done"])
    assert one.duties.of("leader").lease is None
    assert await desk.store.leases() == []
    await desk.store.close()
