"""The client of MQTT over a relay, a socket pair in front of a connection: its library insists on its own socket."""

from __future__ import annotations

import asyncio
import logging
import socket
from typing import Any, Final, cast

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from tocsin.adapters.channels.broker import CONTENT_TYPE, Endpoint, silence
from tocsin.adapters.channels.context import ChannelContext
from tocsin.model import SerializedEvent

_MOST_EARLY: Final = 2**20


async def open_relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> socket.socket:
    """Copy between a connection that `ChannelContext.dial` opened and one end of a socket pair; give the other end.

    The library that gets it resolves no name, chooses no address, and sees the connection already decrypted. No port is
    opened, which other programs of this machine could use. The relay ends when either side is closed.
    """
    ours, theirs = socket.socketpair()
    far = cast("asyncio.Transport", writer.transport)
    loop = asyncio.get_running_loop()
    try:
        near, _ = await loop.create_unix_connection(lambda: RelayEnd(far), sock=ours)
    except BaseException:
        theirs.close()
        far.close()
        raise
    # What the server has sent already is in the stream; from here on its bytes go straight to the pair.
    far.pause_reading()
    try:
        async with asyncio.timeout(0):
            near.write(await reader.read(_MOST_EARLY))
    except TimeoutError:
        pass
    far.set_protocol(RelayEnd(near))
    if far.is_closing() or reader.at_eof():
        near.close()
    else:
        far.resume_reading()
    return theirs


class RelayEnd(asyncio.Protocol):
    """One direction: what comes here is written to the other transport, which sets the pace."""

    def __init__(self, other: asyncio.Transport) -> None:
        self._other = other

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on."""
        if not self._other.is_closing():
            self._other.write(data)

    def pause_writing(self) -> None:
        """Read no more of the other side than this side takes."""
        if not self._other.is_closing():
            self._other.pause_reading()

    def resume_writing(self) -> None:
        """Read on."""
        if not self._other.is_closing():
            self._other.resume_reading()

    def connection_lost(self, _exc: Exception | None) -> None:
        """End both."""
        self._other.close()


_LOGGER: Final = "tocsin.mqtt"
# Source: MQTT 5.0, 2.4.
_TOO_LARGE: Final = 0x95
# For the topic and the properties.
_ROOM: Final = 1000


class RelayedClient(aiomqtt.Client):
    """A client with one connection, which also reads the reason in acknowledgements.

    aiomqtt counts a message as published even where the broker's reason says "not authorized".
    """

    def __init__(self, endpoint: Endpoint, timeout_s: float, writer: asyncio.StreamWriter, end: socket.socket) -> None:
        super().__init__(
            endpoint.host,
            endpoint.port,
            username=endpoint.user or None,
            password=endpoint.password or None,
            protocol=aiomqtt.ProtocolVersion.V5,
            timeout=timeout_s,
            logger=logging.getLogger(_LOGGER),
        )
        self._writer = writer
        self._largest: int | None = None
        self._answers: dict[int, asyncio.Future[int | ReasonCode]] = {}
        # The only way to give paho a socket.
        self._client._create_socket_connection = lambda: end  # type: ignore[method-assign]  # noqa: SLF001

    @property
    def is_open(self) -> bool:
        """The connection was not closed meanwhile."""
        return not self._disconnected.done()

    async def give(self, topic: str, event: SerializedEvent, event_type: str, *, qos: int, retain: bool) -> None:
        """Publish the event, and wait for the acknowledgement; raises MqttError."""
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # of the library
        properties.ContentType = CONTENT_TYPE
        properties.PayloadFormatIndicator = 1
        properties.UserProperty = [("id", event.id), ("type", event_type)]
        if self._largest is not None and len(event.json) + _ROOM > self._largest:
            # The broker would hang up, and other alerts with it.
            raise aiomqtt.MqttCodeError(_TOO_LARGE, f"larger than the broker's limit of {self._largest} bytes")
        sent = self._client.publish(topic, event.json, qos, retain, properties)
        if sent.rc != 0:
            raise aiomqtt.MqttCodeError(sent.rc, "not sent")
        answer = self._answers[sent.mid] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait((answer, self._disconnected), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._answers.pop(sent.mid, None)
        if not answer.done():
            raise aiomqtt.MqttError("the connection was closed before the acknowledgement")
        if getattr(reason := answer.result(), "is_failure", False):
            raise aiomqtt.MqttCodeError(reason, "refused")

    async def shut(self) -> None:
        """Disconnect and close everything."""
        try:
            if self.is_open:
                await self.__aexit__(None, None, None)
        finally:
            self._writer.transport.abort()

    def _on_connect(self, client: Any, userdata: Any, flags: Any, reason_code: Any, properties: Any = None) -> None:
        self._largest = getattr(properties, "MaximumPacketSize", None)
        super()._on_connect(client, userdata, flags, reason_code, properties)

    def _on_publish(self, client: Any, userdata: Any, mid: int, reason_code: ReasonCode, properties: Any) -> None:
        super()._on_publish(client, userdata, mid, reason_code, properties)
        answer = self._answers.get(mid)
        if answer is not None and not answer.done():
            answer.set_result(reason_code)


async def open_relayed(endpoint: Endpoint, context: ChannelContext, timeout_s: float) -> RelayedClient:
    """Connect and sign in; nothing is left open if it fails."""
    silence(_LOGGER)
    reader, writer = await context.dial(endpoint.host, endpoint.port, tls=endpoint.tls)
    try:
        client = RelayedClient(endpoint, timeout_s, writer, await open_relay(reader, writer))
        await client.__aenter__()
    except BaseException:
        writer.transport.abort()
        raise
    return client
