"""When a whole channel is at fault: it is left alone, tried again, and not flooded when it is back."""

from __future__ import annotations

from tests.engine.alerting.outbox import BROKEN, GONE, HOUR, SECOND, Outbox
from tests.fakes import settle
from tocsin.engine.alerting.delivery import BLAMED_AT, IN_FLIGHT
from tocsin.model import ChannelState, JsonObject


async def test_an_alert_that_fails_again_and_again_does_not_blame_its_channel(outbox: Outbox) -> None:
    await outbox.write("a1", "a2")
    outbox.channel.faults["*"] = BROKEN

    for _ in range(2 * BLAMED_AT):
        await outbox.deliver()
        await outbox.pass_time(HOUR)

    assert (await outbox.store.channel_state("ops")).failures == 0
    assert [(state, error) for _, state, _, error in await outbox.standing("a1")] == [("waiting", "answered 503")]


async def test_a_channel_that_accepts_most_alerts_is_not_left_alone(outbox: Outbox) -> None:
    names = [f"{chr(200 + number)}1" for number in range(50)]
    await outbox.write(*names)
    outbox.channel.faults |= dict.fromkeys(names[::5], BROKEN)

    assert sorted(await outbox.deliver()) == sorted(names)

    assert (await outbox.store.channel_state("ops")).failures == 0
    assert len(outbox.channel.given) == 40


async def test_a_channel_that_fails_is_left_alone_until_its_step_is_over(outbox: Outbox) -> None:
    await outbox.write(*(f"{letter}1" for letter in "abcdefghijklmnopqrstuvwxyz"))
    outbox.channel.faults["*"] = BROKEN
    tried = await outbox.deliver()

    waiting = await outbox.deliver()
    await outbox.pass_time(2 * SECOND)
    after_a_step = await outbox.deliver()

    assert waiting == []
    # It is the channel's fault only if different alerts fail, so those that were not tried yet come first.
    assert len(after_a_step) == BLAMED_AT
    assert not set(after_a_step) & set(tried)
    state = await outbox.store.channel_state("ops")
    assert (state.failures, state.next_at) == (2, outbox.clock.now() + 5 * SECOND)


async def test_a_channel_that_is_back_is_not_flooded(outbox: Outbox) -> None:
    await outbox.write(*(f"{letter}1" for letter in "abcdefghijklmnopqrstuvwxyz"))
    outbox.channel.faults["*"] = BROKEN
    await outbox.deliver()
    outbox.channel.faults.clear()
    await outbox.pass_time(HOUR)
    under_way = 0
    most: list[int] = []

    async def count(_event: JsonObject) -> None:
        nonlocal under_way
        under_way += 1
        most.append(under_way)
        await settle()
        under_way -= 1

    outbox.channel.before = count

    assert len(await outbox.deliver()) == 26
    assert (most[0], max(most)) == (1, IN_FLIGHT)
    assert all(number <= 1 + place for place, number in enumerate(most))


async def pass_until_due(outbox: Outbox) -> None:
    await outbox.pass_time(((await outbox.store.next_delivery_at("ops")) or 0) - outbox.clock.now())


async def test_alerts_that_failed_only_while_their_channel_was_down_are_tried_at_once_when_it_is_back(
    outbox: Outbox,
) -> None:
    outbox.channel.faults["*"] = BROKEN
    await outbox.write("a1", "b1", "b2")
    for _ in range(5):
        await outbox.deliver()
        await pass_until_due(outbox)
    await outbox.deliver()
    # Only now is the channel to blame, and for a second; the steps of the others are half an hour by now.
    await outbox.write("c1")
    await outbox.deliver()
    outbox.channel.faults.clear()
    await outbox.pass_time(SECOND)

    assert await outbox.deliver() == ["c1", "a1", "b1", "b2"]


async def test_a_test_that_ends_the_pause_of_a_channel_ends_those_of_its_alerts(outbox: Outbox) -> None:
    outbox.channel.faults["*"] = BROKEN
    await outbox.write("a1", "b1", "c1", "d1")
    for _ in range(8):
        await outbox.deliver()
        await pass_until_due(outbox)
    await outbox.deliver()
    outbox.channel.faults.clear()

    await outbox.loop.try_out({"id": "test"})

    assert sorted(await outbox.deliver()) == ["a1", "b1", "c1", "d1"]


async def test_alerts_that_failed_before_their_channel_did_keep_their_steps(outbox: Outbox) -> None:
    outbox.channel.faults["a*"] = BROKEN
    await outbox.write("a1")
    for number in range(5):
        await outbox.write(f"b{number}")
        await outbox.deliver()
        await pass_until_due(outbox)
    await outbox.deliver()
    await outbox.write("b9", "c9", "d9")
    outbox.channel.faults["*"] = BROKEN
    await outbox.deliver()
    del outbox.channel.faults["*"]
    await outbox.pass_time(SECOND)

    assert sorted(await outbox.deliver()) == ["b9", "c9", "d9"]
    assert [tries for _, _, tries, _ in await outbox.standing("a1")] == [6]


async def test_alerts_that_are_refused_for_their_own_sake_bring_a_channel_that_is_back_down_once_at_most(
    outbox: Outbox,
) -> None:
    await outbox.write("x1", "y1", "z1")
    outbox.channel.faults |= {"x*": BROKEN, "y*": BROKEN, "z*": BROKEN}
    await outbox.deliver()

    for number in range(60):
        await outbox.write(f"a{number}", f"b{number}")
        await outbox.deliver()
        await outbox.pass_time(SECOND)

    assert len(outbox.channel.given) >= 2 * 58
    tries = [tries for name in ("x1", "y1", "z1") for _, _, tries, _ in await outbox.standing(name)]
    assert max(tries) <= 6


async def test_nothing_is_lost_while_a_channel_is_down_for_days(outbox: Outbox) -> None:
    names = [f"{letter}{number}" for letter in "abc" for number in range(3)]
    await outbox.write(*names)
    outbox.channel.faults["*"] = BROKEN
    for _ in range(12):
        await outbox.deliver()
        await outbox.pass_time(8 * HOUR)
    assert (await outbox.store.channel_state("ops")).failures > 3
    outbox.channel.faults.clear()
    await outbox.pass_time(24 * HOUR)

    await outbox.deliver()

    given = [event["id"] for event in outbox.channel.given]
    assert sorted(given) == names
    assert all([name for name in given if name[0] == page] == [f"{page}{n}" for n in range(3)] for page in "abc")


async def test_a_receiver_that_is_down_is_asked_with_one_window_of_alerts(outbox: Outbox) -> None:
    await outbox.write(*(f"{chr(200 + number)}1" for number in range(3 * IN_FLIGHT)))
    outbox.channel.faults["*"] = BROKEN

    assert len(await outbox.deliver()) < IN_FLIGHT + BLAMED_AT


async def test_a_channel_whose_receiver_is_gone_is_disabled_and_keeps_its_alerts(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["*"] = GONE
    await outbox.deliver()
    await outbox.pass_time(500 * HOUR)

    assert await outbox.deliver() == []
    assert [state for _, state, _, _ in await outbox.standing("a1")] == ["waiting"]
    disabled = [happening for happening in outbox.telemetry.happenings if happening.name == "channel.disabled"]
    assert "tocsin channel test ops" in disabled[0].values["mend"]


async def test_a_channel_that_was_enabled_again_is_given_what_waited(outbox: Outbox) -> None:
    await outbox.write("a1")
    outbox.channel.faults["*"] = GONE
    await outbox.deliver()
    outbox.channel.faults.clear()

    await outbox.store.save_channel_state(ChannelState("ops"))
    await outbox.pass_time(5 * SECOND)

    assert await outbox.deliver() == ["a1"]


async def test_a_back_off_outlives_a_restart(outbox: Outbox) -> None:
    await outbox.write("a1", "b1", "c1")
    outbox.channel.faults["*"] = BROKEN
    await outbox.deliver()

    outbox.loop = outbox.restarted()
    outbox.channel.faults.clear()
    waiting = await outbox.deliver()
    await outbox.pass_time(HOUR)

    assert (waiting, sorted(await outbox.deliver())) == ([], ["a1", "b1", "c1"])
