"""A home for the program, a site on loopback, and a service that never outlives its test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.journey.running import Home
from tests.origin import Origin

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.journey.running import Service


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        yield origin


@pytest.fixture
async def start(home: Home) -> AsyncIterator[Callable[[], Awaitable[Service]]]:
    yield home.start
    for service in home.services:
        await service.clear()
