"""Nodes on one store: leases by the database's clock, parts that one node at a time holds, epochs that fence."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest

from tests.contract.desk import LEASE, NOW, Desk
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.role import require_lease
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.errors import StaleClaim
from tocsin.model import NodeIdentity
from tocsin.ports import NodeStore

ALL = 4096


@pytest.fixture(autouse=True)
async def _without_engine(desk: Desk) -> None:
    """No node has entered."""
    for row in await desk.store.nodes():
        await desk.store.leave(NodeIdentity(row.node, row.entered_at))


async def enter(store: NodeStore, name: str) -> NodeIdentity:
    """Begin the lease of a node that nothing hinders."""
    me = await store.enter(name, LEASE, {})
    assert me is not None
    return me


def run_out(desk: Desk, node: str) -> None:
    """Let the time of a node's lease pass."""
    desk.behind.alter("update nodes set until = 1000 where node = ?", node)


async def held(desk: Desk, me: NodeIdentity) -> dict[int, int]:
    """The parts of a node, by its own renewal."""
    return (await desk.store.renew_node(me, LEASE)).held


async def test_a_node_takes_all_parts_where_it_is_alone(desk: Desk) -> None:
    me = await enter(desk.store, "a")

    taken = await desk.store.take_parts(me, ALL, expired=False)
    member = await desk.store.renew_node(me, LEASE)

    assert member.alive == 1
    assert [part.part for part in taken] == list(range(member.parts))
    assert member.held == {part.part: part.epoch for part in taken}


async def test_of_nodes_that_are_alive_those_with_more_parts_come_first_and_then_the_first_by_name(desk: Desk) -> None:
    names = ("b", "a", "c", "gone", "draining")
    nodes = {name: await enter(desk.store, name) for name in names}
    # The last one to come has all parts of the store.
    await desk.store.take_parts(nodes["c"], ALL, expired=False)
    run_out(desk, "gone")
    await desk.store.drain_node("draining", draining=True)

    ahead = {name: (await desk.store.renew_node(nodes[name], LEASE)).ahead for name in ("c", "a", "b")}

    assert ahead == {"c": 0, "a": 1, "b": 2}


async def test_a_second_process_of_one_name_waits_until_the_lease_of_the_first_ends(desk: Desk) -> None:
    first = await enter(desk.store, "a")
    await desk.store.take_parts(first, ALL, expired=False)
    epochs = await held(desk, first)

    assert await desk.store.enter("a", LEASE, {}) is None
    run_out(desk, "a")
    second = await enter(desk.store, "a")

    assert second.incarnation > first.incarnation
    with pytest.raises(StaleClaim):
        await desk.store.renew_node(first, LEASE)
    # What the first one held is taken anew, under a later epoch.
    assert await held(desk, second) == {}
    again = {part.part: part.epoch for part in await desk.store.take_parts(second, ALL, expired=False)}
    assert again.keys() == epochs.keys()
    assert all(again[part] > epochs[part] for part in epochs)


async def test_a_node_whose_lease_ran_out_keeps_its_epochs_if_no_other_node_took_its_parts(desk: Desk) -> None:
    me = await enter(desk.store, "a")
    await desk.store.take_parts(me, ALL, expired=False)
    before = await held(desk, me)

    run_out(desk, "a")

    assert await held(desk, me) == before


async def test_parts_whose_node_is_gone_are_taken_only_by_a_node_that_may_take_them(desk: Desk) -> None:
    gone, other = await enter(desk.store, "a"), await enter(desk.store, "b")
    await desk.store.take_parts(gone, ALL, expired=False)
    before = await held(desk, gone)

    assert await desk.store.take_parts(other, ALL, expired=True) == []
    run_out(desk, "a")
    assert await desk.store.parts_alone() == len(before)
    assert await desk.store.take_parts(other, ALL, expired=False) == []
    taken = await desk.store.take_parts(other, ALL, expired=True)

    assert {part.part for part in taken} == before.keys()
    assert all(part.epoch > before[part.part] and part.alone_s > 1e9 for part in taken)
    assert await held(desk, gone) == {}
    assert await desk.store.parts_alone() == 0


async def test_a_node_without_a_lease_in_force_takes_nothing(desk: Desk) -> None:
    me = await enter(desk.store, "a")
    run_out(desk, "a")

    assert await desk.store.take_parts(me, ALL, expired=False) == []


async def test_parts_that_are_given_back_are_free_at_once_under_a_later_epoch(desk: Desk) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")
    (part,) = await desk.store.take_parts(one, 1, expired=False)

    await desk.store.give_back(two, [part.part])
    assert part.part in await held(desk, one)
    await desk.store.give_back(one, [part.part])
    (again,) = await desk.store.take_parts(two, 1, expired=False)

    assert again.part == part.part
    assert again.epoch > part.epoch
    assert again.alone_s < 60
    assert await held(desk, one) == {}


async def test_a_node_that_leaves_gives_back_its_parts_and_its_leases(desk: Desk) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")
    await desk.store.take_parts(one, ALL, expired=False)
    await desk.store.take_lease(one, "leader", LEASE)

    await desk.store.leave(one)

    assert [node.node for node in await desk.store.nodes()] == ["b"]
    assert await desk.store.take_parts(two, ALL, expired=False)
    assert await desk.store.take_lease(two, "leader", LEASE)
    with pytest.raises(StaleClaim):
        await desk.store.renew_node(one, LEASE)
    # A process that was told to leave, and is late, ends nothing of another one.
    await desk.store.leave(one)
    assert await held(desk, two)


async def test_a_draining_node_is_told_and_counts_for_no_share(desk: Desk) -> None:
    me = await enter(desk.store, "a")
    await enter(desk.store, "b")

    assert await desk.store.drain_node("a", draining=True)
    drained = await desk.store.renew_node(me, LEASE)
    assert await desk.store.drain_node("a", draining=False)
    back = await desk.store.renew_node(me, LEASE)

    assert (drained.draining, drained.alive) == (True, 1)
    assert (back.draining, back.alive) == (False, 2)
    assert not await desk.store.drain_node("c", draining=True)


async def test_nodes_say_of_themselves_what_all_can_read(desk: Desk) -> None:
    me = await enter(desk.store, "a")
    await desk.store.take_parts(me, 1, expired=False)
    await desk.store.renew_node(me, timedelta(seconds=60), {"version": "1.2"})
    await desk.store.renew_node(me, timedelta(seconds=60))
    await enter(desk.store, "b")
    run_out(desk, "b")

    first, second = await desk.store.nodes()

    assert (first.node, first.entered_at, first.parts, first.draining) == ("a", me.incarnation, 1, False)
    assert first.said == {"version": "1.2"}
    assert 10 < first.left_s <= 60
    assert second.left_s < 0


async def test_nodes_that_are_long_gone_are_forgotten(desk: Desk) -> None:
    await enter(desk.store, "a")
    run_out(desk, "a")

    await enter(desk.store, "b")

    assert [node.node for node in await desk.store.nodes()] == ["b"]


async def test_a_named_lease_belongs_to_one_node_until_it_ends(desk: Desk) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")

    first = await desk.store.take_lease(one, "leader", LEASE)
    assert first is not None
    assert await desk.store.take_lease(two, "leader", LEASE) is None
    assert await desk.store.renew_leases([first], LEASE) == [first]
    desk.behind.alter("update leases set until = 1000")
    # Nobody took it: it goes on under its epoch.
    assert await desk.store.renew_leases([first], LEASE) == [first]
    desk.behind.alter("update leases set until = 1000")
    second = await desk.store.take_lease(two, "leader", LEASE)

    assert second is not None
    assert second.epoch > first.epoch
    assert await desk.store.renew_leases([first], LEASE) == []
    assert [(row.name, row.node) for row in await desk.store.leases()] == [("leader", "b")]


async def test_a_named_lease_that_is_released_is_free_at_once(desk: Desk) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")
    first = await desk.store.take_lease(one, "channel:ops", LEASE)
    assert first is not None

    await desk.store.release_leases([first])
    second = await desk.store.take_lease(two, "channel:ops", LEASE)
    assert second is not None
    await desk.store.release_leases([first])

    assert await desk.store.renew_leases([second], LEASE) == [second]


async def test_what_is_written_under_a_lease_that_was_taken_is_refused(desk: Desk) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")
    first = await desk.store.take_lease(one, "leader", LEASE)
    assert first is not None

    with desk.behind.session() as db:
        require_lease(db, first)
        await desk.store.release_leases([first])
        await desk.store.take_lease(two, "leader", LEASE)
        with pytest.raises(StaleClaim, match="leader"):
            require_lease(db, first)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda store: store.prune(NOW, history=LEASE, limit=1), id="a write"),
        pytest.param(lambda store: store.hear_host("one.example", [1], muted=True), id="an edit"),
        pytest.param(lambda store: store.release_storm(1, NOW), id="a step"),
        pytest.param(lambda store: store.save_robots("https://one.example", "kept"), id="a write beside others"),
    ],
)
async def test_a_store_used_under_a_lease_refuses_each_write_once_another_node_took_the_lease(
    desk: Desk, write: Callable[[SqlStore], Awaitable[object]]
) -> None:
    one, two = await enter(desk.store, "a"), await enter(desk.store, "b")
    first = await desk.store.take_lease(one, "leader", LEASE)
    led = desk.store.under(first)
    await led.begin_pruning(NOW, most=LEASE)
    assert first is not None
    await desk.store.release_leases([first])
    await desk.store.take_lease(two, "leader", LEASE)

    with pytest.raises(StaleClaim, match="leader"):
        await write(led)

    assert desk.store.under(None) is desk.store


async def test_the_next_engine_of_a_store_with_one_engine_waits_for_no_lease(desk: Desk) -> None:
    me = await enter(desk.store, "a")
    await desk.store.take_parts(me, ALL, expired=False)
    await desk.store.take_lease(me, "leader", LEASE)
    await desk.store.close()

    async with await open_store(desk.behind.url, engine=True) as store:
        new = await store.enter("a", LEASE, {})

        # Where others may work on a store, they wait for the lease; a file has one engine.
        assert (new is None) == store.is_shared
        if new is not None:
            taken = await store.take_parts(new, ALL, expired=False)
            assert taken
            assert all(part.alone_s > 1e9 for part in taken)
            assert await store.take_lease(new, "leader", LEASE)
