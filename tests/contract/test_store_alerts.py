"""The outbox: positions, deliveries, channels."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec import structs

from tests.contract.desk import DAY, HOUR, NOW, A, Desk, alert
from tocsin.events import OUTAGE_BEGAN, OUTAGE_ENDED
from tocsin.model import AlertDraft, ChannelState, ChannelTest, DeliveryResult


async def publish(desk: Desk, *names: str, page_id: int | None = None) -> None:
    """Write alerts of one page."""
    for name in names:
        await desk.store.write_alert(alert(name, page_id))


async def due(desk: Desk, channel: str = "ops", at: int = NOW) -> list[str]:
    """What a channel is to be given."""
    return [row.alert_id.lstrip("0") for row in await desk.store.due_deliveries(channel, at, limit=100)]


async def record(desk: Desk, name: str, state: str, channel: str = "ops", *, next_at: int | None = None) -> None:
    """Note what became of a try."""
    result = DeliveryResult(name.rjust(26, "0"), channel, state, NOW, next_at, None if state == "accepted" else "503")  # type: ignore[arg-type]  # one of three
    await desk.store.record_deliveries([result])


async def test_each_alert_goes_to_every_channel_that_is_set(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "log"])

    await publish(desk, "one", "two")

    assert await due(desk, "ops") == ["one", "two"]
    assert await due(desk, "log") == ["one", "two"]


async def test_without_a_channel_alerts_stay_listed(desk: Desk) -> None:
    await publish(desk, "one")

    assert await desk.store.next_delivery_at("ops") is None
    assert await desk.alerts() == ["one"]


async def test_a_page_gives_its_oldest_alert_only(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=page_id)
    assert await due(desk) == ["one"]

    await record(desk, "one", "accepted")

    assert await due(desk) == ["two"]


async def test_a_dead_letter_lets_the_pages_next_alert_go(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)

    await record(desk, "one", "dead")

    assert await due(desk) == ["two"]
    assert [row.id.lstrip("0") for row in await desk.store.alerts(limit=9, dead=True)] == ["one"]


async def test_an_alert_backed_off_holds_back_its_page_and_no_other(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)
    await publish(desk, "other", page_id=8)

    await record(desk, "one", "waiting", next_at=NOW + HOUR)

    assert await due(desk) == ["other"]
    assert await due(desk, at=NOW + HOUR) == ["other", "one"]


async def test_one_channel_delays_no_other(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "log"])
    await publish(desk, "one", "two", page_id=7)

    await record(desk, "one", "accepted", "log")

    assert (await due(desk, "ops"), await due(desk, "log")) == (["one"], ["two"])


async def test_tries_are_counted_from_the_first_one_on(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one")
    await record(desk, "one", "waiting", next_at=NOW + 1)
    later = DeliveryResult("one".rjust(26, "0"), "ops", "waiting", NOW + HOUR, NOW + HOUR, "503")
    await desk.store.record_deliveries([later])

    (delivery,) = await desk.store.due_deliveries("ops", NOW + HOUR, limit=1)

    assert (delivery.tries, delivery.first_try_at) == (2, NOW)
    assert (await desk.store.alerts(limit=1))[0].deliveries[0][:4] == ("ops", "waiting", 2, "503")


async def test_what_is_under_way_is_left_out_and_holds_back_its_page(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)
    await publish(desk, "other", page_id=8)

    found = await desk.store.due_deliveries("ops", NOW, limit=9, under_way=[1])

    assert [row.alert_id.lstrip("0") for row in found] == ["other"]


async def test_a_replayed_alert_comes_before_the_younger_ones_of_its_page(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    names = ["one", "two", "three", "four"]
    await publish(desk, *names, page_id=7)
    for name in names[:3]:
        await record(desk, name, "dead")

    assert await desk.store.replay_dead(channel=None, now=NOW) == 3

    for name in names:
        assert await due(desk) == [name]
        await record(desk, name, "accepted")
    assert await due(desk) == []


async def test_a_younger_alert_that_is_accepted_ends_no_pause_of_an_older_one(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)
    await record(desk, "one", "dead")
    await desk.store.replay_dead(channel="ops", now=NOW)
    await record(desk, "one", "waiting", next_at=NOW + HOUR)

    await record(desk, "two", "accepted")

    assert await due(desk) == []
    assert await due(desk, at=NOW + HOUR) == ["one"]


async def test_an_alert_that_is_replayed_to_a_newer_channel_keeps_its_place(desk: Desk) -> None:
    await publish(desk, "one", page_id=7)
    await desk.store.set_channels(["new"])
    await publish(desk, "two", page_id=7)

    assert await desk.store.replay("one".rjust(26, "0"), channel="new", now=NOW) == 1

    assert await due(desk, "new") == ["one"]
    await record(desk, "one", "accepted", "new")
    assert await due(desk, "new") == ["two"]


async def test_an_alert_that_is_forgotten_lets_the_next_one_of_its_page_go(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)
    await desk.store.set_channels([])
    await desk.store.prune(NOW + 700 * DAY, history=timedelta(days=365), limit=1)
    await desk.store.set_channels(["ops"])

    assert await due(desk) == ["two"]


def outage(name: str, kind: str, node: str) -> AlertDraft:
    """An alert of a node's own connection, decided one after the other."""
    draft = alert(name, None, kind, NOW + ord(name[0]))
    return structs.replace(draft, event={**draft.event, "data": {"node": node}})


async def test_each_node_has_an_outage_of_its_own(desk: Desk) -> None:
    for draft in (outage("a", OUTAGE_BEGAN, "one"), outage("b", OUTAGE_BEGAN, "two"), outage("c", OUTAGE_ENDED, "two")):
        await desk.store.write_alert(draft)

    open_since = [await desk.store.open_outage(node) for node in ("one", "two", "three")]

    # A store of one engine has no other nodes: its last alert counts, whatever its machine was called.
    assert open_since == ([NOW + ord("a"), None, None] if desk.behind.kind != "sqlite" else [None] * 3)


async def test_that_an_outage_began_is_told_before_its_end(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await desk.store.write_alert(alert("began", None, OUTAGE_BEGAN))
    await desk.store.write_alert(alert("ended", None, OUTAGE_ENDED))

    await record(desk, "began", "waiting", next_at=NOW + HOUR)

    assert await due(desk) == []
    assert await due(desk, at=NOW + HOUR) == ["began"]
    assert await desk.store.check() == []


@pytest.mark.parametrize("at_once", [1, 1000])
async def test_after_the_clock_was_set_back_nothing_waits_until_it_has_caught_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    # Another transaction has its turn after each step.
    monkeypatch.setattr("tocsin.adapters.stores.sql.awareness.alerts.STEP_ROWS", at_once)
    await desk.store.set_channels(["ops"])
    await publish(desk, "tried", page_id=7)
    await publish(desk, "new", page_id=8)
    await record(desk, "tried", "waiting", next_at=NOW + 30)

    await desk.store.resume_deliveries("ops", NOW - DAY)

    assert await due(desk, at=NOW - DAY) == ["new"]
    assert await due(desk, at=NOW - DAY + 30) == ["new", "tried"]


async def test_a_pause_is_not_cut_where_the_clock_was_not_set_back(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", page_id=7)
    await record(desk, "one", "waiting", next_at=NOW + HOUR)

    await desk.store.resume_deliveries("ops", NOW + 1)

    assert await desk.store.next_delivery_at("ops") == NOW + HOUR


async def test_the_next_delivery_is_that_of_the_oldest_of_each_page(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", page_id=7)

    await record(desk, "one", "waiting", next_at=NOW + HOUR)

    assert await desk.store.next_delivery_at("ops") == NOW + HOUR


async def test_how_a_channel_stands_outlives_the_process(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one", "two", "three")
    await record(desk, "one", "accepted")
    await record(desk, "two", "dead")
    state = ChannelState("ops", failures=3, next_at=NOW + HOUR, disabled=True, error="answered 410")

    await desk.store.save_channel_state(state)

    kept = await desk.store.channel_state("ops")
    assert (kept.failures, kept.next_at, kept.disabled, kept.error) == (3, NOW + HOUR, True, "answered 410")
    assert (kept.waiting, kept.dead, kept.accepted) == (1, 1, 1)
    assert await desk.store.channel_state("unknown") == ChannelState("unknown")


async def test_a_channel_that_is_back_makes_due_what_failed_only_since_it_began_to_fail(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "log"])
    await publish(desk, "tried", page_id=7)
    await publish(desk, "new", page_id=8)
    for channel in ("ops", "log"):
        await record(desk, "tried", "waiting", channel, next_at=NOW + HOUR)
    failing = ChannelState("ops", failures=5, since=NOW)
    for since in (NOW + 1, None):
        # It began to fail later, or did not fail.
        await desk.store.save_channel_state(structs.replace(failing, since=since))
        await desk.store.save_channel_state(ChannelState("ops", accepted_at=NOW + 2))
    assert await due(desk, at=NOW + 2) == ["new"]

    await desk.store.save_channel_state(failing)
    await desk.store.save_channel_state(structs.replace(failing, failures=6, accepted_at=NOW))
    assert await due(desk, at=NOW + 2) == ["new"]
    await desk.store.save_channel_state(ChannelState("ops", accepted_at=NOW + 2))

    assert await due(desk, at=NOW + 2) == ["tried", "new"]
    assert await due(desk, "log", at=NOW + 2) == ["new"]


async def test_alerts_are_listed_newest_first_and_page_by_page(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await publish(desk, "one")
    await publish(desk, "two", page_id=page_id)
    await publish(desk, "three")

    latest = await desk.store.alerts(limit=2)

    assert [row.id.lstrip("0") for row in latest] == ["three", "two"]
    assert latest[1].url == A
    assert [row.id.lstrip("0") for row in await desk.store.alerts(limit=2, before=latest[-1].position)] == ["one"]
    assert [row.id.lstrip("0") for row in await desk.store.alerts(limit=9, url=A)] == ["two"]


async def test_an_alert_outlives_its_page(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await publish(desk, "one", page_id=page_id)

    await desk.store.remove_pages([page_id])

    row = await desk.store.alert("one".rjust(26, "0"))
    assert row is not None
    assert row.page_id == page_id


async def test_the_stream_goes_on_after_a_position(desk: Desk) -> None:
    await publish(desk, "one", "two", "three")

    rows = await desk.store.after(1, limit=1)

    assert [(row.position, row.id.lstrip("0")) for row in rows] == [(2, "two")]


async def test_dead_letters_can_be_replayed(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "log"])
    await publish(desk, "one", "two")
    await record(desk, "one", "dead")
    await record(desk, "two", "accepted")

    assert await desk.store.count_dead("ops") == await desk.store.count_dead(None) == 1
    assert await desk.store.replay_dead(channel="log", now=NOW + DAY) == 0
    assert await desk.store.replay_dead(channel="ops", now=NOW + DAY) == 1

    assert await desk.store.count_dead(None) == 0
    (again,) = await desk.store.due_deliveries("ops", NOW + DAY, limit=9)
    assert (again.alert_id.lstrip("0"), again.tries, again.first_try_at) == ("one", 0, None)


async def test_dead_letters_of_all_channels_are_replayed_in_steps(desk: Desk) -> None:
    await desk.store.set_channels(["ops", "log"])
    for number in range(250):
        await publish(desk, f"{number:03}")
        await record(desk, f"{number:03}", "dead")
    await desk.store.set_channels(["log"])
    told: list[int] = []

    assert await desk.store.replay_dead(channel=None, now=NOW, on_step=told.append) == 250

    assert told == [100, 150]


async def test_an_accepted_alert_is_replayed_only_if_it_is_asked_for(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await publish(desk, "one")
    await record(desk, "one", "accepted")
    name = "one".rjust(26, "0")

    assert await desk.store.replay_dead(channel=None, now=NOW) == 0
    assert await desk.store.replay(name, channel=None, now=NOW) == 1
    assert await due(desk) == ["one"]


async def test_an_alert_can_be_replayed_to_a_channel_that_is_newer_than_it(desk: Desk) -> None:
    await publish(desk, "one")

    assert await desk.store.replay("one".rjust(26, "0"), channel="new", now=NOW) == 1

    assert await due(desk, "new") == ["one"]


async def test_a_test_of_a_channel_is_taken_once_and_told_how_it_ended(desk: Desk) -> None:
    number = await desk.store.ask_for_channel_test("ops", NOW)
    asked = await desk.store.channel_test(number)

    taken = await desk.store.take_channel_tests(NOW, limit=9)
    again = await desk.store.take_channel_tests(NOW, limit=9)
    await desk.store.end_channel_test(number, NOW, ("gone", "answered 410"))

    assert asked == ChannelTest(None, None, None, None)
    assert (taken, again) == ([(number, "ops")], [])
    assert await desk.store.channel_test(number) == ChannelTest(NOW, NOW, "gone", "answered 410")
    assert not await desk.store.withdraw_channel_test(number)


async def test_a_test_that_no_engine_begins_can_be_taken_back(desk: Desk) -> None:
    number = await desk.store.ask_for_channel_test("ops", NOW)

    assert await desk.store.withdraw_channel_test(number)

    assert await desk.store.take_channel_tests(NOW, limit=9) == []
    assert await desk.store.channel_test(number) is None


async def test_tests_of_channels_are_forgotten_after_a_day(desk: Desk) -> None:
    old = await desk.store.ask_for_channel_test("ops", NOW)

    await desk.store.ask_for_channel_test("ops", NOW + DAY + 1)

    assert await desk.store.channel_test(old) is None
