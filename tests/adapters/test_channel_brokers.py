"""How brokers are connected to: one host that the policy allows, encrypted where that was asked for, and by no port."""

from __future__ import annotations

import asyncio
import json
import logging
from asyncio import StreamWriter
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import cast

import pytest
import uvloop

from tests.fakes import ManualClock
from tests.far_ends.base import PASSWORD
from tests.receivers import EVENT
from tocsin.adapters.channels.amqp import AmqpSettings
from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.mqtt_client import open_relay
from tocsin.adapters.channels.nats import NatsSettings
from tocsin.adapters.channels.registry import open_channel
from tocsin.adapters.http.guarded import GuardedSessions
from tocsin.errors import DeliveryError
from tocsin.model import SerializedEvent
from tocsin.ports import Notification
from tocsin.settings import ChannelSettings, NetworkSettings


class Talker:
    """A server on loopback that says something, and keeps what it was told."""

    def __init__(self, greeting: Callable[[], bytes] = bytes) -> None:
        self.greeting = greeting
        self.heard = b""
        self.connections = 0
        self.port = 0
        self.serving: set[asyncio.Task[None]] = set()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.serving.add(cast("asyncio.Task[None]", asyncio.current_task()))
        writer.write(self.greeting())
        with suppress(ConnectionError):
            while piece := await reader.read(4096):
                self.heard += piece
                if piece.endswith(b"PING\r\n"):
                    # Signed in; then the server goes away.
                    writer.write(b"PONG\r\n")
                    break
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def talking(talker: Talker) -> AsyncIterator[Talker]:
    async with await asyncio.start_server(talker.answer, "127.0.0.1", 0) as server:
        talker.port = server.sockets[0].getsockname()[1]
        yield talker
        if talker.serving:
            await asyncio.wait(talker.serving)


@asynccontextmanager
async def context(*allow: str) -> AsyncIterator[ChannelContext]:
    async with GuardedSessions(NetworkSettings(allow=allow or ("127.0.0.0/8", "::1/128")), user_agent="") as sessions:
        yield ChannelContext(sessions.open, ManualClock(), sessions.dial, sessions.tls)


async def fault_of(settings: ChannelSettings, *allow: str) -> DeliveryError:
    async with context(*allow) as given:
        channel = open_channel("ops", settings, given)
        with pytest.raises(DeliveryError) as caught:
            await channel.deliver(Notification(SerializedEvent.of(EVENT)))
        await channel.close()
    return caught.value


async def test_a_server_that_takes_the_offer_of_TLS_away_never_hears_the_password() -> None:
    plain = b"INFO " + json.dumps({"version": "2.10", "max_payload": 1000}).encode() + b"\r\n"
    async with talking(Talker(lambda: plain)) as talker:
        settings = NatsSettings(type="nats", url=f"tls://127.0.0.1:{talker.port}", user="me", password=PASSWORD)

        fault = await fault_of(settings)

    assert (fault.blames, talker.heard) == ("channel", b""), fault


async def test_a_server_that_another_one_announces_is_never_dialled() -> None:
    async with talking(Talker()) as announced:
        info = {"version": "2.10", "max_payload": 10**6, "connect_urls": [f"127.0.0.1:{announced.port}"]}
        greeting = b"INFO " + json.dumps(info).encode() + b"\r\n"
        async with talking(Talker(lambda: greeting)) as talker:
            settings = NatsSettings(type="nats", url=f"nats://127.0.0.1:{talker.port}")
            faults = [await fault_of(settings) for _ in range(2)]

    assert [fault.blames for fault in faults] == ["channel", "channel"]
    assert (talker.connections, announced.connections) == (2, 0)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "[::1]"])
async def test_a_name_is_judged_by_its_address(host: str) -> None:
    fault = await fault_of(AmqpSettings(type="amqp", url=f"amqp://{host}:1"), "192.0.2.0/24")

    assert "a loopback address; if it is yours, write this line below [network]" in fault.detail


async def test_a_library_logs_nothing_of_its_own(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        await fault_of(AmqpSettings(type="amqp", url="amqp://127.0.0.1:1", user="me", password=PASSWORD))

    assert [record for record in caplog.records if record.name.startswith("aiormq")] == []


async def test_a_relay_passes_everything_on_both_ways_and_ends_with_either_side() -> None:
    sent, ended = b"0123456789" * 200_000, asyncio.Event()

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65_536):
            writer.write(piece)
            await writer.drain()
        writer.close()
        ended.set()

    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server, context() as given:
        dialled = await given.dial("127.0.0.1", server.sockets[0].getsockname()[1], tls=False)
        reader, writer = await asyncio.open_unix_connection(sock=await open_relay(*dialled))

        async with asyncio.TaskGroup() as group:
            coming = group.create_task(reader.readexactly(len(sent)), name="read")
            # More than any buffer holds: what is not read holds the writer back.
            writer.write(sent)
            await writer.drain()
        writer.close()
        await writer.wait_closed()
        await ended.wait()

    assert coming.result() == sent


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.parametrize("write", [lambda to, data: to.write(data), lambda to, data: to.writelines([data])])
def test_what_is_written_to_a_closed_connection_fails_as_a_connection_does_at_most(
    run: Callable[[Coroutine[None, None, None]], None], write: Callable[[StreamWriter, bytes], None]
) -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: StreamWriter) -> None:
        writer.close()

    async def write_late() -> None:
        async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server, context() as given:
            reader, writer = await given.dial("127.0.0.1", server.sockets[0].getsockname()[1], tls=False)
            assert await reader.read() == b""
            writer.close()
            await writer.wait_closed()
            # asyncio drops it; for uvloop it is a bug of the program.
            with suppress(ConnectionResetError):
                write(writer, b"late")

    run(write_late())


async def test_a_relay_ends_when_the_server_hangs_up() -> None:
    async def hang_up(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"bye")
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server, context() as given:
        dialled = await given.dial("127.0.0.1", server.sockets[0].getsockname()[1], tls=False)
        reader, writer = await asyncio.open_unix_connection(sock=await open_relay(*dialled))

        assert await reader.read() == b"bye"
        writer.close()
