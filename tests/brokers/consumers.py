"""What was received of each broker, read back by its own client, and what each must be set to."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import aiomqtt
import aiormq
import nats
from nats.js.api import DiscardPolicy, StreamConfig
from redis.asyncio import Redis

from tests.brokers.servers import PASSWORD, USER, AmqpServer, MqttServer, NatsServer, RedisServer, Server
from tocsin.model import JsonObject

# Nothing more comes of a queue after this time.
_QUIET_S = 0.5


class Broker(ABC):
    """A running server, and what a subscriber of it has.

    place    the keys that say where alerts go
    missing  the same for a place that is not there
    """

    place: ClassVar[dict[str, Any]]
    missing: ClassVar[dict[str, Any] | None] = None
    server_type: ClassVar[type[Server]]
    # The broker leaves out what has an id that it has already.
    leaves_out_repeats: ClassVar[bool] = False
    # Messages that it may have confirmed, but not written, when it is killed.
    may_lose: ClassVar[int] = 0
    per_page: ClassVar[int] = 250

    def __init__(self, server: Server) -> None:
        self.server = server

    def section(self, **changes: Any) -> dict[str, Any]:
        """The channel's section of the configuration."""
        return {"url": self.server.url, "user": USER, "password": PASSWORD, **self.place, **changes}

    @abstractmethod
    async def prepare(self) -> None:
        """Make the place that alerts go to, empty."""

    @abstractmethod
    async def received(self, at_least: int) -> list[JsonObject]:
        """Give what came, in order."""

    async def fill(self) -> bool:
        """Make it say "later"; False where there is no way."""
        return False


class NatsBroker(Broker):
    server_type, place, missing = NatsServer, {"subject": "tocsin.alerts"}, {"subject": "nowhere.alerts"}
    leaves_out_repeats = True

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

    async def fill(self) -> bool:
        await self._make(
            StreamConfig(name="ALERTS", subjects=["tocsin.alerts"], max_bytes=1, discard=DiscardPolicy.NEW)
        )
        return True

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
    server_type, place = RedisServer, {"stream": "tocsin:alerts"}

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

    async def fill(self) -> bool:
        async with self._client() as client:
            await client.config_set("maxmemory", "1")
        return True

    def _client(self) -> Redis:
        return Redis(host="127.0.0.1", port=self.server.port, password=PASSWORD)


class MqttBroker(Broker):
    # It confirms, and then writes all that it has, for each message.
    may_lose, per_page = 10, 60
    server_type, place, missing = MqttServer, {"topic": "tocsin/alerts"}, {"topic": "others/alerts"}

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
    server_type, place, missing = AmqpServer, {"routing_key": "tocsin.alerts"}, {"routing_key": "nowhere"}

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

    async def fill(self) -> bool:
        await self._make({"x-max-length": 0, "x-overflow": "reject-publish"})
        return True

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
