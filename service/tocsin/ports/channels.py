"""What takes alerts: channels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from tocsin.model import SerializedEvent
    from tocsin.model.messages import Message


class Notification(Struct, frozen=True, gc=False):
    """What a channel is given: an alert, or a digest of several.

    event    of a digest: type tocsin.digest.v1, with the digest's id
    message  the same for people; only where the channel takes messages
    """

    event: SerializedEvent
    message: Message | None = None


class ChannelFinding(Struct, frozen=True):
    """Something about a channel that its user should know.

    what      in words that follow the channel's name: "cannot be reached at …"
    mend      a sentence
    is_wrong  alerts do not arrive, or may be lost
    """

    what: str
    mend: str
    is_wrong: bool = True


class Channel(Protocol):
    """One downstream system that takes alerts.

    at_once         how many alerts it takes at once, at least 1
    takes_messages  it gives people messages; without one it cannot deliver
    """

    name: str
    at_once: int
    takes_messages: bool

    async def deliver(self, notification: Notification) -> None:
        """Give it the alert; returning means that it was accepted. Raises DeliveryError."""

    async def close(self) -> None:
        """Let go of connections and files; may be called twice."""
