"""A home for the program, a site on loopback, and a service that never outlives its test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.journey.running import Home, Service
from tests.origin import Origin

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Several processes one after the other: what never comes is named by whoever waits for it, before this ends it.
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(400))


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
