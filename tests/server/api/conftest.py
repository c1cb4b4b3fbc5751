"""The API on an empty store, and on one in which much has happened."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.contract.desk import GATHER, Desk
from tests.fakes import ManualClock
from tests.server.api.talk import Api
from tests.server.diary import URL, desk_on
from tests.server.lived import live
from tests.server.rig import Rig, served
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.channels.webhook import WebhookSettings
from tocsin.adapters.stores import open_store
from tocsin.model import Scope
from tocsin.settings import ChannelSettings, MatchSettings, RouteSettings, Settings

ROUTES = (
    RouteSettings("press", ("ops",), MatchSettings(group=("press",)), continues=True),
    RouteSettings("all", ("log",)),
)


class Lived(NamedTuple):
    """A store in which much has happened, until then."""

    folder: Path
    until: int


@pytest.fixture(scope="session")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Lived:
    folder = tmp_path_factory.mktemp("lived")
    return Lived(folder, asyncio.run(live(folder)))


@pytest.fixture
async def api(rig: Rig) -> AsyncIterator[Api]:
    """A client on this machine, of an API on an empty store."""
    async with rig.asking() as asked:
        yield Api(asked, rig)


@pytest.fixture
async def busy(lived: Lived, tmp_path: Path) -> AsyncIterator[Api]:
    """The same on a copy of the store in which much has happened."""
    folder = shutil.copytree(lived.folder, tmp_path / "busy")
    ops = WebhookSettings(type="webhook", url="https://a.example/", secret="whsec_c2VjcmV0LW9mLXRoZS1zaW5r")
    channels: dict[str, ChannelSettings] = {"log": FileSettings(type="file", path="alerts.jsonl"), "ops": ops}
    async with (
        await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True, gather=GATHER) as store,
        served(store, ManualClock(lived.until), Settings(channels=channels, routes=ROUTES)) as rig,
        rig.asking(await rig.token(Scope.ADMIN, "tester")) as asked,
    ):
        yield Api(asked, rig)


@pytest.fixture
async def desk(api: Api, tmp_path: Path) -> Desk:
    """The desk that checks the diary: the page is watched and was checked once; its items were not kept."""
    desk = await desk_on(api.rig, tmp_path)
    await desk.watch(URL)
    await desk.check(URL, "0")
    return desk
