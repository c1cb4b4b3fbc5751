"""What every channel to a broker promises, tried on the real server of each."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any

import msgspec
import pytest

from tests.brokers.consumers import BROKERS, Broker
from tests.brokers.servers import CERTIFICATE, PASSWORD
from tests.fakes import ManualClock
from tests.receivers import EVENT
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.registry import channel_type, open_channel
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.adapters.http.tls import fingerprint_of
from tocsin.configuration.channels import load_type
from tocsin.errors import DeliveryError, SettingsError
from tocsin.model import JsonObject, SerializedEvent
from tocsin.ports import Channel, ChannelFinding, Notification
from tocsin.settings import ChannelSettings, NetworkSettings

LOOPBACK = ("127.0.0.0/8",)
PAGES, KILLS = 8, 2
BIG = EVENT | {"id": "01KAK0000000000000000000BG", "data": {"text": "é" * 120_000}}


@pytest.fixture(scope="module", params=BROKERS)
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A running server of each type, for all tests of this file."""
    made: Broker = BROKERS[request.param](BROKERS[request.param].server_type(tmp_path_factory.mktemp(request.param)))
    with asyncio.Runner() as runner:
        try:
            runner.run(made.server.start())
            yield made
        finally:
            runner.run(made.server.kill())


def type_of(broker: Broker) -> str:
    return next(name for name, kind in BROKERS.items() if isinstance(broker, kind))


def settings_of(broker: Broker, **changes: Any) -> ChannelSettings:
    name = type_of(broker)
    return msgspec.convert({"type": name, **broker.section(**changes)}, load_type(name, ()).Settings)


@asynccontextmanager
async def context(*, allow: tuple[str, ...] = LOOPBACK, trusted: bool = False) -> AsyncIterator[ChannelContext]:
    accepted = {"127.0.0.1": fingerprint()} if trusted else {}
    async with GuardedSessions(NetworkSettings(allow=allow), user_agent="tests", accepted=accepted) as sessions:
        yield ChannelContext(sessions.open, ManualClock(), sessions.dial, sessions.tls)


@asynccontextmanager
async def opened(
    broker: Broker, *, allow: tuple[str, ...] = LOOPBACK, trusted: bool = False, **changes: Any
) -> AsyncIterator[Channel]:
    async with context(allow=allow, trusted=trusted) as given:
        channel = open_channel("ops", settings_of(broker, **changes), given)
        try:
            yield channel
        finally:
            await channel.close()


async def fault_of(broker: Broker, event: JsonObject = EVENT, **options: Any) -> DeliveryError:
    async with opened(broker, **options) as channel:
        with pytest.raises(DeliveryError) as caught:
            await give(channel, event)
    assert PASSWORD not in str(caught.value)
    return caught.value


async def findings(broker: Broker, *, allow: tuple[str, ...] = LOOPBACK, **changes: Any) -> list[ChannelFinding]:
    settings = settings_of(broker, **changes)
    async with context(allow=allow) as given:
        found = [*await channel_type(settings).probe("ops", settings, given)]
    assert PASSWORD not in str(found)
    return found


async def give(channel: Channel, event: JsonObject) -> None:
    await channel.deliver(Notification(SerializedEvent.of(event)))


def fingerprint() -> str:
    text = CERTIFICATE.read_text()
    certificate = text[text.index("-----BEGIN CERTIFICATE") :]
    return fingerprint_of(ssl.PEM_cert_to_DER_cert(certificate[: certificate.index("-----END CERTIFICATE-----") + 25]))


async def test_an_accepted_event_is_there_as_it_is_and_in_order(broker: Broker) -> None:
    await broker.prepare()
    events = [EVENT, *(EVENT | {"id": f"01KAK000000000000000000{number:03}"} for number in range(5)), BIG]

    async with opened(broker) as channel:
        for event in events:
            await give(channel, event)

    assert await broker.received(len(events)) == events


async def test_an_event_may_be_given_twice(broker: Broker) -> None:
    await broker.prepare()

    async with opened(broker) as channel:
        await give(channel, EVENT)
        await give(channel, EVENT)

    times = 1 if broker.leaves_out_repeats else 2
    assert await broker.received(times) == [EVENT] * times


class Givers:
    """Give events of several pages side by side, each until it is accepted; the server is killed in between."""

    def __init__(self, broker: Broker, channel: Channel, pages: list[list[JsonObject]]) -> None:
        self._broker, self._channel, self._pages = broker, channel, pages
        self._accepted = 0
        self._kills = {len(pages) * len(pages[0]) * part // 3 for part in (1, 2)}
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
            await self._broker.server.kill()
            await self._broker.server.start()
            self._is_up.set()


async def test_what_was_accepted_survives_a_server_that_is_killed_twice(broker: Broker) -> None:
    await broker.prepare()
    pages = [[EVENT | {"id": f"{page}-{number:04}"} for number in range(broker.per_page)] for page in range(PAGES)]

    async with opened(broker, timeout=timedelta(seconds=5)) as channel:
        await Givers(broker, channel, pages).run()

    losable = broker.may_lose * KILLS
    firsts = list(dict.fromkeys(str(event["id"]) for event in await broker.received(PAGES * broker.per_page - losable)))
    assert len({str(event["id"]) for events in pages for event in events} - set(firsts)) <= losable
    for page in range(PAGES):
        of_page = [name for name in firsts if name.startswith(f"{page}-")]
        assert of_page == sorted(of_page)


async def test_a_wrong_password_blames_the_channel(broker: Broker) -> None:
    fault = await fault_of(broker, password="another one")
    found = await findings(broker, password="another one")

    assert (fault.blames, "refused" in fault.detail) == ("channel", True), fault
    assert [(finding.is_wrong, "refused" in finding.what) for finding in found] == [(True, True)], found


async def test_a_certificate_that_is_not_trusted_is_refused_and_one_that_was_accepted_is_not(broker: Broker) -> None:
    fault = await fault_of(broker, url=broker.server.tls_url)

    said = ""
    async with opened(broker, trusted=True, url=broker.server.tls_url) as channel:
        try:
            await give(channel, EVENT)
        except DeliveryError as exc:
            said = exc.detail

    assert (fault.blames, "certificate" in fault.detail) == ("channel", True), fault
    # NATS with TLS is another server, which has no stream yet: signing in there is what this is about.
    assert "no stream stores" in said if type_of(broker) == "nats" else not said


async def test_a_private_address_is_refused_with_its_mend(broker: Broker) -> None:
    fault = await fault_of(broker, allow=())
    [found] = await findings(broker, allow=())

    assert (fault.blames, "allow = " in fault.detail) == ("channel", True), fault
    assert ("is not contacted" in found.what, "allow = " in found.mend) == (True, True), found


async def test_a_server_that_hangs_is_left_after_the_timeout(broker: Broker) -> None:
    left = asyncio.Event()

    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while await reader.read(4096):
                pass
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
        left.set()

    async with await asyncio.start_server(hang, "127.0.0.1", 0) as silent:
        url = f"{broker.server.scheme}://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        fault = await fault_of(broker, url=url, timeout=timedelta(seconds=0.3))
        await left.wait()

    assert (fault.blames, fault.detail) == ("channel", "no answer within 0.3 s")


async def test_a_full_server_blames_the_channel(broker: Broker) -> None:
    if not await broker.fill():
        return

    fault = await fault_of(broker)
    await broker.prepare()

    assert (fault.blames, "refused" in fault.detail) == ("channel", True), fault


async def test_an_event_that_is_too_large_for_the_server_is_that_alerts_fault(broker: Broker) -> None:
    if type_of(broker) not in {"nats", "mqtt"}:
        return  # The others take messages of 128 MB and more.

    fault = await fault_of(broker, BIG | {"data": "x" * 400_000})

    assert fault.blames == "alert", fault


async def test_a_place_that_is_not_there_or_not_allowed_blames_the_channel(broker: Broker) -> None:
    if broker.missing is None:
        return

    fault = await fault_of(broker, **broker.missing)

    assert fault.blames == "channel", fault


async def test_the_doctor_finds_nothing_where_all_is_well(broker: Broker) -> None:
    await broker.prepare()

    assert await findings(broker) == []


@pytest.mark.parametrize("url", ["", "https://a.example/", "{scheme}://", "{scheme}://a.example:x", "{scheme}://a?b=c"])
@pytest.mark.parametrize("name", BROKERS)
def test_an_address_that_is_none_is_refused_and_not_repeated(name: str, url: str) -> None:
    kind = load_type(name, ())
    scheme = BROKERS[name].server_type.scheme
    settings = msgspec.convert({"type": name, "url": url.format(scheme=scheme)}, kind.Settings)

    with pytest.raises(SettingsError, match=rf'channels\.ops\.url: .* write one such as "{scheme}:') as caught:
        channel_type(settings).open("ops", settings, None)  # type: ignore[arg-type]  # it is not used

    assert not url or "a.example" not in str(caught.value)
