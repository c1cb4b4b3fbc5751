"""The types of sinks, by the name that the configuration gives them."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from tocsin.adapters.sinks.file import open_file_sink
from tocsin.adapters.sinks.stdout import open_stdout_sink
from tocsin.adapters.sinks.webhook import open_webhook_sink
from tocsin.errors import SettingsError
from tocsin.settings import why_unread

if TYPE_CHECKING:
    from collections.abc import Callable

    from tocsin.adapters.sinks.context import SinkContext
    from tocsin.ports import Sink
    from tocsin.settings import SinkSettings

    Opener: TypeAlias = Callable[[str, SinkSettings, SinkContext], Sink]

SINKS: dict[str, Opener] = {
    "webhook": open_webhook_sink,
    "file": open_file_sink,
    "stdout": open_stdout_sink,
}


def open_sink(name: str, settings: SinkSettings, context: SinkContext) -> Sink:
    """Build the sink that the configuration describes under `[sinks.NAME]`; nothing is contacted yet.

    Raises SettingsError for a type that is unknown, a key that its type needs and that is missing or wrong, and a
    secret whose file cannot be read.
    """
    if why := why_unread(settings.url, settings.secret):
        raise SettingsError(why)
    opener = SINKS.get(settings.type)
    if opener is None:
        nearest = get_close_matches(settings.type, SINKS, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"use one of: {', '.join(SINKS)}"
        raise SettingsError(f"sinks.{name}.type: there is no sink of type {settings.type!r}; {hint}")
    return opener(name, settings, context)
