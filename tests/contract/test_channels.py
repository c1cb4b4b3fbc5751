"""What every channel promises, tried on each type of ours with its real server, and on the fake."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.alert_examples import examples
from tests.fakes import ManualClock
from tests.far_ends.base import CERTIFICATE, PASSWORD, FarEnd
from tests.far_ends.brokers import BROKERS, Broker
from tests.far_ends.plain import (
    AppriseEnd,
    EncryptedWebhookEnd,
    FileEnd,
    MailEnd,
    MailTlsEnd,
    RecordingEnd,
    StdoutEnd,
    WebhookEnd,
)
from tests.receivers import EVENT
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import channel_type
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.http.tls import fingerprint_of
from tocsin.app.egress import CellAsides
from tocsin.configuration.channels import our_types
from tocsin.engine.alerting.messages import message_of
from tocsin.errors import DeliveryError
from tocsin.model import JsonObject, SerializedEvent
from tocsin.model.messages import Message
from tocsin.ports import Channel, ChannelFinding, Notification
from tocsin.settings import NetworkSettings

LOOPBACK = ("127.0.0.0/8",)
PAGES, KILLS = 8, 2
BIG = EVENT | {"id": "01KAK0000000000000000000BG", "data": {"text": "é" * 120_000}}
ENDS: dict[str, type[FarEnd]] = {
    "webhook": WebhookEnd,
    "file": FileEnd,
    "stdout": StdoutEnd,
    "apprise": AppriseEnd,
    "mail": MailEnd,
    **BROKERS,
    "recording": RecordingEnd,
}
REMOTE = ["webhook", "apprise", "mail", *BROKERS]
FAULTS = [pytest.param(name, fault, id=f"{name}-{fault}") for name, kind in ENDS.items() for fault in kind.faults]
ENCRYPTED: dict[str, type[FarEnd]] = {
    "https": EncryptedWebhookEnd,
    "smtp starttls": MailEnd,
    "smtp tls": MailTlsEnd,
    **BROKERS,
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[type[Broker]], Awaitable[Broker]]]:
    """Brokers, each started when a test of this file first wants it."""
    running: dict[type[Broker], Broker] = {}

    async def start(kind: type[Broker]) -> Broker:
        if kind not in running:
            broker = kind(tmp_path_factory.mktemp(kind.type))
            await broker.start()
            running[kind] = broker
        return running[kind]

    yield start
    for broker in running.values():
        asyncio.run(broker.kill())


@pytest.fixture
async def end(
    request: pytest.FixtureRequest, tmp_path: Path, servers: Callable[[type[Broker]], Awaitable[Broker]]
) -> AsyncIterator[FarEnd]:
    """A running far end of the type that the test names."""
    kind: type[FarEnd] = (ENDS | ENCRYPTED)[request.param]
    if issubclass(kind, Broker):
        broker = await servers(kind)
        await broker.prepare()
        yield broker
        return
    plain = kind(tmp_path)
    await plain.start()
    yield plain
    await plain.kill()


def of(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("end", names or [*ENDS], indirect=True)


@asynccontextmanager
async def context(*, allow: tuple[str, ...] = LOOPBACK, trusted: bool = True) -> AsyncIterator[ChannelContext]:
    network = NetworkSettings(allow=allow)
    accepted = {"127.0.0.1": fingerprint()} if trusted else {}
    asides = CellAsides(network, lambda _: None, most=1)
    async with GuardedSessions(network, user_agent="tests", accepted=accepted) as sessions:
        yield ChannelContext(
            sessions.open, ManualClock(), sessions.dial, sessions.tls, asides, connect=sessions.connect
        )
        await asides.close()


@asynccontextmanager
async def opened(
    end: FarEnd, *, allow: tuple[str, ...] = LOOPBACK, trusted: bool = True, **changes: Any
) -> AsyncIterator[Channel]:
    async with context(allow=allow, trusted=trusted) as given:
        channel = end.open(given, **changes)
        try:
            yield channel
        finally:
            await channel.close()


async def give(channel: Channel, event: JsonObject) -> None:
    """Give an event; where people get messages, their text is the event."""
    serialized = SerializedEvent.of(event)
    text = serialized.json.decode()
    message = Message(serialized.id, "Changed", text, text, text, text) if channel.takes_messages else None
    async with asyncio.timeout(60):
        await channel.deliver(Notification(serialized, message))


async def fault_at(channel: Channel, event: JsonObject = EVENT) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        await give(channel, event)
    assert caught.value.channel == "ops"
    assert PASSWORD not in str(caught.value)
    return caught.value


async def fault_of(end: FarEnd, event: JsonObject = EVENT, **options: Any) -> DeliveryError:
    async with opened(end, **options) as channel:
        return await fault_at(channel, event)


async def findings(
    end: FarEnd, *, allow: tuple[str, ...] = LOOPBACK, trusted: bool = True, **changes: Any
) -> list[ChannelFinding]:
    settings = end.settings(**changes)
    async with context(allow=allow, trusted=trusted) as given:
        found = [*await channel_type(settings).probe("ops", settings, given)]
    assert PASSWORD not in str(found)
    return found


def fingerprint() -> str:
    text = CERTIFICATE.read_text()
    certificate = text[text.index("-----BEGIN CERTIFICATE") :]
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(certificate[: certificate.index("-----END CERTIFICATE-----") + 25]))


def event_of(number: int, page: int = 0) -> JsonObject:
    return EVENT | {"id": f"{page}-{number:04}"}


def test_every_type_of_channel_is_tried_here() -> None:
    assert set(our_types()) <= set(ENDS)


@of()
async def test_an_accepted_event_is_there_as_it_is_and_in_order(end: FarEnd) -> None:
    events = [EVENT, *(event_of(number) for number in range(5)), BIG]

    async with opened(end) as channel:
        for event in events:
            await give(channel, event)

    assert await end.received(len(events)) == events


@of()
async def test_an_event_may_be_given_twice(end: FarEnd) -> None:
    async with opened(end) as channel:
        await give(channel, EVENT)
        await give(channel, EVENT)

    times = 1 if end.leaves_out_repeats else 2
    assert await end.received(times) == [EVENT] * times


@of()
async def test_a_channel_is_closed_twice_without_harm_and_opened_again(end: FarEnd) -> None:
    async with opened(end) as channel:
        await give(channel, EVENT)
        await channel.close()
    async with opened(end) as channel:
        await give(channel, BIG)

    assert await end.received(2) == [EVENT, BIG]


@pytest.mark.parametrize(("end", "fault"), FAULTS, indirect=["end"])
async def test_what_is_refused_blames_the_channel_or_the_alert_and_is_accepted_once_that_is_mended(
    end: FarEnd, fault: str
) -> None:
    blames, said = end.faults[fault]
    async with opened(end, **end.mistaken(fault)) as channel:
        await end.break_it(fault)
        found = await fault_at(channel)
    await end.mend()
    async with opened(end) as channel:
        await give(channel, EVENT)

    assert (found.blames, said in found.detail) == (blames, True), found
    assert await end.received(1) == [EVENT]


@of("nats", "mqtt")
async def test_an_event_that_is_too_large_for_the_server_is_that_alerts_fault(end: FarEnd) -> None:
    fault = await fault_of(end, BIG | {"data": "x" * 400_000})

    assert fault.blames == "alert", fault


class Givers:
    """Give events of several pages side by side, each until it is accepted; the far end is killed in between."""

    def __init__(self, end: FarEnd, channel: Channel, pages: list[list[JsonObject]], kills: int) -> None:
        self._end, self._channel, self._pages = end, channel, pages
        self._accepted = 0
        self._kills = {sum(map(len, pages)) * part // (kills + 1) for part in range(1, kills + 1)}
        self._due = asyncio.Semaphore(0)
        self._is_up = asyncio.Event()
        self._is_up.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._kill(), name="kill")
            for events in self._pages:
                group.create_task(self._give_all(events), name="give")

    async def _give_all(self, events: list[JsonObject]) -> None:
        for event in events:
            while not await self._is_accepted(event):
                await self._is_up.wait()
            self._accepted += 1
            if self._accepted in self._kills:
                self._due.release()

    async def _is_accepted(self, event: JsonObject) -> bool:
        try:
            await give(self._channel, event)
        except DeliveryError as exc:
            if exc.blames != "channel":
                raise
            return False
        return True

    async def _kill(self) -> None:
        for _ in self._kills:
            await self._due.acquire()
            self._is_up.clear()
            await self._end.kill()
            await self._end.start()
            self._is_up.set()


@of(*REMOTE)
async def test_what_was_accepted_survives_a_server_that_is_killed_amid_a_batch(end: FarEnd) -> None:
    pages = [[event_of(number, page) for number in range(end.per_page)] for page in range(PAGES)]

    async with opened(end, timeout=timedelta(seconds=5)) as channel:
        await Givers(end, channel, pages[: channel.at_once], KILLS).run()
        given = pages[: channel.at_once]

    losable = end.may_lose * KILLS
    ids = {str(event["id"]) for events in given for event in events}
    firsts = list(dict.fromkeys(str(event["id"]) for event in await end.received(len(ids) - losable)))
    assert len(ids - set(firsts)) <= losable
    for page in range(len(given)):
        of_page = [name for name in firsts if name.startswith(f"{page}-")]
        assert of_page == sorted(of_page)


@of(*(name for name in REMOTE if name != "amqp"))
async def test_a_server_that_is_restarted_for_ever_leaves_nothing_open(end: FarEnd) -> None:
    """RabbitMQ takes ten seconds for each restart."""
    async with opened(end, timeout=timedelta(seconds=5)) as channel:
        before = 0
        for number in range(12):
            await Givers(end, channel, [[event_of(2 * number), event_of(2 * number + 1)]], 1).run()
            if number == 1:
                before = open_files()
        after = open_files()

    assert after <= before + 2


def open_files() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


@of(*REMOTE)
async def test_a_secret_that_is_revoked_amid_a_batch_loses_nothing_and_is_never_told(
    end: FarEnd, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    blames, said = end.revoked
    events = iter([event_of(number) for number in range(1000)])
    given, faults = [EVENT, next(events)], [DeliveryError("ops", "channel", "")]
    async with opened(end, timeout=timedelta(seconds=5)) as channel:
        await give(channel, EVENT)
        await end.accept("another one")
        try:
            while said not in faults[-1].detail:
                if new := await faults_at(channel, given[-1]):
                    faults += new
                else:
                    given.append(next(events))
        finally:
            await end.accept(PASSWORD)
        revocation = faults[-1]
        while new := await faults_at(channel, given[-1]):
            faults += new

    assert revocation.blames == blames
    assert await end.received(len(given)) == given
    # What the server of a test logs is not ours.
    ours = [record.getMessage() for record in caplog.records if not record.name.startswith("mail.")]
    assert PASSWORD not in "\n".join([*ours, *map(str, faults)])


async def faults_at(channel: Channel, event: JsonObject) -> list[DeliveryError]:
    """Give an event; returns what that failed with, if it did."""
    try:
        await give(channel, event)
    except DeliveryError as exc:
        return [exc]
    return []


@of(*REMOTE)
async def test_the_title_of_a_page_adds_no_header(end: FarEnd) -> None:
    titles = ["A page", "x\r\nBcc: all@example.org\r\n\r\nGone", "a\0b", "\u202egpj.exe", "ü" * 500]
    harmless = examples()[0]
    page = harmless["data"]["page"]
    events = [
        harmless | {"id": f"T{number}", "data": harmless["data"] | {"page": page | {"title": title}}}
        for number, title in enumerate(titles)
    ]

    async with opened(end) as channel:
        for event in events:
            message = message_of(event, "en") if channel.takes_messages else None
            await channel.deliver(Notification(SerializedEvent.of(event), message))

    names = end.headers()
    assert all(each == names[0] for each in names)
    if not channel.takes_messages:
        assert await end.received(len(events)) == events


@of(*REMOTE)
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_private_address_is_refused_with_its_mend_also_behind_a_name(end: FarEnd, host: str) -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as canary:
        changes = end.elsewhere(host, canary.sockets[0].getsockname()[1])
        fault = await fault_of(end, allow=("192.0.2.0/24",), **changes)
        found = await findings(end, allow=("192.0.2.0/24",), **changes)

    assert (fault.blames, "is a loopback address; if it is yours, write this line below" in fault.detail) == (
        "channel",
        True,
    ), fault
    # Apprise has no way to connect without a message.
    assert [("is not contacted" in each.what, "allow = " in each.mend) for each in found] == [(True, True)] * (
        end.type != "apprise"
    )


@of(*REMOTE)
async def test_a_server_that_hangs_is_left_after_the_timeout(end: FarEnd) -> None:
    left = asyncio.Event()
    left.set()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left.clear()
        with suppress(ConnectionError):
            while await reader.read(4096):
                pass
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        left.set()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as silent:
        changes = end.elsewhere("127.0.0.1", silent.sockets[0].getsockname()[1])
        fault = await fault_of(end, timeout=timedelta(seconds=end.timeout_s), **changes)
        await left.wait()

    assert (fault.blames, fault.detail) == ("channel", f"no answer within {end.timeout_s:g} s")


@of(*REMOTE)
async def test_a_server_that_is_not_there_is_a_failure_of_the_channel(end: FarEnd) -> None:
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as gone:
        changes = end.elsewhere("127.0.0.1", gone.sockets[0].getsockname()[1])

    fault = await fault_of(end, **changes)
    found = await findings(end, **changes)

    assert fault.blames == "channel", fault
    # Apprise has no way to connect without a message.
    assert [each.what.startswith("cannot be reached at ") for each in found] == [True] * (end.type != "apprise")


@of(*ENCRYPTED)
async def test_a_certificate_that_is_not_trusted_is_refused_and_one_that_was_accepted_is_not(end: FarEnd) -> None:
    changes: dict[str, Any] = {"url": end.server.tls_url} if isinstance(end, Broker) else {}
    fault = await fault_of(end, trusted=False, **changes)

    said = ""
    async with opened(end, **changes) as channel:
        try:
            await give(channel, EVENT)
        except DeliveryError as exc:
            said = exc.detail

    assert (fault.blames, f'certificate = "{fingerprint()}"' in fault.detail) == ("channel", True), fault
    mends = [each.mend for each in await findings(end, trusted=False, **changes) if " is not trusted: " in each.what]
    assert [mend.startswith("If you trust it, write certificate = ") for mend in mends] == [True] * (
        end.type in {"mail", *BROKERS}
    )
    # NATS with TLS is another server, which has no stream yet: signing in there is what this is about.
    assert "no stream stores" in said if end.type == "nats" else not said


@of("mail", *BROKERS)
async def test_the_doctor_finds_a_wrong_password_and_nothing_where_all_is_well(end: FarEnd) -> None:
    [found] = await findings(end, password="another one")

    assert (found.is_wrong, end.faults["password"][1] in found.what) == (True, True), found
    assert await findings(end) == []
