"""Signals in JSON-LD: `dateModified` and `version` of the page's main node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.spec.signals.instants import to_text, to_value
from tocsin.spec.signals.linked import read_property
from tocsin.spec.signals.signal import Signal

if TYPE_CHECKING:
    from tocsin.spec.signals.signal import Seen

_DEEPEST: Final = 5
_WHOLE_TO: Final = 2.0**53


def _modified(seen: Seen) -> str | None:
    return to_value(_written(read_property(seen.linked, "dateModified")))


def _version(seen: Seen) -> str | None:
    return to_text(_written(read_property(seen.linked, "version")))


def _written(value: object) -> str | None:
    """Return a value as text: the first of several, a number in figures; None for anything else."""
    for _ in range(_DEEPEST):
        if isinstance(value, list):
            value = value[0] if value else None
        elif isinstance(value, dict):
            value = value.get("@value")
        else:
            break
    if isinstance(value, float) and abs(value) < _WHOLE_TO and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    return str(value)


MODIFIED: Final = Signal("json-ld.modified", "author", "dateModified of the page's main node in JSON-LD", _modified)
VERSION: Final = Signal(
    "json-ld.version", "author", "version of the page's main node in JSON-LD", _version, is_date=False
)
