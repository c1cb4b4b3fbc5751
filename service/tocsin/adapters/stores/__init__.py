"""Stores: where pages, states, questions and alerts are kept."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

from tocsin.errors import UsageError
from tocsin.settings import SignalSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tocsin.adapters.stores.sqlite import SqliteStore

GATHER = timedelta(seconds=60)
STORMS = SignalSettings()
BUSY = timedelta(seconds=10)


async def open_store(
    url: str,
    *,
    engine: bool,
    create: bool = True,
    history: bool = True,
    gather: timedelta = GATHER,
    storms: SignalSettings = STORMS,
    busy: timedelta = BUSY,
    timer: Callable[[], float] = time.monotonic,
) -> SqliteStore:
    """Open a store; close it, or use it as an async context manager.

    url      "sqlite:PATH"
    engine   hold the engine lock, and apply missing migrations
    create   make the store where there is none; else that is an error
    history  keep what is pruned from the table, until its retention ends
    gather   how long failures of one host and cause are gathered into one question
    storms   when the same change on many pages of a host is told once
    busy     how long to wait for another process that writes
    timer    seconds, by which long edits keep their steps short
    Raises StoreLocked, StoreTooNew, StoreOutdated, StoreError; UsageError for another kind of URL.
    """
    from tocsin.adapters.stores.sqlite import open_sqlite  # noqa: PLC0415 - drivers are loaded by those who need them

    return await open_sqlite(
        _path_of(url),
        engine=engine,
        create=create,
        history=history,
        gather=gather,
        storms=storms,
        busy=busy,
        timer=timer,
    )


async def migrate(url: str) -> AsyncIterator[tuple[int, int]]:
    """Bring a store to this program's version; holds the engine lock meanwhile. Yields (steps done, all)."""
    from tocsin.adapters.stores.sqlite import migrate_sqlite  # noqa: PLC0415 - as above

    async for step in migrate_sqlite(_path_of(url), BUSY):
        yield step


def _path_of(url: str) -> str:
    scheme, _, path = url.partition(":")
    if scheme != "sqlite" or not path:
        raise UsageError(f"store.url: {url!r} is no store that Tocsin knows; write sqlite:PATH (sqlite:tocsin.db)")
    return path
