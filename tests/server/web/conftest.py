"""A busy day's store, and somebody who looks at it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.contract.desk import GATHER
from tests.fakes import START, ManualClock
from tests.server.rig import served
from tests.server.web.busy import CHANNELS, fill
from tests.server.web.visiting import Visitor
from tocsin.adapters.stores import open_store
from tocsin.settings import HttpSettings, Settings


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def busy_day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store that was filled once; each test has a copy."""
    folder = tmp_path_factory.mktemp("busy")
    opened = await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True, gather=GATHER, timer=lambda: 0.0)
    async with opened as store:
        await fill(store, folder, START)
    return folder


@pytest.fixture
async def visitor(busy_day: Path, tmp_path: Path) -> AsyncIterator[Visitor]:
    settings = Settings(http=HttpSettings(listen="127.0.0.1:8330"), channels=CHANNELS)
    for part in busy_day.glob("tocsin.db*"):
        shutil.copy(part, tmp_path / part.name)
    async with (
        await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True, gather=GATHER) as store,
        served(store, ManualClock(), settings) as rig,
        rig.asking() as client,
    ):
        yield Visitor(rig, client)
