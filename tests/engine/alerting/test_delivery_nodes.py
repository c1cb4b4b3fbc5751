"""Two nodes and one channel: one of them delivers, and what the other one wrote too late is refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.fakes import ManualClock, RecordingTelemetry, settle
from tests.receivers import RecordingChannel
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.alerting.delivery import BLAMED_AT, ChannelLoop
from tocsin.errors import DeliveryError
from tocsin.model import AlertDraft, NamedLease, NodeIdentity
from tocsin.ports import Notification
from tocsin.settings import DeliverySettings

LENGTH = timedelta(days=1)
BROKEN = DeliveryError("ops", "channel", "answered 503")


class GivenDuty:
    """The right to deliver, as a test gives it; implements `Duty`."""

    def __init__(self) -> None:
        self.lease: NamedLease | None = None
        self.is_held = False


class HeldChannel(RecordingChannel):
    """A channel whose answers wait until `gate` is set; `begun` says that a delivery is under way."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.gate = asyncio.Event(), asyncio.Event()
        self.gate.set()

    async def deliver(self, notification: Notification) -> None:
        await super().deliver(notification)
        self.begun.set()
        await self.gate.wait()


class Node:
    """A node with a loop for the channel `ops`."""

    def __init__(self, store: SqlStore, name: str, clock: ManualClock) -> None:
        self.store, self.me, self.clock = store, NodeIdentity(name, 0), clock
        self.channel, self.telemetry, self.duty = HeldChannel(), RecordingTelemetry(), GivenDuty()
        give_up = DeliverySettings().give_up
        self.loop = ChannelLoop(self.channel, store, give_up, clock, self.telemetry, duty=self.duty)

    async def take(self) -> None:
        """Take the channel's lease, which must be free."""
        self.duty.lease = await self.store.take_lease(self.me, "channel:ops", LENGTH)
        assert self.duty.lease is not None
        self.duty.is_held = True

    async def release(self) -> None:
        """Let another node take it; this one does not know yet, as one that stood still."""
        assert self.duty.lease is not None
        await self.store.release_leases([self.duty.lease])


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as opened:
        await opened.set_channels(["ops"])
        yield opened


@pytest.fixture
def nodes(store: SqlStore) -> tuple[Node, Node]:
    clock = ManualClock()
    return Node(store, "one", clock), Node(store, "two", clock)


async def write(store: SqlStore, *names: str) -> None:
    """Publish alerts; the first letter of each names its page."""
    for name in names:
        event = {"id": name, "type": "tocsin.page.changed.v1", "subject": "https://example.org/", "data": {}}
        await store.write_alert(AlertDraft(name, "tocsin.page.changed.v1", ord(name[0]), 0, event))


async def states(store: SqlStore, *names: str) -> list[tuple[str, int]]:
    """Say for each alert what became of its delivery, and after how many tries."""
    rows = [await store.alert(name) for name in names]
    return [(row.deliveries[0][1], row.deliveries[0][2]) for row in rows if row is not None]


async def test_only_the_node_that_has_the_lease_delivers(store: SqlStore, nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    await write(store, "a1", "a2", "b1")
    await two.take()

    await one.loop.drain()
    await two.loop.drain()

    assert (one.channel.tried, sorted(two.channel.tried)) == ([], ["a1", "a2", "b1"])


async def test_a_lease_that_ends_ends_deliveries_before_the_next_one(store: SqlStore, nodes: tuple[Node, Node]) -> None:
    one, _ = nodes
    await write(store, "a1", "a2")
    await one.take()
    one.channel.gate.clear()

    async with asyncio.TaskGroup() as group:
        draining = group.create_task(one.loop.drain())
        await one.channel.begun.wait()
        one.duty.is_held = False
        one.channel.gate.set()
        while not draining.done():
            await one.clock.advance(1)

    assert one.channel.tried == ["a1"]
    # No other node has taken the lease: what was accepted is recorded, and not repeated.
    assert await states(store, "a1", "a2") == [("accepted", 1), ("waiting", 0)]


async def test_a_node_that_stood_still_neither_records_nor_goes_on(store: SqlStore, nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    await write(store, "a1", "a2")
    await one.take()
    one.channel.gate.clear()

    async with asyncio.TaskGroup() as group:
        draining = group.create_task(one.loop.drain())
        await one.channel.begun.wait()
        await one.release()
        await two.take()
        two.channel.faults["a1"] = BROKEN
        await two.loop.drain()
        one.channel.gate.set()
        while not draining.done():
            await one.clock.advance(1)

    # The other node's answer counts; the order of the page is in its hands.
    assert (one.channel.tried, two.channel.tried) == (["a1"], ["a1"])
    assert await states(store, "a1", "a2") == [("waiting", 1), ("waiting", 0)]
    assert "delivery.unrecorded" in one.telemetry.names()


async def test_the_next_node_knows_that_the_channel_is_left_alone(store: SqlStore, nodes: tuple[Node, Node]) -> None:
    one, two = nodes
    pages = [f"{chr(97 + number)}1" for number in range(BLAMED_AT)]
    await write(store, *pages)
    one.channel.faults.update(dict.fromkeys(pages, BROKEN))
    await one.take()
    await one.loop.drain()
    await one.release()

    await two.take()
    await two.loop.drain()
    at_first = list(two.channel.tried)
    await two.clock.advance(600)
    await two.loop.drain()
    await settle()

    assert at_first == []
    assert sorted(two.channel.tried) == pages
    assert (await store.channel_state("ops")).failures == 0
