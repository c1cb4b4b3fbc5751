"""Alerts as messages of AMQP 0-9-1, as RabbitMQ speaks it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from msgspec import Meta, Struct

from tocsin.adapters.channels.broker import (
    CONTENT_TYPE,
    BrokerChannel,
    BrokerSettings,
    BrokerType,
    head_of,
    shown_error,
    silence,
)
from tocsin.model import SerializedEvent
from tocsin.ports import ChannelFinding
from tocsin.settings import SecretAddress

if TYPE_CHECKING:
    from aiormq.abc import AbstractChannel, AbstractConnection

_PERSISTENT: Final = 2


class AmqpSettings(BrokerSettings, frozen=True, kw_only=True):
    """An exchange or queue of an AMQP 0-9-1 broker such as RabbitMQ. Accepted: the broker confirmed the message."""

    url: Annotated[
        SecretAddress,
        Meta(description="amqp://HOST/VHOST or amqps://HOST/VHOST, which is encrypted; must be given"),
    ] = ""
    exchange: Annotated[str, Meta(description="where it goes; empty: to the queue that routing_key names")] = ""
    routing_key: Annotated[str, Meta(description="of the messages; a queue must be bound to it", max_length=255)] = (
        "tocsin.alerts"
    )


class AmqpLink(Struct, frozen=True):
    """A connection with its one channel, as AMQP calls it."""

    connection: AbstractConnection
    channel: AbstractChannel


class AmqpChannel(BrokerChannel[AmqpLink, AmqpSettings]):
    """Publishes each event persistently, with its id, and waits for the broker's confirmation."""

    def _library_errors(self) -> tuple[type[Exception], ...]:
        from aiormq.exceptions import AMQPError, ChannelInvalidStateError  # noqa: PLC0415 - only where it is used

        return (AMQPError, ChannelInvalidStateError)

    async def _open(self) -> AmqpLink:
        from aiormq.connection import Connection, TransportFactory  # noqa: PLC0415 - the same
        from yarl import URL  # noqa: PLC0415 - the same

        silence("aiormq")
        dial, endpoint = self._context.dial, self._endpoint

        class DialledTransports(TransportFactory):
            """Connections that obey the address policy."""

            async def create(self, url: URL, **kwargs: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:  # noqa: ARG002 - its signature
                return await dial(endpoint.host, endpoint.port, tls=endpoint.tls)

        url = URL.build(
            scheme="amqp",
            host=endpoint.host,
            port=endpoint.port,
            user=endpoint.user or "guest",
            password=endpoint.password or "guest",
            path=f"/{endpoint.path}",
        )
        connection = Connection(url, transport_factory=DialledTransports())
        try:
            await connection.connect()
            # A message that no queue takes counts as confirmed, unless it comes back as an error.
            channel = await connection.channel(publisher_confirms=True, on_return_raises=True)
        except BaseException:
            await connection.close()
            raise
        return AmqpLink(connection, channel)

    async def _give(self, client: AmqpLink, event: SerializedEvent) -> None:
        from pamqp.commands import Basic  # noqa: PLC0415 - as above

        head = head_of(event)
        properties = Basic.Properties(
            content_type=CONTENT_TYPE, delivery_mode=_PERSISTENT, message_id=event.id, message_type=head.type
        )
        await client.channel.basic_publish(
            event.json,
            exchange=self._settings.exchange,
            routing_key=self._settings.routing_key,
            properties=properties,
            mandatory=True,
        )

    async def _shut(self, client: AmqpLink) -> None:
        await client.connection.close()

    def _is_open(self, client: AmqpLink) -> bool:
        return not client.connection.is_closed and not client.channel.is_closed

    async def _examine(self, client: AmqpLink) -> Sequence[ChannelFinding]:
        if self._settings.exchange:
            await client.channel.exchange_declare(self._settings.exchange, passive=True)
        else:
            await client.channel.queue_declare(self._settings.routing_key, passive=True)
        return ()

    def _judge(self, exc: Exception) -> tuple[str, str] | None:
        from aiormq import exceptions  # noqa: PLC0415 - as above

        match exc:
            case exceptions.AuthenticationError() | exceptions.ProbableAuthenticationError():
                return "channel", "user or password refused"
            case exceptions.PublishError():
                return "channel", f"no queue takes messages for {self._settings.routing_key!r}; bind one"
            case exceptions.DeliveryError():
                return "channel", "the broker refused the message (nack): its queue may be full"
            case exceptions.ChannelNotFoundEntity():
                return "channel", f"not there: {shown_error(exc)}; declare it"
        is_known = isinstance(exc, (exceptions.AMQPError, exceptions.ChannelInvalidStateError))
        return ("channel", shown_error(exc)) if is_known else None


class AmqpType(BrokerType):
    """RabbitMQ and other brokers of AMQP 0-9-1; implements `ChannelType`."""

    Settings, Channel = AmqpSettings, AmqpChannel
    schemes: ClassVar = {"amqp": (5672, False), "amqps": (5671, True)}
    example = """\
type = "amqp"
url = "amqps://rabbit.example.org"
routing_key = "tocsin.alerts"  # a durable queue of this name must be there; or set exchange, too
user = "tocsin"
password_file = "amqp.secret"
"""
