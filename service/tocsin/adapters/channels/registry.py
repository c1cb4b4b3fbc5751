"""Opening channels by their types."""

from __future__ import annotations

from collections.abc import Collection
from typing import cast

from tocsin.adapters.channels.context import ChannelContext, ChannelType
from tocsin.configuration.channels import load_type
from tocsin.errors import SettingsError
from tocsin.ports import Channel
from tocsin.settings import ChannelSettings, unread_in


def channel_type(settings: ChannelSettings, plugins: Collection[str] = ()) -> ChannelType:
    """Give the type of a configured channel; raises SettingsError."""
    return cast("ChannelType", load_type(settings.type, plugins))


def open_channel(
    name: str, settings: ChannelSettings, context: ChannelContext, plugins: Collection[str] = ()
) -> Channel:
    """Build the channel of the section `[channels.NAME]`; nothing is contacted yet.

    Raises SettingsError for a key that is missing or wrong, and a secret that cannot be read.
    """
    if why := unread_in(settings):
        raise SettingsError(why)
    return channel_type(settings, plugins).open(name, settings, context)
