"""A store for each test, which must be sound when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.contract.desk import Desk
from tests.contract.stores import STORES


@pytest.fixture(params=STORES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A kind of store, for tests that open stores of their own."""
    # Where it is skipped, nothing is to be removed.
    STORES[request.param](tmp_path)
    yield request.param
    if request.param != "sqlite":
        STORES[request.param](tmp_path).remove()


@pytest.fixture
async def desk(database: str, tmp_path: Path) -> AsyncIterator[Desk]:
    """An engine's view of a new store."""
    opened = await Desk.at(tmp_path, database)
    try:
        yield opened
        assert await opened.store.check() == []
    finally:
        await opened.store.close()
