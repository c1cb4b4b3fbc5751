"""The types of channels: entry points of the group `tocsin.channels`, each with the class of its settings."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from tocsin.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Collection
    from importlib.metadata import EntryPoint

    from tocsin.settings import ChannelSettings

GROUP: Final = "tocsin.channels"
_OURS: Final = "tocsin."
# The types that need nothing else come first where types are listed.
_FIRST: Final = ("webhook", "file", "stdout")


class ConfiguredType(Protocol):
    """What the configuration needs of a type of channels; `adapters.channels.context.ChannelType` is the whole of it.

    example  keys and values for the commented configuration file, as TOML with comments
    """

    Settings: type[ChannelSettings]
    example: str


def load_type(name: str, plugins: Collection[str]) -> ConfiguredType:
    """Import a type of channels; a type of another package only if `delivery.plugins` names it.

    Raises SettingsError with what is wrong and the mend, without the key.
    """
    found = _entry_points().get(name)
    if found is None:
        known = our_types()
        nearest = get_close_matches(name, [*known, *plugins], n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"use one of: {', '.join(known)}"
        raise SettingsError(f"there is no channel of type {name[:80]!r}; {hint}")
    if not _is_ours(found) and name not in plugins:
        package = re.split(r"[.:]", found.value)[0]
        mend = f'if you trust it, write plugins = ["{name}"] below [delivery]'
        raise SettingsError(f"type {name!r} comes from another package, {package}; {mend}")
    try:
        return _load(found)
    except (ImportError, AttributeError, TypeError, ValueError, SyntaxError) as exc:
        raise SettingsError(f"type {name!r} cannot be loaded ({type(exc).__name__}: {exc}); reinstall it") from exc


def our_types() -> list[str]:
    """List the types that Tocsin brings."""
    return sorted((name for name, found in _entry_points().items() if _is_ours(found)), key=_rank)


def _rank(name: str) -> tuple[int, str]:
    return (_FIRST.index(name) if name in _FIRST else len(_FIRST), name)


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes 30 ms, only where a channel is configured

    found: dict[str, EntryPoint] = {}
    for each in entry_points(group=GROUP):
        # A package of others cannot take the place of a type of ours.
        if each.name not in found or _is_ours(each):
            found[each.name] = each
    return found


def forget_types() -> None:
    """Look for types anew: packages were installed or removed."""
    _entry_points.cache_clear()


def _is_ours(found: EntryPoint) -> bool:
    return found.value.startswith(_OURS)


@lru_cache(maxsize=64)
def _load(found: EntryPoint) -> ConfiguredType:
    made: Any = found.load()
    return cast("ConfiguredType", made())
