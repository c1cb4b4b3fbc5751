"""From the outbox to the channels, over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import pytest

from tests.engine.alerting.outbox import BROKEN, HOUR, LATER, REFUSED, SECOND, Outbox
from tests.fakes import settle
from tests.receivers import RecordingChannel
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.alerting.delivery import BATCH, BLAMED_AT, IN_FLIGHT, MOST_IN_FLIGHT, SLOW_S, Delivery
from tocsin.errors import DeliveryError, StoreError
from tocsin.model import DeliveryResult, JsonObject, NamedLease
from tocsin.settings import DeliverySettings


async def test_an_alert_is_delivered_once(outbox: Outbox) -> None:
    await outbox.write("a1")

    assert await outbox.deliver() == ["a1"]
    assert await outbox.standing("a1") == [("ops", "accepted", 1, None)]


async def test_it_is_told_how_long_after_it_was_due_an_alert_was_accepted_and_when(outbox: Outbox) -> None:
    await outbox.write("a1", "b1")
    await outbox.pass_time(2 * SECOND)
    outbox.channel.faults["b1"] = REFUSED
    await outbox.deliver()
    outbox.channel.faults.clear()
    await outbox.pass_time(3600 * SECOND)
    await outbox.deliver()

    assert outbox.late_s == [2.0, 3600.0]
    row = await outbox.store.alert("b1")
    assert row is not None
    assert [each.at for each in row.deliveries] == [outbox.clock.now()]


async def test_the_alerts_of_a_page_are_delivered_in_order(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "a2", "a3")

    tried = await outbox.deliver()

    assert [name for name in tried if name.startswith("a")] == ["a1", "a2", "a3"]


async def test_a_bug_of_a_channel_pauses_it_like_a_failure_and_ends_nothing_else(outbox: Outbox) -> None:
    async def fail(_event: JsonObject) -> None:
        raise RuntimeError("secret")

    outbox.channel.before = fail
    await outbox.write("a1", "b1", "c1")

    assert len(await outbox.deliver()) == BLAMED_AT
    state = await outbox.store.channel_state("ops")
    assert (state.failures, state.disabled) == (1, False)
    assert (state.error or "").startswith("its program failed: RuntimeError in test_delivery.py, line ")
    assert {each.name for each in outbox.telemetry.happenings} >= {"channel.crashed", "channel.failed"}
    with pytest.raises(DeliveryError, match="its program failed: RuntimeError"):
        await outbox.loop.try_out({"id": "test"})
    outbox.channel.before = None
    await outbox.pass_time(10 * SECOND)

    assert sorted(await outbox.deliver()) == ["a1", "b1", "c1"]


async def test_an_alert_that_is_refused_holds_back_its_own_page_alone(outbox: Outbox) -> None:
    await outbox.write("a1", "a2", "b1", "b2")
    outbox.channel.faults["a1"] = REFUSED

    tried = await outbox.deliver()

    assert sorted(tried) == ["a1", "b1", "b2"]
    assert (await outbox.store.channel_state("ops")).failures == 0


async def test_an_alert_that_was_refused_is_tried_again_after_its_step(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["a1"] = REFUSED
    await outbox.deliver()
    outbox.channel.faults.clear()

    too_soon = await outbox.deliver()
    await outbox.pass_time(1 * SECOND)

    assert (too_soon, await outbox.deliver()) == ([], ["a1"])


async def test_a_dead_alert_lets_the_next_one_of_its_page_go(outbox: Outbox) -> None:
    await outbox.write("a1", "a2")
    outbox.channel.faults["a1"] = REFUSED

    tried = await die(outbox)

    assert tried == ["a1", "a2"]
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["dead"]
    assert "alert.dead" in outbox.telemetry.names()


async def test_a_dead_alert_can_be_replayed(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["a1"] = REFUSED
    await die(outbox)
    outbox.channel.faults.clear()

    await outbox.store.replay("a1", channel=None, now=outbox.clock.now())

    assert await outbox.deliver() == ["a1"]
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["accepted"]


async def die(outbox: Outbox) -> list[str]:
    """Let five days pass, with a try at each step; returns what was tried last."""
    tried: list[str] = []
    while "alert.dead" not in outbox.telemetry.names():
        tried = await outbox.deliver()
        due = await outbox.store.next_delivery_at("ops")
        await outbox.pass_time(max((due or 0) - outbox.clock.now(), SECOND))
    return tried


async def test_an_alert_is_given_up_after_five_days_of_tries(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["a1"] = BROKEN
    began = outbox.clock.now()

    await die(outbox)

    assert 120 * HOUR <= outbox.clock.now() - began < 121 * HOUR
    assert [tries for _, _, tries, _ in await outbox.standing("a1")] == [16]


async def test_a_clock_that_is_a_week_ahead_for_a_moment_gives_up_no_alert(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "c1")
    outbox.channel.faults["*"] = BROKEN
    await outbox.deliver()

    outbox.set_clock(7 * 24 * HOUR)
    for _ in range(8):
        await outbox.deliver()
        await outbox.pass_time(SECOND)
    outbox.set_clock(-7 * 24 * HOUR)
    outbox.loop.clock_went_back()
    outbox.channel.faults.clear()
    await outbox.deliver()
    await outbox.pass_time(HOUR)
    await outbox.deliver()

    assert sorted(event["id"] for event in outbox.channel.given) == ["a1", "b1", "c1"]
    assert "alert.dead" not in outbox.telemetry.names()


async def test_the_time_in_which_the_service_was_stopped_gives_up_no_alert(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["a1"] = BROKEN
    await outbox.deliver()

    await outbox.pass_time(30 * 24 * HOUR)
    outbox.loop = outbox.restarted()
    await outbox.deliver()

    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["waiting"]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_nothing_waits_until_a_clock_that_was_set_back_has_caught_up(
    outbox: Outbox,
    is_restarted: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    await outbox.write("a1", "b1", "c1", "c2", "d1")
    outbox.channel.faults["*"] = BROKEN
    await outbox.deliver()

    outbox.set_clock(-HOUR // 2)
    if is_restarted:
        outbox.loop = outbox.restarted()
    else:
        outbox.loop.clock_went_back()
    outbox.channel.faults.clear()
    await outbox.deliver()
    await outbox.pass_time(2 * SECOND)
    await outbox.deliver()

    assert sorted(event["id"] for event in outbox.channel.given) == ["a1", "b1", "c1", "c2", "d1"]


async def test_after_the_clock_was_set_back_a_pause_that_is_told_is_the_one_that_is_kept(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "c1")
    outbox.channel.faults["*"] = BROKEN
    outbox.set_clock(7 * 24 * HOUR)
    await outbox.deliver()

    outbox.set_clock(-7 * 24 * HOUR)
    outbox.loop.clock_went_back()
    await outbox.deliver()

    told = (await outbox.store.channel_state("ops")).next_at
    assert told is not None
    assert outbox.clock.now() < told <= outbox.clock.now() + SECOND


async def test_an_alert_that_is_never_accepted_holds_back_its_own_page_alone(outbox: Outbox) -> None:
    pages = "bcdefghijklm"
    outbox.channel.faults["a*"] = BROKEN
    for number in range(6):
        await outbox.write(*(f"{page}{number}" for page in "a" + pages))
        await outbox.deliver()
        await outbox.pass_time(SECOND)

    given = [event["id"] for event in outbox.channel.given]

    assert all([name for name in given if name[0] == page] == [f"{page}{n}" for n in range(6)] for page in pages)
    assert outbox.channel.tried.count("a0") <= 1
    assert (await outbox.store.channel_state("ops")).failures == 0
    assert "channel.failed" not in outbox.telemetry.names()


async def test_a_retry_after_for_one_alert_holds_back_its_own_page_alone(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "b2")
    outbox.channel.faults["a1"] = LATER

    assert sorted(await outbox.deliver()) == ["a1", "b1", "b2"]

    await outbox.write("c1")
    await outbox.pass_time(HOUR)
    assert await outbox.deliver() == ["c1"]


async def test_no_more_alerts_are_in_flight_than_the_bound(outbox: Outbox) -> None:
    await outbox.write(*(f"{chr(200 + number)}1" for number in range(BATCH)))
    under_way, most = 0, 0

    async def count(_event: JsonObject) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    outbox.channel.before = count

    assert len(await outbox.deliver()) == BATCH
    assert most == IN_FLIGHT


async def test_a_channel_that_takes_one_alert_at_once_is_given_no_more(outbox: Outbox) -> None:
    outbox.channel.at_once = 1
    await outbox.write(*(f"{letter}1" for letter in "abcdefghij"))
    under_way = 0

    async def count(_event: JsonObject) -> None:
        nonlocal under_way
        under_way += 1
        assert under_way == 1
        await asyncio.sleep(0)
        under_way -= 1

    outbox.channel.before = count

    assert await outbox.deliver() == [f"{letter}1" for letter in "abcdefghij"]


class SlowPages:
    """Answers to pages in capitals come only when they are let go."""

    def __init__(self, outbox: Outbox) -> None:
        self.released = asyncio.Event()
        outbox.channel.before = self._wait

    async def _wait(self, event: JsonObject) -> None:
        if event["id"].isupper():
            await self.released.wait()


@asynccontextmanager
async def serving(outbox: Outbox) -> AsyncIterator[None]:
    """The loop as a service runs it."""
    async with asyncio.TaskGroup() as group:
        group.create_task(outbox.loop.run(), name="delivery")
        yield
        outbox.loop.finish()


async def until(outbox: Outbox, condition: Callable[[], Awaitable[bool]]) -> None:
    """Let time pass, as much as is needed."""
    while not await condition():
        await outbox.clock.advance(0.1)


async def test_slow_answers_hold_back_no_other_page(outbox: Outbox) -> None:
    slow, quick = [f"{page}1" for page in "ABCDEFGHIJKL"], [f"{page}{n}" for n in range(3) for page in "abcd"]
    await outbox.write(*slow, *quick)
    pages = SlowPages(outbox)

    async def is_told() -> bool:
        return len(outbox.channel.given) == len(quick)

    async with serving(outbox):
        await until(outbox, is_told)
        given, tried = [event["id"] for event in outbox.channel.given], list(outbox.channel.tried)
        pages.released.set()

    assert sorted(given) == sorted(quick)
    assert sorted(name for name in tried if name in slow) == slow
    assert outbox.clock.monotonic() >= 1000 + SLOW_S


async def test_no_more_slow_answers_are_awaited_than_the_bound(outbox: Outbox) -> None:
    await outbox.write(*(f"{chr(0x410 + number)}1" for number in range(20)))
    pages = SlowPages(outbox)

    async with serving(outbox):
        await outbox.clock.advance(100 * SLOW_S)

        async def is_full() -> bool:
            return len(outbox.channel.tried) >= MOST_IN_FLIGHT

        await until(outbox, is_full)
        await outbox.clock.advance(100 * SLOW_S)
        tried = len(outbox.channel.tried)
        pages.released.set()

    assert tried == MOST_IN_FLIGHT


async def test_an_answer_is_recorded_while_a_slow_one_is_awaited(outbox: Outbox) -> None:
    await outbox.write("A1", *(f"{page}1" for page in "bcdefghij"))
    pages = SlowPages(outbox)

    async def is_recorded() -> bool:
        return (await outbox.store.channel_state("ops")).accepted == 9

    async with serving(outbox):
        await until(outbox, is_recorded)
        assert not pages.released.is_set()
        pages.released.set()

    assert (await outbox.store.channel_state("ops")).waiting == 0


async def test_what_was_answered_is_recorded_where_a_slow_answer_is_given_up(outbox: Outbox) -> None:
    await outbox.write("A1", "b1")
    SlowPages(outbox)

    async def is_answered() -> bool:
        return bool(outbox.channel.given)

    async with asyncio.TaskGroup() as group:
        delivery = group.create_task(outbox.loop.run(), name="delivery")
        await until(outbox, is_answered)
        delivery.cancel()

    assert [state for _, state, _, _ in await outbox.standing("b1")] == ["accepted"]
    assert [state for _, state, _, _ in await outbox.standing("A1")] == ["waiting"]


async def test_what_could_not_be_recorded_is_recorded_later_and_not_given_again(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    await outbox.write("a1")
    with monkeypatch.context() as patched:
        patched.setattr(outbox.store, "record_deliveries", full)
        await outbox.loop.drain()

    assert await outbox.deliver() == []
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["accepted"]
    assert "delivery.unrecorded" in outbox.telemetry.names()


async def test_an_alert_that_was_accepted_and_never_recorded_is_given_again_with_the_same_id(
    outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    await outbox.write("a1")
    with monkeypatch.context() as patched:
        patched.setattr(outbox.store, "record_deliveries", full)
        await outbox.loop.drain()
    outbox.loop = outbox.restarted()

    assert await outbox.deliver() == ["a1"]
    assert [event["id"] for event in outbox.channel.given] == ["a1", "a1"]


async def full(_results: Sequence[DeliveryResult], *, under: NamedLease | None) -> None:
    del under
    raise StoreError("the disk is full")


async def test_one_broken_channel_delays_no_other(store: SqlStore) -> None:
    await store.set_channels(["ops", "log"])
    outbox, other = Outbox(store), RecordingChannel("log")
    await outbox.write("a1", "a2")

    async def hang(_event: JsonObject) -> None:
        await asyncio.Event().wait()

    outbox.channel.before = hang
    delivery = Delivery([outbox.channel, other], store, DeliverySettings(), outbox.clock, outbox.telemetry)
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


async def test_the_service_delivers_what_it_is_woken_for_and_ends_when_told(store: SqlStore) -> None:
    outbox = Outbox(store)
    given = asyncio.Event()

    async def note(_event: JsonObject) -> None:
        given.set()

    outbox.channel.before = note
    delivery = Delivery([outbox.channel], store, DeliverySettings(), outbox.clock, outbox.telemetry)
    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.run(), name="delivery")
        await outbox.write("a1")
        delivery.wake()
        await given.wait()
        delivery.finish()

    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["accepted"]


async def test_a_channel_that_is_replaced_ends_its_deliveries_before_the_next_one_begins(store: SqlStore) -> None:
    outbox = Outbox(store)
    pages, other = SlowPages(outbox), RecordingChannel()
    await outbox.write("A1", "b1")
    delivery = Delivery(
        [outbox.channel],
        store,
        DeliverySettings(),
        outbox.clock,
        outbox.telemetry,
        test_event=lambda name: {"id": name},
    )

    async def is_given() -> bool:
        return [event["id"] for event in outbox.channel.given] == ["b1"]

    async def is_taken_over() -> bool:
        return bool(other.given)

    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.run(), name="delivery")
        await until(outbox, is_given)
        delivery.configure([other], set())
        await outbox.write("c1")
        await outbox.clock.advance(10)
        during = list(other.given)
        pages.released.set()
        await until(outbox, is_taken_over)
        delivery.finish()

    assert (during, outbox.channel.closed, other.closed) == ([], True, False)
    assert [event["id"] for event in outbox.channel.given] == ["b1", "A1"]
    assert [event["id"] for event in other.given] == ["c1"]


async def test_a_channel_that_is_gone_is_given_nothing_more_and_a_new_one_is(store: SqlStore) -> None:
    await store.set_channels(["ops", "new"])
    outbox, new = Outbox(store), RecordingChannel("new")
    delivery = Delivery(
        [outbox.channel],
        store,
        DeliverySettings(),
        outbox.clock,
        outbox.telemetry,
        test_event=lambda name: {"id": name},
    )

    async def is_taken_over() -> bool:
        return bool(new.given)

    async with asyncio.TaskGroup() as group:
        group.create_task(delivery.run(), name="delivery")
        await settle()
        delivery.configure([new], {"ops"})
        await outbox.write("a1")
        await until(outbox, is_taken_over)
        delivery.finish()

    assert ([event["id"] for event in new.given], outbox.channel.given, outbox.channel.closed) == (["a1"], [], True)
