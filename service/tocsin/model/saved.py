"""Channels and routes that were made at run time, and mutes of channels."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from tocsin.errors import SettingsError
from tocsin.model.common import Instant, JsonObject
from tocsin.settings import Settings, unread

_MOST_NAMED: Final = 5
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


def demand_unused(channel: str, settings: Settings, saved: Saved) -> None:
    """Raise SettingsError where routes send to a channel that is to be removed, also routes that are left out."""
    using = [route.name for route in settings.routes if channel in route.channels]
    using += [entry.name for entry in saved.routes if channel in entry.settings.get("channels", ())]
    if using:
        named = ", ".join(list(dict.fromkeys(using))[:_MOST_NAMED])
        raise SettingsError(f"channel {channel}: these routes send to it: {named}; edit or remove them first")


class Merged(Struct, frozen=True):
    """The configuration with what was saved.

    unusable  saved routes that are left out, each with the reason
    """

    settings: Settings
    unusable: dict[str, str] = field(default_factory=dict)


def merge(settings: Settings, saved: Saved) -> Merged:
    """Add saved channels, and saved routes below those of the configuration.

    Raises SettingsError for a name that the configuration and the store both have. What cannot be used is left out.
    """
    if not saved.channels and not saved.routes:
        return Merged(settings)
    # Reading them imports the types of channels, which only what was saved needs.
    from tocsin.configuration.saved import UnusableChannel, read_channel, read_route  # noqa: PLC0415 - as said

    channels, routes = dict(settings.channels), {route.name: route for route in settings.routes}
    for kind, known, entries in (("channel", channels, saved.channels), ("route", routes, saved.routes)):
        for entry in entries:
            if entry.name in known:
                raise SettingsError(
                    f"{kind}s.{entry.name}: the configuration has a {kind} of this name, and {entry.who} made another "
                    f"one at run time; rename the one of the configuration, or run: tocsin {kind} remove {entry.name}"
                )
    for entry in saved.channels:
        try:
            channels[entry.name] = read_channel(entry.name, entry.settings, settings.delivery.plugins, files=True)
        except SettingsError as exc:
            kind = str(entry.settings.get("type", ""))
            channels[entry.name] = UnusableChannel(type=kind, why=unread(str(exc)))
    unusable: dict[str, str] = {}
    for entry in saved.routes:
        try:
            routes[entry.name] = read_route(entry.name, entry.settings, channels)
        except SettingsError as exc:
            unusable[entry.name] = str(exc)
    return Merged(replace(settings, channels=channels, routes=tuple(routes.values())), unusable)
