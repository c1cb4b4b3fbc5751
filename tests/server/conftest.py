"""A real store, and the HTTP edge on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.server import patience
from tests.server.rig import Rig, served
from tocsin.adapters.stores import open_store
from tocsin.ports import Store
from tocsin.server.jobs import Job


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that people start are waited for."""
    monkeypatch.setattr(Job, "wait", patience.wait)


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as opened:
        yield opened


@pytest.fixture
async def rig(store: Store) -> AsyncIterator[Rig]:
    async with served(store) as made:
        yield made


@pytest.fixture
async def local(rig: Rig) -> AsyncIterator[httpx.AsyncClient]:
    """Whoever is on this machine, before there is any token."""
    async with rig.asking() as asked:
        yield asked
