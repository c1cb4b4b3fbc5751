"""Several nodes on one store: shares, taking over, giving back, and what a node may begin."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import cast

import pytest

from tests.fakes import ManualClock, RecordingTelemetry
from tests.shared_nodes import NodeLink, SharedNodes
from tocsin.engine.hosts.lease import BEHIND_S, Lease, LeaseStore
from tocsin.errors import StaleClaim
from tocsin.model import JsonObject

PARTS, LEASE_S, DELAY_S = 64, 10.0, 2.0


class Node:
    """A node that keeps its lease until it is killed; `in_hand` are the parts of its pages under way."""

    def __init__(self, shared: SharedNodes, name: str, *, delay_s: float = 0.0) -> None:
        self.link, self.clock, self.in_hand = NodeLink(shared), shared.clock, set[int]()
        self.taken, self.lost = set[int](), set[int]()
        self.telemetry = RecordingTelemetry()
        store, length = cast("LeaseStore", self.link), timedelta(seconds=LEASE_S)
        self.lease = Lease(store, name, length, self.clock, self.telemetry, delay_s=delay_s, patience_s=30.0)
        self.lease.serve(self)
        self.task: asyncio.Task[None] | None = None

    def parts_in_hand(self) -> Collection[int]:
        return self.in_hand

    def on_taken(self, parts: Collection[int]) -> None:
        self.taken |= set(parts)

    def on_lost(self, parts: Collection[int]) -> None:
        self.lost |= set(parts)

    async def run(self) -> None:
        await self.lease.take()
        await self.lease.keep()

    def kill(self) -> None:
        assert self.task is not None
        self.task.cancel()

    @property
    def parts(self) -> set[int]:
        """The parts whose pages may begin."""
        return set(self.lease.claim.parts) if self.lease.me is not None else set()


class Cluster:
    """Nodes on one store, started and killed at will."""

    def __init__(self, group: asyncio.TaskGroup) -> None:
        self.clock, self._group = ManualClock(), group
        self.shared = SharedNodes(self.clock, PARTS)
        self.nodes: list[Node] = []

    def start(self, name: str, *, delay_s: float = 0.0) -> Node:
        node = Node(self.shared, name, delay_s=delay_s)
        node.task = self._group.create_task(node.run(), name=name)
        self.nodes.append(node)
        return node

    def demand_no_part_twice(self) -> None:
        """No part may be begun by two nodes that believe in their leases."""
        begun = [part for node in self.nodes if node.lease.may_begin for part in node.parts]
        assert len(begun) == len(set(begun))


@asynccontextmanager
async def cluster() -> AsyncIterator[Cluster]:
    async with asyncio.TaskGroup() as group:
        made = Cluster(group)
        yield made
        for node in made.nodes:
            node.kill()


async def test_nodes_that_join_have_even_shares_within_two_seconds() -> None:
    async with cluster() as made:
        first = made.start("a")
        await made.clock.advance(0.1)
        assert len(first.parts) == PARTS

        others = [made.start("b"), made.start("c")]
        await made.clock.advance(2)

        assert sorted(len(node.parts) for node in (first, *others)) == [21, 21, 22]
        made.demand_no_part_twice()


async def test_no_node_is_left_without_a_part_where_they_cannot_be_shared_evenly() -> None:
    async with cluster() as made:
        nodes = [made.start(f"n{number:02}") for number in range(20)]
        await made.clock.advance(10)

        assert {len(node.parts) for node in nodes} == {3, 4}
        before = [node.parts for node in nodes]
        await made.clock.advance(10)

        assert [node.parts for node in nodes] == before


async def test_a_node_with_a_wrong_clock_leaves_the_parts_to_others_until_the_clock_is_right() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("b")
        await made.clock.advance(15)

        second.link.ahead_s = 3600
        await made.clock.advance(2)
        assert (len(first.parts), second.parts) == (PARTS, set())
        assert second.telemetry.names() == ["node.wrong_clock"]
        first.link.ahead_s = -3600  # it is the only one that is left
        await made.clock.advance(2)
        assert len(first.parts) == PARTS
        first.link.ahead_s = second.link.ahead_s = 0
        await made.clock.advance(3)

        assert len(first.parts) == len(second.parts) == PARTS // 2


@pytest.mark.parametrize(("ahead_s", "said"), [(3600, {"ahead_s": 3600}), (4, {}), (-3600, {})])
async def test_a_node_that_is_alone_goes_on_with_a_clock_that_is_ahead_and_says_so(
    ahead_s: float, said: JsonObject
) -> None:
    async with cluster() as made:
        node = made.start("a")
        node.link.ahead_s = ahead_s
        await made.clock.advance(3)

        assert len(node.parts) == PARTS
        assert made.shared.nodes["a"].said == said


async def test_parts_of_a_node_that_was_killed_are_taken_within_its_lease_and_a_second() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("b")
        await made.clock.advance(15)
        assert len(first.parts) == len(second.parts) == PARTS // 2

        second.kill()
        await made.clock.advance(LEASE_S - 1.5)
        assert len(first.parts) == PARTS // 2
        await made.clock.advance(2.5)

        assert len(first.parts) == PARTS


async def test_a_database_that_was_away_for_longer_than_a_lease_moves_no_part() -> None:
    async with cluster() as made:
        nodes = [made.start(name) for name in "abc"]
        await made.clock.advance(20)
        before = [node.parts for node in nodes]

        for node in nodes:
            node.link.is_cut = True
        await made.clock.advance(3 * LEASE_S)
        assert not any(node.lease.may_begin for node in nodes)
        # They come back one after the other.
        for node in nodes:
            node.link.is_cut = False
            await made.clock.advance(1.5)
        await made.clock.advance(20)

        assert [node.parts for node in nodes] == before
        assert not any(node.lost for node in nodes[1:])
        assert all(node.lease.may_begin for node in nodes)


async def test_a_node_that_is_cut_off_begins_nothing_once_its_lease_ran_out_and_loses_its_parts() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("b")
        await made.clock.advance(15)
        claim = second.lease.claim

        second.link.is_cut = True
        for _ in range(30):
            await made.clock.advance(0.5)
            made.demand_no_part_twice()
        assert len(first.parts) == PARTS
        assert not second.lease.may_begin
        second.link.is_cut = False
        await made.clock.advance(4)

        assert set(claim.parts) <= second.lost
        assert len(first.parts) == len(second.parts) == PARTS // 2
        made.demand_no_part_twice()


async def test_pages_in_hand_keep_a_part_that_is_to_be_given_back_until_they_are_done_or_given_up() -> None:
    async with cluster() as made:
        first = made.start("a")
        await made.clock.advance(0.1)
        first.in_hand = {60, 61}

        second = made.start("b")
        await made.clock.advance(5)
        assert {60, 61} & first.parts == set()
        assert made.shared.held_by("a") == set(range(32)) | {60, 61}
        first.in_hand = {60}
        await made.clock.advance(2)
        assert 61 in second.parts
        await made.clock.advance(30)

        assert 60 in second.parts


async def test_a_part_that_is_being_given_back_is_ours_again_where_the_share_grows() -> None:
    async with cluster() as made:
        first = made.start("a")
        await made.clock.advance(0.1)
        first.in_hand = set(range(PARTS))
        second = made.start("b")
        await made.clock.advance(3)
        assert len(first.parts) == PARTS // 2
        first.taken.clear()

        second.kill()
        await made.clock.advance(LEASE_S + 1)

        assert len(first.parts) == PARTS
        # Their hosts are read again: some were due meanwhile, and were taken off the agenda.
        assert first.taken == set(range(32, 64))


async def test_what_was_taken_over_begins_no_sooner_than_the_delay_after_the_taking() -> None:
    async with cluster() as made:
        made.start("a")
        await made.clock.advance(0.1)

        second = made.start("b", delay_s=DELAY_S)
        await made.clock.advance(1.5)
        held, begun = made.shared.held_by("b"), second.parts
        await made.clock.advance(DELAY_S)

        assert len(held) == PARTS // 2
        assert begun == set()
        assert second.parts == second.taken == held


async def test_a_node_that_is_told_to_stop_gives_its_parts_back_at_once() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("b")
        await made.clock.advance(15)

        second.lease.stop()
        await made.clock.advance(2)
        assert len(first.parts) == PARTS
        await second.lease.leave()

        assert list(made.shared.nodes) == ["a"]


async def test_a_draining_node_gives_all_back_and_takes_again_when_it_is_let() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("b")
        await made.clock.advance(15)

        made.shared.nodes["a"].draining = True
        await made.clock.advance(3)
        assert (len(first.parts), len(second.parts)) == (0, PARTS)
        made.shared.nodes["a"].draining = False
        await made.clock.advance(3)

        assert (len(first.parts), len(second.parts)) == (PARTS // 2, PARTS // 2)


async def test_a_second_process_of_one_name_works_only_when_the_first_is_gone() -> None:
    async with cluster() as made:
        first, second = made.start("a"), made.start("a")
        await made.clock.advance(30)
        assert (len(first.parts), second.lease.me) == (PARTS, None)
        assert second.telemetry.names() == ["claim.waits"]

        first.kill()
        await made.clock.advance(LEASE_S + 3)

        assert len(second.parts) == PARTS


async def test_nothing_begins_while_a_result_waits_for_its_commit_for_too_long() -> None:
    async with cluster() as made:
        node = made.start("a")
        await made.clock.advance(1)

        node.lease.commits.begin()
        found = []
        for seconds in (BEHIND_S, 0.5):
            await made.clock.advance(seconds)
            found.append(node.lease.may_begin)
        node.lease.commits.end()

        assert [*found, node.lease.may_begin] == [True, False, True]


async def test_a_lease_that_was_not_taken_gives_no_claim() -> None:
    async with cluster() as made:
        node = Node(made.shared, "a")

        assert not node.lease.is_held
        with pytest.raises(StaleClaim):
            _ = node.lease.claim


async def test_a_node_for_which_no_part_is_free_yet_has_a_claim_of_none() -> None:
    async with cluster() as made:
        made.start("a")
        await made.clock.advance(0.1)
        second = made.start("b")
        await made.clock.advance(0.1)

        assert second.lease.is_held
        assert second.lease.claim.epochs == (0,) * PARTS


async def test_parts_without_a_node_for_longer_are_told_once() -> None:
    async with cluster() as made:
        first = made.start("a")
        await made.clock.advance(1)

        launched = first.lease.claim_of_alone(timedelta(hours=1))
        assert launched is not None
        assert launched.parts == list(range(PARTS))
        assert first.lease.claim_of_alone(timedelta(hours=1)) is None
        # A node that joins takes what another has just left: nothing is to be spread.
        second = made.start("b")
        await made.clock.advance(3)

        assert len(second.parts) == PARTS // 2
        assert second.lease.claim_of_alone(timedelta(hours=1)) is None
