"""What channels to message brokers have in common: one connection, opened when needed, and what its failures mean."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Generic, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec
from msgspec import Meta, Struct

from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.reaching import os_error_of, unreached
from tocsin.configuration.loading import mask_address
from tocsin.errors import DeliveryError, SettingsError, shortage_of
from tocsin.model import SerializedEvent
from tocsin.ports import ChannelFinding, Notification
from tocsin.settings import ChannelSettings, Secret, SecretAddress

CONTENT_TYPE: Final = "application/cloudevents+json; charset=utf-8"
# Alerts that are given over one connection before the first is answered.
_AT_ONCE: Final = 64
_CLOSE_S: Final = 2.0
_PROBE_S: Final = 5.0

ClientT = TypeVar("ClientT")
SettingsT = TypeVar("SettingsT", bound="BrokerSettings")


class BrokerSettings(ChannelSettings, frozen=True, kw_only=True):
    """A message broker. Each type describes its URL, and adds where it puts alerts."""

    user: Annotated[str, Meta(description="who signs in; may also be in url")] = ""
    password: Annotated[Secret, Meta(description="of this user; may also be in url")] = ""
    url: SecretAddress = ""

    def address(self) -> str:
        """Give the URL."""
        return self.url


class Endpoint(Struct, frozen=True):
    """Where a broker is, and who signs in.

    path   of the URL, without its slash
    where  the address as it may be shown
    """

    host: str
    port: int
    tls: bool
    user: str
    password: str
    path: str
    where: str


class EventHead(Struct, frozen=True):
    """What brokers show of an event beside it."""

    type: str
    subject: str | None = None


def head_of(event: SerializedEvent) -> EventHead:
    """Read the type and the subject of an event."""
    return msgspec.json.decode(event.json, type=EventHead)


def read_endpoint(name: str, settings: BrokerSettings, schemes: Mapping[str, tuple[int, bool]]) -> Endpoint:
    """Read the URL of a broker.

    schemes  those that are allowed, each with its port and whether it is encrypted
    Raises SettingsError, which does not repeat the URL.
    """
    example = f'"{next(iter(schemes))}://broker.example.org"'
    try:
        parts: SplitResult = urlsplit(settings.url)
        host, port = parts.hostname, parts.port
    except ValueError:
        parts, host, port = urlsplit(""), None, None
    if parts.scheme not in schemes or not host or parts.query or parts.fragment:
        raise SettingsError(f"channels.{name}.url: this is not the address of a broker; write one such as {example}")
    standard, tls = schemes[parts.scheme]
    return Endpoint(
        host=host,
        port=port or standard,
        tls=tls,
        user=settings.user or unquote(parts.username or ""),
        password=settings.password or unquote(parts.password or ""),
        path=unquote(parts.path.removeprefix("/")),
        where=mask_address(settings.url),
    )


class BrokerChannel(ABC, Generic[ClientT, SettingsT]):
    """Gives events to a broker over one connection, which is opened when it is first needed.

    A client library never connects again by itself: it would choose the address, and could keep events that count as
    failed. After a failure the connection is closed, and the next delivery opens another.
    """

    at_once = _AT_ONCE
    takes_messages = False

    def __init__(self, name: str, endpoint: Endpoint, settings: SettingsT, context: ChannelContext) -> None:
        self.name = name
        self._endpoint, self._settings, self._context = endpoint, settings, context
        self._timeout_s = settings.timeout.total_seconds()
        self._client: ClientT | None = None
        self._turn = asyncio.Lock()

    async def deliver(self, notification: Notification) -> None:
        """Give the broker the event, within the channel's timeout; raises DeliveryError."""
        client: ClientT | None = None
        try:
            async with asyncio.timeout(self._timeout_s):
                client = await self._connected()
                await self._give(client, notification.event)
        except DeliveryError:
            raise
        except self._errors() as exc:
            fault = self._fault(exc)
            if fault.blames != "alert":
                await self._drop(client)
            raise fault from exc

    async def close(self) -> None:
        """Close the connection."""
        await self._drop(self._client)

    async def probe(self) -> Sequence[ChannelFinding]:
        """Connect and sign in, and look at what the server says of itself."""
        try:
            async with asyncio.timeout(min(self._timeout_s, _PROBE_S)):
                return await self._examine(await self._connected())
        except self._errors() as exc:
            fault, error = self._fault(exc), os_error_of(exc)
            if self._judge(exc) is None and error is not None and not isinstance(error, TimeoutError):
                return [unreached(error, self._endpoint.where)]
            return [ChannelFinding(f"at {self._endpoint.where}: {fault.detail}", "Mend its settings, or the broker's")]
        finally:
            await self.close()

    @abstractmethod
    def _library_errors(self) -> tuple[type[Exception], ...]:
        """List what the library raises for failures."""

    @abstractmethod
    async def _open(self) -> ClientT:
        """Connect and sign in; nothing is left open if it fails."""

    @abstractmethod
    async def _give(self, client: ClientT, event: SerializedEvent) -> None:
        """Give the event; returning means that the broker has it."""

    @abstractmethod
    async def _shut(self, client: ClientT) -> None:
        """Close a connection, which may be broken."""

    @abstractmethod
    def _is_open(self, client: ClientT) -> bool:
        """Tell whether the connection was not closed meanwhile."""

    @abstractmethod
    def _judge(self, exc: Exception) -> tuple[str, str] | None:
        """Say whom a failure blames ("channel" or "alert"), and why in words without secrets; None if unknown."""

    async def _examine(self, _client: ClientT) -> Sequence[ChannelFinding]:
        return ()

    def _errors(self) -> tuple[type[Exception], ...]:
        return (*self._library_errors(), OSError, TimeoutError, EOFError)

    async def _connected(self) -> ClientT:
        async with self._turn:
            if self._client is not None and not self._is_open(self._client):
                await self._end(self._client)
            if self._client is None:
                self._client = await self._open()
            return self._client

    async def _drop(self, client: ClientT | None) -> None:
        """Close this connection, unless another delivery has done so."""
        if client is not None and client is self._client:
            await self._end(client)

    async def _end(self, client: ClientT) -> None:
        self._client = None
        try:
            async with asyncio.timeout(_CLOSE_S):
                await self._shut(client)
        except self._errors():
            # It was broken; the operating system closes it.
            pass

    def _fault(self, exc: Exception) -> DeliveryError:
        if (judged := self._judge(exc)) is not None:
            return DeliveryError(self.name, *judged)
        if isinstance(exc, TimeoutError):
            return DeliveryError(self.name, "channel", f"no answer within {self._timeout_s:g} s")
        if (error := os_error_of(exc)) is not None:
            if (shortage := shortage_of(error, ports=True)) is not None:
                return DeliveryError(self.name, "ours", str(shortage))
            return DeliveryError(self.name, "channel", f"no connection: {error.strerror or error}")
        return DeliveryError(self.name, "channel", f"{type(exc).__name__}")


class BrokerType:
    """A type of channels to a broker; implements `ChannelType`.

    schemes  of its URLs, each with its port and whether it is encrypted
    Channel  the class of its channels
    """

    schemes: ClassVar[Mapping[str, tuple[int, bool]]]
    Channel: ClassVar[type[BrokerChannel[Any, Any]]]

    def open(self, name: str, settings: Any, context: ChannelContext) -> BrokerChannel[Any, Any]:
        """Build the channel; raises SettingsError."""
        endpoint = read_endpoint(name, settings, self.schemes)
        if wrong := self.wrong_in(settings, endpoint):
            raise SettingsError(f"channels.{name}.{wrong}")
        return self.Channel(name, endpoint, settings, context)

    async def probe(self, name: str, settings: Any, context: ChannelContext) -> Sequence[ChannelFinding]:
        """Connect, sign in, and look at what the server says of the place that alerts go to."""
        return await self.open(name, settings, context).probe()

    def wrong_in(self, _settings: Any, _endpoint: Endpoint) -> str:
        """Say what cannot work, beginning with its key; empty: nothing."""
        return ""


def silence(logger: str) -> None:
    """Keep what a library logs to itself: what it complains of is raised, too, and could name secrets."""
    logging.getLogger(logger).setLevel(logging.CRITICAL + 1)


def shown_error(exc: Any) -> str:
    """Give the words of a library's error on one line, cut."""
    return " ".join(str(exc).split())[:300] or type(exc).__name__
