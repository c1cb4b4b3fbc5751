"""Alerts as messages of MQTT 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from msgspec import Meta

from tocsin.adapters.channels.broker import (
    BrokerChannel,
    BrokerSettings,
    BrokerType,
    Endpoint,
    head_of,
    shown_error,
)
from tocsin.model import SerializedEvent
from tocsin.settings import SecretAddress

if TYPE_CHECKING:
    from tocsin.adapters.channels.mqtt_client import RelayedClient

# Source: MQTT 5.0, 2.4, reason codes: packet too large, payload format invalid.
_ALERTS_FAULT: Final = frozenset({0x95, 0x99})
_DENIED: Final = frozenset({0x86, 0x87})
# More than that many unanswered messages, and aiomqtt complains in the log.
_AT_ONCE: Final = 10


class MqttSettings(BrokerSettings, frozen=True, kw_only=True):
    """A topic of an MQTT 5 broker. Accepted: the broker acknowledged the message (PUBACK, with qos 2 PUBCOMP)."""

    url: Annotated[
        SecretAddress, Meta(description="mqtt://HOST or mqtts://HOST, which is encrypted; must be given")
    ] = ""
    topic: Annotated[str, Meta(description="of the messages")] = "tocsin/alerts"
    qos: Annotated[
        Literal[1, 2], Meta(description="of the messages; 2 takes twice as long, and repeats are still possible")
    ] = 1
    retain: Annotated[bool, Meta(description="the broker keeps the latest alert for new subscribers")] = False


class MqttChannel(BrokerChannel["RelayedClient", MqttSettings]):
    """Publishes each event with its id and type as user properties."""

    at_once = _AT_ONCE

    def _library_errors(self) -> tuple[type[Exception], ...]:
        from aiomqtt import MqttError  # noqa: PLC0415 - only where such a channel is used

        return (MqttError,)

    async def _open(self) -> RelayedClient:
        from tocsin.adapters.channels.mqtt_client import open_relayed  # noqa: PLC0415 - the same

        return await open_relayed(self._endpoint, self._context, self._timeout_s)

    async def _give(self, client: RelayedClient, event: SerializedEvent) -> None:
        settings = self._settings
        await client.give(settings.topic, event, head_of(event).type, qos=settings.qos, retain=settings.retain)

    async def _shut(self, client: RelayedClient) -> None:
        await client.shut()

    def _is_open(self, client: RelayedClient) -> bool:
        return client.is_open

    def _judge(self, exc: Exception) -> tuple[str, str] | None:
        from aiomqtt import MqttCodeError, MqttError  # noqa: PLC0415 - as above

        if isinstance(exc, MqttCodeError):
            # Of the protocol, or of the library, where it is a plain number.
            code = getattr(exc.rc, "value", exc.rc)
            if code in _ALERTS_FAULT:
                return "alert", f"refused: {shown_error(exc)}"
            if code in _DENIED:
                return "channel", "user or password refused, or no right to use this topic"
        return ("channel", shown_error(exc)) if isinstance(exc, MqttError) else None


class MqttType(BrokerType):
    """MQTT 5; implements `ChannelType`."""

    Settings, Channel = MqttSettings, MqttChannel
    schemes: ClassVar = {"mqtt": (1883, False), "mqtts": (8883, True)}
    example = """\
type = "mqtt"
url = "mqtts://mqtt.example.org"
topic = "tocsin/alerts"
user = "tocsin"
password_file = "mqtt.secret"
"""

    def wrong_in(self, settings: MqttSettings, _endpoint: Endpoint) -> str:
        """See BrokerType."""
        topic = settings.topic
        if topic and not any(letter in topic for letter in "+#\0"):
            return ""
        return f'topic: found {topic!r}, allowed is a topic without wildcards, such as "tocsin/alerts"'
