"""Authentication and authorisation: tokens, browser sessions, scopes, and limits on requests.

Names are loaded lazily: the command line makes tokens and needs no web framework.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.server.access.auditing import audit
    from tocsin.server.access.rights import Administering, Caller, Reading, Via, Writing

__all__ = ["Administering", "Caller", "Reading", "Via", "Writing", "audit"]

_PLACES = {
    "auditing": ("audit",),
    "rights": ("Administering", "Caller", "Reading", "Via", "Writing"),
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{place}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
