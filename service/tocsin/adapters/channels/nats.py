"""Alerts as messages of NATS JetStream."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

from msgspec import Meta

from tocsin.adapters.channels.broker import (
    CONTENT_TYPE,
    BrokerChannel,
    BrokerSettings,
    BrokerType,
    Endpoint,
    head_of,
    shown_error,
)
from tocsin.model import SerializedEvent
from tocsin.ports import ChannelFinding
from tocsin.settings import Secret, SecretAddress

if TYPE_CHECKING:
    from nats.aio.client import Client

_DENIED: Final = ("authorization violation", "permissions violation", "authentication")


class NatsSettings(BrokerSettings, frozen=True, kw_only=True):
    """A subject that a stream of NATS JetStream stores. Accepted: the stream acknowledged it (PubAck)."""

    url: Annotated[SecretAddress, Meta(description="nats://HOST or tls://HOST, which is encrypted; must be given")] = ""
    subject: Annotated[str, Meta(description="of the messages; a stream must store it")] = "tocsin.alerts"
    token: Annotated[Secret, Meta(description="instead of user and password")] = ""


class NatsChannel(BrokerChannel["Client", NatsSettings]):
    """Publishes each event with its id as Nats-Msg-Id, by which the stream leaves out repeats."""

    def _library_errors(self) -> tuple[type[Exception], ...]:
        from nats.errors import Error  # noqa: PLC0415 - only where such a channel is used

        return (Error,)

    async def _open(self) -> Client:
        from tocsin.adapters.channels.nats_client import DialledClient  # noqa: PLC0415 - the same

        endpoint, token = self._endpoint, self._settings.token
        client = DialledClient(self._context, endpoint)
        who = {"token": token} if token else {"user": endpoint.user, "password": endpoint.password}
        await client.start({key: value for key, value in who.items() if value}, self._timeout_s)
        return client

    async def _give(self, client: Client, event: SerializedEvent) -> None:
        head = head_of(event)
        await client.jetstream(timeout=self._timeout_s).publish(
            self._settings.subject,
            event.json,
            headers={"Nats-Msg-Id": event.id, "Content-Type": CONTENT_TYPE, "ce-type": head.type},
        )

    async def _shut(self, client: Client) -> None:
        await client.close()

    def _is_open(self, client: Client) -> bool:
        return client.is_connected

    async def _examine(self, client: Client) -> Sequence[ChannelFinding]:
        subject = self._settings.subject
        answer = await client.request(
            "$JS.API.STREAM.NAMES", json.dumps({"subject": subject}).encode(), timeout=self._timeout_s
        )
        found: dict[str, Any] = json.loads(answer.data)
        if found.get("streams"):
            return ()
        return [ChannelFinding(f"at {self._endpoint.where}: no stream stores {subject}", f"M{_mend(subject)[1:]}")]

    def _judge(self, exc: Exception) -> tuple[str, str] | None:
        from nats import errors  # noqa: PLC0415 - as above
        from nats.js.errors import APIError, NoStreamResponseError  # noqa: PLC0415 - as above

        said = shown_error(exc)
        match exc:
            case errors.MaxPayloadError():
                return "alert", "larger than the server's max_payload"
            case NoStreamResponseError() | errors.NoRespondersError():
                return "channel", f"no stream stores {self._settings.subject}; {_mend(self._settings.subject)}"
            case APIError():
                return "channel", f"refused by the stream: {shown_error(exc.description)}"
            case errors.Error() if any(word in said.lower() for word in _DENIED):
                return "channel", "user, password or token refused, or no right to publish"
        is_known = isinstance(exc, errors.Error) and not isinstance(exc, errors.TimeoutError)
        return ("channel", said) if is_known else None


class NatsType(BrokerType):
    """NATS JetStream; implements `ChannelType`."""

    Settings, Channel = NatsSettings, NatsChannel
    schemes: ClassVar = {"nats": (4222, False), "tls": (4222, True)}
    example = """\
type = "nats"
url = "tls://nats.example.org"
subject = "tocsin.alerts"    # a stream must store it: nats stream add ALERTS --subjects tocsin.alerts
user = "tocsin"
password_file = "nats.secret"
"""

    def wrong_in(self, settings: NatsSettings, _endpoint: Endpoint) -> str:
        """See BrokerType."""
        subject = settings.subject
        if all(subject.split(".")) and not any(letter in subject for letter in " \t\r\n*>\0"):
            return ""
        return f'subject: found {subject!r}, allowed is a subject without wildcards, such as "tocsin.alerts"'


def _mend(subject: str) -> str:
    return f"make one: nats stream add ALERTS --subjects {subject} --defaults"
