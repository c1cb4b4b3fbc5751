"""What a changed configuration means for a service that runs; pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.configuration.tree import flatten

if TYPE_CHECKING:
    from tocsin.settings import Settings

_RELOADED: Final = ("pages.", "hosts.", "render.limit", "render.resume_at", "channels.", "http.tokens")
"""What a running service takes up at once; all else is built into connections, files or processes."""
_BUILT_IN: Final = ".certificate"


def changed_keys(old: Settings, new: Settings) -> list[str]:
    """List the dotted keys whose values differ, those of one side only among them."""
    before, after = flatten(old), flatten(new)
    return sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))


def is_reloaded(key: str) -> bool:
    """Say whether a running service takes up another value of this dotted key at once."""
    return key.startswith(_RELOADED) and not key.endswith(_BUILT_IN)


def needs_restart(old: Settings, new: Settings) -> list[str]:
    """List the changed keys that a running service cannot take up."""
    changed = changed_keys(old, new)
    return [key for key in changed if not is_reloaded(key)]
