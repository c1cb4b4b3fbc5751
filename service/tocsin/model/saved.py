"""Channels and routes that were made at run time, and mutes of channels."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from tocsin.model.common import Instant, JsonObject

SavedKind: TypeAlias = Literal["channel", "route"]


class SavedEntry(Struct, frozen=True):
    """A channel or a route that was made at run time.

    settings  as in the configuration file, secrets included
    revision  grows with each change of anything that is saved
    at, who   of its latest change
    """

    kind: SavedKind
    name: str
    settings: JsonObject
    revision: int
    at: Instant
    who: str


class ChannelMute(Struct, frozen=True):
    """A channel that is given nothing for a time; its alerts wait.

    until_at  None: until it is ended
    """

    channel: str
    until_at: Instant | None
    at: Instant
    who: str

    def is_in_force(self, now: Instant) -> bool:
        """Tell whether the channel is muted now."""
        return self.until_at is None or now < self.until_at


class Saved(Struct, frozen=True):
    """All that was saved; routes from top to bottom."""

    revision: int = 0
    channels: tuple[SavedEntry, ...] = ()
    routes: tuple[SavedEntry, ...] = ()
    mutes: tuple[ChannelMute, ...] = ()

    def muted(self, now: Instant) -> dict[str, ChannelMute]:
        """Return the mutes in force, by channel."""
        return {mute.channel: mute for mute in self.mutes if mute.is_in_force(now)}
