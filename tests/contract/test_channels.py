"""What every channel promises, tried on each of them."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import aiohttp
import pytest

from tests.brokers.consumers import BROKERS
from tests.fakes import ManualClock
from tests.mailserver import MailServer
from tests.receivers import EVENT, Answer, RecordingChannel, WebhookReceiver, no_dial, no_tls
from tocsin.adapters.channels.apprise import AppriseSettings
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.mail import MailSettings
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.channels.stdout import StdoutChannel
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.app.egress import CellAsides
from tocsin.configuration.channels import our_types
from tocsin.errors import DeliveryError
from tocsin.model import JsonObject, SerializedEvent
from tocsin.model.messages import Message
from tocsin.ports import Channel, Notification
from tocsin.settings import NetworkSettings

BIG = EVENT | {"id": "01KAK0000000000000000000BG", "data": {"text": "é" * 120_000}}


class Trial(Protocol):
    """A channel, what came out of it, and a way to break what stands behind it."""

    channel: Channel

    async def received(self) -> list[JsonObject]: ...

    async def break_it(self) -> None: ...


class WebhookTrial:
    def __init__(self, receiver: WebhookReceiver) -> None:
        settings = WebhookSettings(type="webhook", url=receiver.url, secret="raw:a secret")
        self.channel: Channel = open_channel(
            "ops", settings, ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls)
        )
        self._receiver = receiver

    async def received(self) -> list[JsonObject]:
        return [delivered.event for delivered in self._receiver.got]

    async def break_it(self) -> None:
        self._receiver.answers = [Answer(503)]


class FileTrial:
    def __init__(self, path: Path) -> None:
        settings = FileSettings(type="file", path=str(path))
        self.channel: Channel = open_channel(
            "ops", settings, ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls)
        )
        self._path = path

    async def received(self) -> list[JsonObject]:
        return [json.loads(line) for line in self._path.read_bytes().splitlines()]

    async def break_it(self) -> None:
        self._path.unlink(missing_ok=True)
        self._path.mkdir()


class StdoutTrial:
    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.channel: Channel = StdoutChannel("ops", timeout_s=60.0, file=self.write_end)
        self._text = b""
        self.is_open = True

    async def received(self) -> list[JsonObject]:
        return [json.loads(line) for line in self._text.splitlines()]

    async def break_it(self) -> None:
        self.close_read_end()

    def take(self) -> None:
        while piece := os.read(self.read_end, 65536):
            self._text += piece
            if piece.endswith(b"\n"):
                return

    def close_read_end(self) -> None:
        if self.is_open:
            os.close(self.read_end)
            self.is_open = False


class ReadingStdoutChannel:
    """A standard output with a reader behind it."""

    name = "ops"
    at_once = 1
    takes_messages = False

    def __init__(self, trial: StdoutTrial) -> None:
        self._trial, self._channel = trial, trial.channel

    async def deliver(self, notification: Notification) -> None:
        if not self._trial.is_open:
            await self._channel.deliver(notification)
            return
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.to_thread(self._trial.take), name="reader")
            group.create_task(self._channel.deliver(notification), name="writer")

    async def close(self) -> None:
        await self._channel.close()


class RecordingTrial:
    def __init__(self) -> None:
        self._recording = RecordingChannel()
        self.channel: Channel = self._recording

    async def received(self) -> list[JsonObject]:
        return self._recording.given

    async def break_it(self) -> None:
        self._recording.faults["*"] = DeliveryError("ops", "channel", "broken")


@asynccontextmanager
async def webhook(_folder: Path) -> AsyncIterator[Trial]:
    async with WebhookReceiver() as receiver:
        yield WebhookTrial(receiver)


@asynccontextmanager
async def file(folder: Path) -> AsyncIterator[Trial]:
    yield FileTrial(folder / "alerts.jsonl")


@asynccontextmanager
async def stdout(_folder: Path) -> AsyncIterator[Trial]:
    trial = StdoutTrial()
    reading = ReadingStdoutChannel(trial)
    try:
        trial.channel = reading
        yield trial
    finally:
        trial.close_read_end()
        os.close(trial.write_end)


class AppriseTrial:
    """Messages whose text is the event, as JSON."""

    def __init__(self, receiver: WebhookReceiver, asides: CellAsides) -> None:
        settings = AppriseSettings(type="apprise", url=receiver.url.replace("http:", "json:"))
        context = ChannelContext(aiohttp.ClientSession, ManualClock(), no_dial, no_tls, asides)
        self._channel = open_channel("ops", settings, context)
        self.channel: Channel = self
        self.name, self.at_once, self.takes_messages = "ops", 1, True
        self._receiver = receiver

    async def deliver(self, notification: Notification) -> None:
        text = notification.event.json.decode()
        message = Message(notification.event.id, "Changed", text, text, text, text)
        await self._channel.deliver(Notification(notification.event, message))

    async def close(self) -> None:
        await self._channel.close()

    async def received(self) -> list[JsonObject]:
        return [json.loads(json.loads(each.body)["message"]) for each in self._receiver.got]

    async def break_it(self) -> None:
        self._receiver.answers = [Answer(503)]


@asynccontextmanager
async def apprise(_folder: Path) -> AsyncIterator[Trial]:
    asides = CellAsides(NetworkSettings(allow=("127.0.0.1/32",)), lambda _: None, most=1)
    async with WebhookReceiver(Answer(200)) as receiver:
        yield AppriseTrial(receiver, asides)
        await asides.close()


class MailTrial:
    """Mails whose text is the event, as JSON."""

    def __init__(self, server: MailServer, sessions: GuardedSessions) -> None:
        settings = MailSettings(
            type="mail", host="127.0.0.1", port=server.port, tls="none", sender="t@example.org", to=("d@example.org",)
        )
        context = ChannelContext(sessions.open, ManualClock(), sessions.dial, sessions.tls, connect=sessions.connect)
        self._channel = open_channel("ops", settings, context)
        self.channel: Channel = self
        self.name, self.at_once, self.takes_messages = "ops", 1, True
        self._server = server

    async def deliver(self, notification: Notification) -> None:
        text = notification.event.json.decode()
        message = Message(notification.event.id, "Changed", text, text, text, text)
        await self._channel.deliver(Notification(notification.event, message))

    async def close(self) -> None:
        await self._channel.close()

    async def received(self) -> list[JsonObject]:
        return [json.loads(mail.get_body(("plain",)).get_content()) for mail in self._server.mails]  # type: ignore[union-attr]  # each has one

    async def break_it(self) -> None:
        self._server.answers["MAIL"] = ["451 try later"]


@asynccontextmanager
async def mail(_folder: Path) -> AsyncIterator[Trial]:
    network = NetworkSettings(allow=("127.0.0.1/32",))
    async with MailServer() as server, GuardedSessions(network, user_agent="tests") as sessions:
        yield MailTrial(server, sessions)


@asynccontextmanager
async def recording(_folder: Path) -> AsyncIterator[Trial]:
    yield RecordingTrial()


TRIALS: dict[str, Callable[[Path], AbstractAsyncContextManager[Trial]]] = {
    "webhook": webhook,
    "file": file,
    "stdout": stdout,
    "apprise": apprise,
    "mail": mail,
    "recording": recording,
}


@pytest.fixture(params=TRIALS)
async def trial(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Trial]:
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(TRIALS[request.param](tmp_path))
        stack.push_async_callback(opened.channel.close)
        yield opened


def test_every_type_of_channel_is_tried_here() -> None:
    assert set(our_types()) <= {*TRIALS, *BROKERS}


async def test_a_channel_gives_the_event_as_it_is(trial: Trial) -> None:
    await trial.channel.deliver(Notification(SerializedEvent.of(EVENT)))

    assert await trial.received() == [EVENT]


async def test_a_channel_gives_events_in_the_order_in_which_it_got_them(trial: Trial) -> None:
    events = [EVENT | {"id": f"01KAK000000000000000000{number:03}"} for number in range(5)]

    for event in events:
        await trial.channel.deliver(Notification(SerializedEvent.of(event)))

    assert await trial.received() == events


async def test_a_channel_takes_an_event_of_the_greatest_size(trial: Trial) -> None:
    await trial.channel.deliver(Notification(SerializedEvent.of(BIG)))

    assert await trial.received() == [BIG]


async def test_a_channel_that_cannot_take_an_event_says_that_the_fault_is_its_own(trial: Trial) -> None:
    await trial.break_it()

    with pytest.raises(DeliveryError) as caught:
        await asyncio.wait_for(
            trial.channel.deliver(Notification(SerializedEvent.of(EVENT))),
            timeout=timedelta(seconds=20).total_seconds(),
        )

    assert (caught.value.channel, caught.value.blames) == ("ops", "channel")


async def test_a_channel_is_closed_twice_without_harm(trial: Trial) -> None:
    await trial.channel.deliver(Notification(SerializedEvent.of(EVENT)))

    await trial.channel.close()
    await trial.channel.close()
