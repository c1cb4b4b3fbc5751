"""The composition root: the one place that knows settings, adapters and engine.

What is asked of it here is loaded when it is asked for: a fetcher process needs no store, and a store no engine.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tocsin.app.agent import user_agent
    from tocsin.app.assembly import assemble, open_store_for
    from tocsin.app.executing import execute
    from tocsin.app.once import CheckSummary, FetchedPage, check, fetch_page, test_channel
    from tocsin.app.service import run

__all__ = [
    "CheckSummary",
    "FetchedPage",
    "assemble",
    "check",
    "execute",
    "fetch_page",
    "open_store_for",
    "run",
    "test_channel",
    "user_agent",
]

_PLACES = {
    "agent": ("user_agent",),
    "assembly": ("assemble", "open_store_for"),
    "executing": ("execute",),
    "once": ("CheckSummary", "FetchedPage", "check", "fetch_page", "test_channel"),
    "service": ("run",),
}


def __getattr__(name: str) -> Any:
    for place, names in _PLACES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{place}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
