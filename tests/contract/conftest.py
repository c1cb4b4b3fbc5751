"""A store for each test, which must be sound when the test is over."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.desk import Desk
from tests.contract.stores import STORES


@pytest.fixture(params=STORES)
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    """An engine's view of a new store."""
    opened = await Desk.at(tmp_path, request.param)
    try:
        yield opened
        assert await opened.store.check() == []
    finally:
        await opened.store.close()
