"""Digests, from the bundle to the channel, over a real store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.alert_examples import DECIDED, examples
from tests.fakes import ManualClock, RecordingTelemetry, SeededChance, settle
from tests.receivers import RecordingChannel
from tests.routers import ScriptedRouter, digest
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.alerting.delivery import ChannelLoop
from tocsin.engine.alerting.digests import MAX_DIGEST_BYTES, DigestWriter
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import DeliveryError
from tocsin.events import CHANGED
from tocsin.model import AlertDraft, BundleRow, Digest, JsonObject, Message, Routed
from tocsin.ports import Notification

HOUR_S = 3600
HOUR = HOUR_S * 1_000_000
BROKEN = DeliveryError("ops", "channel", "answered 503")
REFUSED = DeliveryError("ops", "alert", "answered 404")
GONE = DeliveryError("ops", "gone", "answered 410")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True)
    await opened.set_channels(["ops"])
    try:
        yield opened
    finally:
        assert await opened.check() == []
        await opened.close()


class Desk:
    """A channel and its loop. Alerts whose names begin with `d` join an hourly digest, those with `D` another one."""

    def __init__(self, store: SqlStore) -> None:
        self.store, self.clock, self.telemetry = store, ManualClock(), RecordingTelemetry()
        self.channel, self.chance = RecordingChannel(), SeededChance()
        self.loop = self.restarted()

    def restarted(self) -> ChannelLoop:
        writer = DigestWriter("tocsin", self.chance)
        give_up = timedelta(days=3)
        return ChannelLoop(self.channel, self.store, give_up, self.clock, self.telemetry, compose=writer.compose)

    async def write(self, *names: str, page_id: int | None = None) -> None:
        due_at = (self.clock.now() // HOUR + 1) * HOUR
        answers = {"d": digest("ops", due_at=due_at), "D": digest("ops", "other", due_at=due_at)}
        router = ScriptedRouter(lambda draft, *_: [answers.get(draft.id[0], Routed("ops", "all"))])
        await self.store.set_routes(router, ["daily", "other", "all"], self.clock.now())
        for name in names:
            event: JsonObject = {"id": name, "type": CHANGED, "subject": "https://example.org/", "data": {}}
            await self.store.write_alert(AlertDraft(name, CHANGED, page_id, self.clock.now(), event))

    async def deliver(self, hours: float = 0) -> list[list[str]]:
        """Let time pass, then deliver what is due; returns what was accepted, alone or together."""
        await self.clock.advance(hours * HOUR_S)
        self.channel.given.clear()
        await self.loop.drain()
        return [_ids(event) for event in self.channel.given]

    async def states(self) -> list[str]:
        """The states of all bundles, the oldest first."""
        return [row.state for row in reversed(await self.store.bundles(limit=99))]


def _ids(event: JsonObject) -> list[str]:
    return [each["id"] for each in event["data"]["alerts"]] if "alerts" in event["data"] else [event["id"]]


@pytest.fixture
def desk(store: SqlStore) -> Desk:
    return Desk(store)


async def test_alerts_of_a_digest_arrive_together_at_its_time(desk: Desk) -> None:
    await desk.write("d1", "a1", "d2", "D1")

    assert await desk.deliver() == [["a1"]]
    assert sorted(await desk.deliver(1)) == [["D1"], ["d1", "d2"]]
    assert await desk.deliver(1) == []
    assert await desk.states() == ["accepted", "accepted"]


async def test_a_digest_that_fails_is_given_again_with_the_same_bytes(desk: Desk) -> None:
    """Invariant 2, over a restart."""
    await desk.write("d1")
    desk.channel.faults["*"] = BROKEN
    assert await desk.deliver(1) == []
    first = list(desk.channel.tried)
    desk.loop = desk.restarted()
    desk.channel.faults.clear()
    await desk.write("d2")

    assert await desk.deliver(0.1) == [["d1"]]

    assert desk.channel.tried == [*first, first[0]]
    assert await desk.states() == ["accepted", "open"]


async def test_a_digest_takes_the_steps_of_an_alert_and_is_given_up(desk: Desk) -> None:
    await desk.write("d1", "d2")
    desk.channel.faults["*"] = REFUSED
    for _ in range(40):
        await desk.deliver(4)

    (row,) = await desk.store.bundles(limit=9)

    assert (row.state, row.error, row.tries > 10) == ("dead", "answered 404", True)
    (dead,) = [each.values for each in desk.telemetry.happenings if each.name == "digest.dead"]
    assert dead["mend"] == "once it is taken again: tocsin alerts replay --digest 1"
    state = await desk.store.channel_state("ops")
    assert (state.dead, state.failures) == (2, 0)


async def test_digests_are_sealed_in_time_while_their_channel_fails_and_arrive_in_order(desk: Desk) -> None:
    desk.channel.faults["*"] = GONE
    for number in range(3):
        await desk.write(f"d{number}")
        await desk.deliver(1)
    assert await desk.states() == ["sealed", "sealed", "sealed"]
    desk.channel.faults.clear()
    await desk.loop.try_out({"id": "test", "data": {}})

    arrived = [ids for _ in range(3) for ids in await desk.deliver(0.01)]

    assert arrived == [["d0"], ["d1"], ["d2"]]


async def test_failing_digests_blame_their_channel_as_alerts_do(desk: Desk) -> None:
    await desk.write("d1", "D1", "a1")
    desk.channel.faults["*"] = BROKEN

    await desk.deliver(1)

    assert (await desk.store.channel_state("ops")).failures == 1


async def test_an_alert_waits_for_the_digest_with_an_older_one_of_its_page(desk: Desk) -> None:
    """Invariant 6."""
    await desk.write("d1", page_id=7)
    desk.channel.faults["0*"] = REFUSED  # as numbers of digests begin
    await desk.deliver(1)
    await desk.write("a1", page_id=7)
    await desk.write("b1", page_id=8)

    assert await desk.deliver() == [["b1"]]
    desk.channel.faults.clear()
    assert await desk.deliver(0.1) == [["d1"], ["a1"]]


async def test_a_clock_that_was_set_back_holds_up_no_sealed_digest(desk: Desk) -> None:
    await desk.write("d1")
    desk.channel.faults["*"] = REFUSED
    await desk.deliver(1)
    desk.channel.faults.clear()
    desk.clock.set_wall(desk.clock.now() - 48 * HOUR)
    desk.loop.clock_went_back()
    assert await desk.deliver() == []

    assert await desk.deliver(0.01) == [["d1"]]


async def test_a_running_loop_looks_once_a_second(desk: Desk) -> None:
    await desk.write("d1")
    async with asyncio.TaskGroup() as group:
        group.create_task(desk.loop.run())
        await settle()
        await desk.clock.advance(HOUR_S)
        for _ in range(20):
            await settle()
            await desk.clock.advance(0.5)
            await asyncio.to_thread(lambda: None)
        desk.loop.finish()

    assert [_ids(event) for event in desk.channel.given] == [["d1"]]


async def test_people_get_the_message_that_was_sealed(desk: Desk) -> None:
    message = Message("M", "subject", "text", "html", "markdown", "short")

    async def said(_event: JsonObject, _channel: str, _route: str) -> Message:
        return message

    writer = DigestWriter("tocsin", desk.chance, to_message=said)
    desk.loop = ChannelLoop(
        desk.channel, desk.store, timedelta(days=3), desk.clock, desk.telemetry, compose=writer.compose
    )
    await desk.write("d1")
    await desk.deliver(1)

    await desk.store.replay_bundle(1, desk.clock.now())
    (again,) = (await desk.store.due_bundles("ops", desk.clock.now(), limit=9)).to_give

    assert again.message == message


class PeoplesChannel(RecordingChannel):
    """Takes messages, and keeps them."""

    def __init__(self) -> None:
        super().__init__()
        self.takes_messages = True
        self.messages: list[Message | None] = []

    async def deliver(self, notification: Notification) -> None:
        self.messages.append(notification.message)


@pytest.mark.parametrize("takes", [True, False])
async def test_a_channel_that_takes_messages_gets_one_with_each_alert(desk: Desk, *, takes: bool) -> None:
    channel = PeoplesChannel()
    channel.takes_messages = takes

    async def said(event: JsonObject, _channel: str, _route: str) -> Message:
        return Message(event["id"], "subject", "text", "html", "markdown", "short")

    desk.loop = ChannelLoop(
        channel,
        desk.store,
        timedelta(days=3),
        desk.clock,
        desk.telemetry,
        to_message=said,
    )
    await desk.write("a1")
    await desk.loop.drain()

    assert [message and message.id for message in channel.messages] == ["a1" if takes else None]


def event_of(number: int, **data: Any) -> JsonObject:
    page = {"group": "press", "title": "x" * 500}
    return {
        "id": str(number),
        "type": CHANGED,
        "subject": f"https://h{number % 200}.example/",
        "data": {"page": page, **data},
    }


def test_a_digest_is_at_most_256_kib_and_counts_what_finds_no_room() -> None:
    bundle = BundleRow(1, "mail", "daily", "", "sealed", 0, 0, 100_000, 1)
    rest = tuple(("main", f"{number}.example", 995) for number in range(100))
    events = tuple(event_of(number, summary="é" * 280) for number in range(500))

    made = DigestWriter("tocsin", SeededChance()).event(Digest(bundle, 0, 1, events, rest))

    data = made["data"]
    assert data["count"] == 100_000
    assert 0 < len(data["alerts"]) < 500
    assert len(data["alerts"]) + sum(row["count"] for row in data["rest"]) == 100_000
    assert len(data["rest"]) == 101
    assert len(msgspec.json.encode(made)) <= MAX_DIGEST_BYTES


def test_a_digest_of_nothing_says_so() -> None:
    bundle = BundleRow(1, "mail", "daily", "", "sealed", 0, 0, 0, 1)

    data = DigestWriter("tocsin", SeededChance()).event(Digest(bundle, None, None, ()))["data"]

    assert (data["count"], data["from"], data["to"], data["alerts"], data["rest"]) == (0, None, None, [], [])


async def test_a_digest_and_its_message_are_in_the_language_of_its_route() -> None:
    bundle = BundleRow(12, "mail", "newsroom", "", "sealed", 0, DECIDED, 1, DECIDED)
    asked: list[tuple[str, str]] = []

    async def said(event: JsonObject, channel: str, route: str) -> Message:
        asked.append((channel, route))
        return message_of(event, "de")

    def language_of(channel: str, route: str) -> str:
        return "de" if (channel, route) == ("mail", "newsroom") else "en"

    writer = DigestWriter("tocsin", SeededChance(), to_message=said, language_of=language_of)
    event, message = await writer.compose(Digest(bundle, 0, 1, (examples()[0],)))

    data = msgspec.json.decode(event.json)["data"]
    assert message is not None
    assert asked == [("mail", "newsroom")]
    assert data["alerts"][0]["summary"].startswith("„Bluesday Tuesday“ wurde vom 5. auf den 6. Mai 2009 verlegt")
    assert (data["summary"], message.id) == ("1 Meldung.", event.id)
    assert data["alerts"][0]["summary"] in message.text


async def test_a_digest_that_a_template_failed_at_is_written_anew_at_each_try(desk: Desk) -> None:
    channel, bodies = PeoplesChannel(), ["", "mended"]

    async def said(event: JsonObject, _channel: str, _route: str) -> Message:
        body = bodies.pop(0)
        failed = "" if body else "pager.json, line 1: …"
        return Message(event["id"], "subject", "text", "html", "markdown", "short", body=body or None, failed=failed)

    writer = DigestWriter("tocsin", desk.chance, to_message=said)
    desk.loop = ChannelLoop(
        channel, desk.store, timedelta(days=3), desk.clock, desk.telemetry, compose=writer.compose, to_message=said
    )
    await desk.write("d1")
    await desk.deliver(1)

    assert [message and message.body for message in channel.messages] == ["mended"]
