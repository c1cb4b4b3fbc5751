"""What was received of each broker, read back by its own client, and what each must be set to."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import aiomqtt
import aiormq
import nats
from nats.js.api import DiscardPolicy, StreamConfig
from redis.asyncio import Redis

from tests.far_ends.base import PASSWORD, USER, FarEnd
from tests.far_ends.servers import AmqpServer, MqttServer, NatsServer, RedisServer, Server
from tocsin.model import JsonObject

# Nothing more comes of a queue after this time.
_QUIET_S = 0.5


class Broker(FarEnd):
    """A running server, and what a subscriber of it has.

    place      the keys that say where alerts go
    missing    the same for a place that is not there
    too_large  it refuses events of half a MB
    """

    place: ClassVar[dict[str, Any]]
    missing: ClassVar[dict[str, Any]] = {}
    server_type: ClassVar[type[Server]]
    too_large: ClassVar[bool] = False
    per_page = 250

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server = self.server_type(folder)

    async def start(self) -> None:
        await self.server.start()

    async def kill(self) -> None:
        await self.server.kill()

    def section(self) -> dict[str, Any]:
        return {"url": self.server.url, "user": USER, "password": PASSWORD, **self.place}

    def elsewhere(self, host: str, port: int) -> dict[str, Any]:
        return {"url": f"{self.server.scheme}://{host}:{port}"}

    def mistaken(self, fault: str) -> dict[str, Any]:
        return {"password": {"password": "another one"}, "missing": self.missing}.get(fault, {})

    async def break_it(self, fault: str) -> None:
        if fault == "full":
            await self.fill()

    async def fill(self) -> None:
        """Make it say "later"."""
        raise NotImplementedError


class NatsBroker(Broker):
    type, server_type = "nats", NatsServer
    place, missing = {"subject": "tocsin.alerts"}, {"subject": "nowhere.alerts"}
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        "password": ("channel", "user, password or token refused"),
        "full": ("channel", "refused by the stream"),
        "missing": ("channel", "no stream stores nowhere.alerts; make one: nats stream add"),
    }
    leaves_out_repeats = too_large = True

    async def prepare(self) -> None:
        await self._make(StreamConfig(name="ALERTS", subjects=["tocsin.alerts"]))

    async def received(self, at_least: int) -> list[JsonObject]:
        client = await nats.connect(self.server.url, user=USER, password=PASSWORD)
        try:
            subscription = await client.jetstream().subscribe("tocsin.alerts", ordered_consumer=True)
            stored = (await client.jetstream().stream_info("ALERTS")).state.messages
            assert stored >= at_least
            return [json.loads((await subscription.next_msg(timeout=10)).data) for _ in range(stored)]
        finally:
            await client.close()

    async def fill(self) -> None:
        await self._make(
            StreamConfig(name="ALERTS", subjects=["tocsin.alerts"], max_bytes=1, discard=DiscardPolicy.NEW)
        )

    async def accept(self, password: str) -> None:
        self.server.password = password
        self.server.commands()
        self.server.send(signal.SIGHUP)

    async def _make(self, config: StreamConfig) -> None:
        client = await nats.connect(self.server.url, user=USER, password=PASSWORD)
        try:
            stream = client.jetstream()
            for name in [info.config.name for info in await stream.streams_info()]:
                await stream.delete_stream(name or "")
            await stream.add_stream(config)
        finally:
            await client.close()


class RedisBroker(Broker):
    type, server_type, place = "redis", RedisServer, {"stream": "tocsin:alerts"}
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        "password": ("channel", "user or password refused"),
        "full": ("channel", "refused: "),
    }

    async def prepare(self) -> None:
        async with self._client() as client:
            await client.config_set("maxmemory", "0")
            await client.delete("tocsin:alerts")

    async def received(self, at_least: int) -> list[JsonObject]:
        async with self._client() as client:
            entries: Any = await client.xrange("tocsin:alerts")
        found = [json.loads(fields[b"event"]) for _, fields in entries]
        assert [fields[b"id"].decode() for _, fields in entries] == [event["id"] for event in found]
        assert len(found) >= at_least
        return found

    async def fill(self) -> None:
        async with self._client() as client:
            await client.config_set("maxmemory", "1")

    async def accept(self, password: str) -> None:
        async with self._client() as client:
            await client.acl_setuser(USER, reset_passwords=True, enabled=True, passwords=[f"+{password}"])
            await client.client_kill_filter(user=USER)

    def _client(self) -> Redis:
        return Redis(host="127.0.0.1", port=self.server.port, password=PASSWORD)


class MqttBroker(Broker):
    # It confirms, and then writes all that it has, for each message.
    may_lose, per_page = 10, 60
    type, server_type, place, missing = "mqtt", MqttServer, {"topic": "tocsin/alerts"}, {"topic": "others/alerts"}
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        "password": ("channel", "user or password refused"),
        "missing": ("channel", "no right to use this topic"),
    }
    too_large = True

    async def prepare(self) -> None:
        """Make a session that outlives the server, and takes what comes while it is away."""
        async with self._client(clean=True):
            pass
        async with self._client() as client:
            await client.subscribe("tocsin/alerts", qos=1)

    async def received(self, at_least: int) -> list[JsonObject]:
        found: list[JsonObject] = []
        async with self._client() as client:
            coming = aiter(client.messages)
            while True:
                try:
                    async with asyncio.timeout(10 if len(found) < at_least else _QUIET_S):
                        message = await anext(coming)
                except TimeoutError:
                    return found
                found.append(json.loads(bytes(message.payload)))

    async def accept(self, password: str) -> None:
        self.server.password = password
        self.server.commands()
        self.server.send(signal.SIGHUP)

    def _client(self, *, clean: bool = False) -> aiomqtt.Client:
        # Sessions of MQTT 3.1.1, since those of version 5 do not outlive this server.
        return aiomqtt.Client(
            "127.0.0.1",
            self.server.port,
            identifier="reader",
            username=USER,
            password=PASSWORD,
            clean_session=clean,
            protocol=aiomqtt.ProtocolVersion.V311,
        )


class AmqpBroker(Broker):
    type, server_type = "amqp", AmqpServer
    place, missing = {"routing_key": "tocsin.alerts"}, {"routing_key": "nowhere"}
    faults: ClassVar[Mapping[str, tuple[str, str]]] = {
        "password": ("channel", "user or password refused"),
        "full": ("channel", "the broker refused the message (nack)"),
        "missing": ("channel", "no queue takes messages for 'nowhere'; bind one"),
    }

    async def prepare(self) -> None:
        await self._make({})

    async def received(self, at_least: int) -> list[JsonObject]:
        connection = await self._connect()
        try:
            channel = await connection.channel()
            found = []
            while (message := await channel.basic_get("tocsin.alerts", no_ack=True)).body:
                found.append(json.loads(message.body))
                assert message.header.properties.message_id == found[-1]["id"]
            assert len(found) >= at_least
            return found
        finally:
            await connection.close()

    async def fill(self) -> None:
        await self._make({"x-max-length": 0, "x-overflow": "reject-publish"})

    async def accept(self, password: str) -> None:
        self._control("change_password", USER, password)
        self._control("close_all_user_connections", USER, "another password")

    def _control(self, *words: str) -> None:
        environ = self.server.environ()
        # The one beside the server: the other one changes the user.
        program = ["/usr/lib/rabbitmq/bin/rabbitmqctl", "--quiet", "--node", environ["RABBITMQ_NODENAME"], *words]
        subprocess.run(program, check=True, env=environ, capture_output=True)

    async def _make(self, arguments: dict[str, Any]) -> None:
        connection = await self._connect()
        try:
            channel = await connection.channel()
            await channel.queue_delete("tocsin.alerts")
            await channel.queue_declare("tocsin.alerts", durable=True, arguments=arguments)
        finally:
            await connection.close()

    async def _connect(self) -> aiormq.Connection:
        connection = aiormq.Connection(f"amqp://{USER}:{PASSWORD}@127.0.0.1:{self.server.port}/")
        await connection.connect()
        return connection


BROKERS: dict[str, type[Broker]] = {"nats": NatsBroker, "redis": RedisBroker, "mqtt": MqttBroker, "amqp": AmqpBroker}
