"""A browser, and a service whose store was filled by real checks."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, async_playwright

from tests.server import patience
from tests.web.asking import Reader
from tests.web.living import Living
from tests.web.looking import PATIENCE_MS
from tocsin.adapters.stores import open_store
from tocsin.server.jobs import Job

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A service and a browser start before the first test: what never comes is named by whoever waits for it.
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.timeout(400))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs that people start are waited for."""
    monkeypatch.setattr(Job, "wait", patience.wait)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Living]:
    async with Living.at(tmp_path_factory.mktemp("living")) as found:
        await found.live_through()
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no chromium is installed: apt-get install chromium")
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=PATIENCE_MS)
        yield found
        await found.close()


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    """Somebody of this machine, and a store without an engine."""
    async with (
        await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store,
        Reader.at(store, tmp_path) as found,
    ):
        yield found
