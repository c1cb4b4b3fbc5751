from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.awareness import Bench
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as opened:
        yield opened


@pytest.fixture
def bench(store: SqlStore) -> Bench:
    """A render queue over a real store."""
    return Bench(store)
