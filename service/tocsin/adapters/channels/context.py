"""What a type of channels is, and what it gets of its process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

from msgspec import Meta, Struct

from tocsin.configuration import limits
from tocsin.ports import Channel, ChannelFinding, Clock, Notification
from tocsin.ports.processes import Asides
from tocsin.settings import ChannelSettings

if TYPE_CHECKING:
    import socket
    import ssl
    from asyncio import StreamReader, StreamWriter

    from aiohttp import ClientSession


class Dial(Protocol):
    """Connects to a host, at an address that the policy of `network.allow` lets it dial."""

    def __call__(self, host: str, port: int, *, tls: bool) -> Awaitable[tuple[StreamReader, StreamWriter]]:
        """Connect; with TLS, the certificate is verified for this host, or is the one that the user accepted for it.

        Raises OSError: AddressRefused with the mend, NameNotResolved, ssl.SSLError or that of the connection. The
        caller sets the deadline.
        """


async def connect_nowhere(host: str, port: int) -> socket.socket:
    """Stand in for `connect` in a context that opens no sockets."""
    raise ConnectionRefusedError(f"nothing connects to {host}:{port} here")


class ChannelContext(Struct, frozen=True):
    """What a channel may use; it reaches the network by nothing else.

    session  opens a client session of HTTP that obeys the address policy; the channel closes it
    clock    for the time in signatures
    dial     opens a connection that obeys the address policy
    tls      gives the context for TLS with a host, where a connection becomes encrypted later; see `Dial`
    asides   processes for libraries that dial by themselves; they obey it, too
    connect  opens a socket that obeys the address policy, for a library that makes a connection of it
    """

    session: Callable[[], ClientSession]
    clock: Clock
    dial: Dial
    tls: Callable[[str], ssl.SSLContext]
    asides: Asides | None = None
    connect: Callable[[str, int], Awaitable[socket.socket]] = connect_nowhere


class MessageChannelSettings(ChannelSettings, frozen=True, kw_only=True):
    """A channel that gives people messages."""

    template: Annotated[
        str,
        Meta(
            description="a file in `messages.folder`, in place of the part of messages that its ending names: .txt, "
            ".html or .md",
            extra={"check": limits.check_template_name},
        ),
    ] = ""


@runtime_checkable
class ShowsMessages(Protocol):
    """A channel that can show what it sends, without sending it."""

    def show(self, notification: Notification) -> tuple[str, bytes]:
        """Give the content type and the body of what it sends; raises DeliveryError where it could not be sent."""


class ChannelType(Protocol):
    """A type of channels: an entry point of the group `tocsin.channels`, with the type's name, leads to its class.

    The class takes no arguments. Its module is imported with the configuration, so it imports libraries where they are
    first used.

    Settings  its keys in [channels.NAME], each with its description
    example   such a section for the commented configuration file, as TOML with comments, without its head
    """

    Settings: type[ChannelSettings]
    example: str

    def open(self, name: str, settings: Any, context: ChannelContext) -> Channel:
        """Build the channel of [channels.NAME]; nothing is contacted yet.

        settings  of the class `Settings`; their secrets could be read
        Raises SettingsError for values that cannot work, with the key and the mend.
        """

    async def probe(self, name: str, settings: Any, context: ChannelContext) -> Sequence[ChannelFinding]:
        """Find what keeps alerts from it, for `tocsin doctor`: connect and sign in, but send nothing."""
