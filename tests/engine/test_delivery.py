"""From the outbox to the sinks, over a real store."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.fakes import EagerClock, ManualClock, RecordingTelemetry
from tests.receivers import RecordingSink
from tocsin.adapters.stores import open_store
from tocsin.engine.delivery import BATCH, IN_FLIGHT, Delivery, SinkLoop
from tocsin.errors import DeliveryError, StoreError
from tocsin.model import AlertDraft, SinkState
from tocsin.settings import DeliverySettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tocsin.adapters.stores.sqlite.store import SqliteStore
    from tocsin.model import DeliveryResult, JsonObject

SECOND = 1_000_000
HOUR = 3600 * SECOND
BROKEN = DeliveryError("ops", "sink", "answered 503")
REFUSED = DeliveryError("ops", "alert", "answered 404")
GONE = DeliveryError("ops", "gone", "answered 410")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True)
    await opened.set_sinks(["ops"])
    try:
        yield opened
    finally:
        await opened.close()


class Outbox:
    """A sink, its loop, and alerts for it; an alert is named by its page's letter and a number."""

    def __init__(self, store: SqliteStore, clock: ManualClock | None = None) -> None:
        self.store = store
        self.clock = clock or EagerClock()
        self.sink, self.telemetry = RecordingSink(), RecordingTelemetry()
        self.loop = self.restarted()

    def restarted(self) -> SinkLoop:
        return SinkLoop(self.sink, self.store, DeliverySettings().give_up, self.clock, self.telemetry)

    async def write(self, *names: str) -> None:
        for name in names:
            event: JsonObject = {
                "id": name,
                "type": "tocsin.page.changed.v1",
                "subject": "https://example.org/",
                "data": {},
            }
            await self.store.write_alert(
                AlertDraft(id=name, type=event["type"], page_id=ord(name[0]), at=self.clock.now(), event=event)
            )

    async def deliver(self, times: int = 1) -> list[str]:
        """Let the loop look at the outbox so often; returns what the sink was tried with."""
        self.sink.tried.clear()
        for _ in range(times):
            await self.loop.deliver_batch()
        return list(self.sink.tried)

    def pass_time(self, microseconds: int) -> None:
        self.clock.set_wall(self.clock.now() + microseconds)

    async def standing(self, name: str) -> list[tuple[str, str, int, str | None]]:
        row = await self.store.alert(name)
        assert row is not None
        return list(row.deliveries)


@pytest.fixture
def outbox(store: SqliteStore) -> Outbox:
    return Outbox(store)


async def test_an_alert_is_delivered_once(outbox: Outbox) -> None:
    await outbox.write("a1")

    assert await outbox.deliver(times=3) == ["a1"]
    assert await outbox.standing("a1") == [("ops", "accepted", 1, None)]


async def test_the_alerts_of_a_page_are_delivered_in_order(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "a2", "a3")

    tried = await outbox.deliver(times=3)

    assert [name for name in tried if name.startswith("a")] == ["a1", "a2", "a3"]


async def test_an_alert_that_is_refused_holds_back_its_own_page_alone(outbox: Outbox) -> None:
    await outbox.write("a1", "a2", "b1", "b2")
    outbox.sink.faults["a1"] = REFUSED

    tried = await outbox.deliver(times=2)

    assert sorted(tried) == ["a1", "b1", "b2"]
    assert (await outbox.store.sink_state("ops")).failures == 0


async def test_an_alert_that_was_refused_is_tried_again_after_its_step(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.sink.faults["a1"] = REFUSED
    await outbox.deliver()
    outbox.sink.faults.clear()

    too_soon = await outbox.deliver()
    outbox.pass_time(1 * SECOND)

    assert (too_soon, await outbox.deliver()) == ([], ["a1"])


async def test_a_dead_alert_lets_the_next_one_of_its_page_go(outbox: Outbox) -> None:
    await outbox.write("a1", "a2")
    outbox.sink.faults["a1"] = REFUSED
    await outbox.deliver()
    outbox.pass_time(121 * HOUR)

    tried = await outbox.deliver(times=2)

    assert tried == ["a1", "a2"]
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["dead"]
    assert "alert.dead" in outbox.telemetry.names()


async def test_a_dead_alert_can_be_replayed(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.sink.faults["a1"] = REFUSED
    await outbox.deliver()
    outbox.pass_time(121 * HOUR)
    await outbox.deliver()
    outbox.sink.faults.clear()

    await outbox.store.replay("a1", sink=None, now=outbox.clock.now())

    assert await outbox.deliver() == ["a1"]
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["accepted"]


async def test_a_sink_that_fails_is_left_alone_until_its_step_is_over(outbox: Outbox) -> None:
    await outbox.write("a1", "b1")
    outbox.sink.faults["*"] = BROKEN
    await outbox.deliver()

    waiting = await outbox.deliver()
    outbox.pass_time(1 * SECOND)

    assert (waiting, await outbox.deliver()) == ([], ["a1"])
    state = await outbox.store.sink_state("ops")
    assert (state.failures, state.next_at) == (2, outbox.clock.now() + 5 * SECOND)


async def test_a_sink_that_is_back_is_not_flooded(outbox: Outbox) -> None:
    await outbox.write(*(f"{letter}1" for letter in "abcdefghijklmnopqrstuvwxyz"))
    outbox.sink.faults["*"] = BROKEN
    await outbox.deliver()
    outbox.sink.faults.clear()
    outbox.pass_time(HOUR)

    batches = [len(await outbox.deliver()) for _ in range(5)]

    assert batches == [1, 2, 4, 19, 0]


async def test_nothing_is_lost_while_a_sink_is_down_for_days(outbox: Outbox) -> None:
    names = [f"{letter}{number}" for letter in "abc" for number in range(3)]
    await outbox.write(*names)
    outbox.sink.faults["*"] = BROKEN
    for _ in range(12):
        await outbox.deliver()
        outbox.pass_time(8 * HOUR)
    outbox.sink.faults.clear()
    outbox.pass_time(24 * HOUR)

    await outbox.deliver(times=12)

    given = [event["id"] for event in outbox.sink.given]
    assert sorted(given) == names
    assert all([name for name in given if name[0] == page] == [f"{page}{n}" for n in range(3)] for page in "abc")


async def test_after_a_fault_of_the_sink_no_further_alert_of_the_batch_is_begun(outbox: Outbox) -> None:
    pages = [chr(ord("A") + number) for number in range(3 * IN_FLIGHT)]
    await outbox.write(*(f"{page}1" for page in pages))
    outbox.sink.faults["*"] = BROKEN

    assert len(await outbox.deliver()) <= IN_FLIGHT


async def test_no_more_alerts_are_in_flight_than_the_bound(outbox: Outbox) -> None:
    await outbox.write(*(f"{chr(200 + number)}1" for number in range(BATCH)))
    under_way, most = 0, 0

    async def count(_event: JsonObject) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    outbox.sink.before = count

    assert len(await outbox.deliver()) == BATCH
    assert most == IN_FLIGHT


async def test_a_sink_whose_receiver_is_gone_is_disabled_and_keeps_its_alerts(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.sink.faults["*"] = GONE
    await outbox.deliver()
    outbox.pass_time(500 * HOUR)

    assert await outbox.deliver() == []
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["waiting"]
    disabled = [happening for happening in outbox.telemetry.happenings if happening.name == "sink.disabled"]
    assert "tocsin sink test ops" in disabled[0].values["mend"]


async def test_a_sink_that_was_enabled_again_is_given_what_waited(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.sink.faults["*"] = GONE
    await outbox.deliver()
    outbox.sink.faults.clear()

    await outbox.store.save_sink_state(SinkState("ops"))
    outbox.pass_time(5 * SECOND)

    assert await outbox.deliver() == ["a1"]


async def test_a_back_off_outlives_a_restart(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "c1")
    outbox.sink.faults["*"] = BROKEN
    await outbox.deliver()

    outbox.loop = outbox.restarted()
    outbox.sink.faults.clear()
    waiting = await outbox.deliver()
    outbox.pass_time(HOUR)

    assert (waiting, await outbox.deliver(), await outbox.deliver()) == ([], ["a1"], ["b1", "c1"])


async def test_an_alert_that_was_accepted_but_not_recorded_is_given_again_with_the_same_id(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_results: Sequence[DeliveryResult]) -> None:
        raise StoreError("the disk is full")

    await outbox.write("a1")
    with monkeypatch.context() as patched:
        patched.setattr(outbox.store, "record_deliveries", full)
        await outbox.loop.drain()

    assert await outbox.deliver() == ["a1"]
    assert [event["id"] for event in outbox.sink.given] == ["a1", "a1"]
    assert "delivery.unrecorded" in outbox.telemetry.names()


async def test_one_broken_sink_delays_no_other(store: SqliteStore) -> None:
    await store.set_sinks(["ops", "log"])
    outbox, other = Outbox(store), RecordingSink("log")
    await outbox.write("a1", "a2")

    async def hang(_event: JsonObject) -> None:
        await asyncio.Event().wait()

    outbox.sink.before = hang
    delivery = Delivery([outbox.sink, other], store, DeliverySettings(), outbox.clock, outbox.telemetry)
    given: dict[str, None] = {}
    for deadline_s in (0.5, 5.0, 50.0):
        await delivery.drain(deadline_s=deadline_s)
        # What was given and not noted any more comes again.
        given = dict.fromkeys(event["id"] for event in other.given)
        if len(given) == 2:
            # A machine whose store took longer than that has more time.
            break

    assert list(given) == ["a1", "a2"]
    assert "delivery.unfinished" in outbox.telemetry.names()


async def test_the_service_delivers_what_it_is_woken_for_and_ends_when_told(store: SqliteStore) -> None:
    outbox = Outbox(store, ManualClock())
    given = asyncio.Event()

    async def note(_event: JsonObject) -> None:
        given.set()

    outbox.sink.before = note
    delivery = Delivery([outbox.sink], store, DeliverySettings(), outbox.clock, outbox.telemetry)
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.run(), name="delivery")
        await outbox.write("a1")
        delivery.wake()
        await given.wait()
        delivery.finish()

    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["accepted"]
