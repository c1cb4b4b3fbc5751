"""The types of channels, by the name that the configuration gives them."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TypeAlias

from tocsin.adapters.channels.context import ChannelContext
from tocsin.adapters.channels.file import open_file_channel
from tocsin.adapters.channels.stdout import open_stdout_channel
from tocsin.adapters.channels.webhook import open_webhook_channel
from tocsin.errors import SettingsError
from tocsin.ports import Channel
from tocsin.settings import ChannelSettings, why_unread

Opener: TypeAlias = Callable[[str, ChannelSettings, ChannelContext], Channel]

CHANNELS: dict[str, Opener] = {
    "webhook": open_webhook_channel,
    "file": open_file_channel,
    "stdout": open_stdout_channel,
}


def open_channel(name: str, settings: ChannelSettings, context: ChannelContext) -> Channel:
    """Build the channel of the section `[channels.NAME]`; nothing is contacted yet.

    Raises SettingsError for an unknown type, a key that is missing or wrong, and a secret that cannot be read.
    """
    if why := why_unread(settings.url, settings.secret):
        raise SettingsError(why)
    opener = CHANNELS.get(settings.type)
    if opener is None:
        nearest = get_close_matches(settings.type, CHANNELS, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"use one of: {', '.join(CHANNELS)}"
        raise SettingsError(f"channels.{name}.type: there is no channel of type {settings.type!r}; {hint}")
    return opener(name, settings, context)
