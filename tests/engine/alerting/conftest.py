"""A store with a channel, and its outbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.engine.alerting.outbox import Outbox
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    opened = await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True)
    await opened.set_channels(["ops"])
    try:
        yield opened
    finally:
        await opened.close()


@pytest.fixture
def outbox(store: SqlStore) -> Outbox:
    return Outbox(store)
