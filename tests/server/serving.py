"""The HTTP edge on a loopback port, in a thread of its own, on a copy of a store in which much has happened."""

from __future__ import annotations

import asyncio
import shutil
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from tests.contract.desk import GATHER
from tests.fakes import ManualClock
from tests.server.lived import CHANNELS
from tests.server.rig import served
from tocsin.adapters.channels.file import FileSettings
from tocsin.adapters.stores import open_store
from tocsin.model import Scope
from tocsin.server.serving import Front, serve
from tocsin.settings import Settings

PATIENCE_S = 60
"""How long an answer is waited for."""


class Served(NamedTuple):
    """A server that answers.

    url    of it
    token  of an administrator
    """

    url: str
    token: str


@contextmanager
def served_in_thread(lived: Path, until: int, folder: Path, *, name: str = "tester") -> Iterator[Served]:
    """Serve a copy of this store, made in `folder`, for as long as the context lasts.

    name  of the token that is made
    """
    for part in lived.glob("tocsin.db*"):
        # The folder of pictures beside the store's files.
        (shutil.copytree if part.is_dir() else shutil.copy)(part, folder / part.name)
    bound = socket.create_server(("127.0.0.1", 0))
    ready, stop = threading.Event(), threading.Event()
    found: list[Served] = []

    def run() -> None:
        asyncio.run(_serve(bound, folder, until, name, found, ready, stop))

    thread = threading.Thread(target=run, name="served")
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield found[0]
    finally:
        stop.set()
        thread.join()


async def _serve(
    bound: socket.socket,
    folder: Path,
    until: int,
    name: str,
    found: list[Served],
    ready: threading.Event,
    stop: threading.Event,
) -> None:
    try:
        async with (
            await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True, gather=GATHER) as store,
            served(store, ManualClock(until), _settings(folder)) as rig,
        ):
            token = await rig.token(Scope.ADMIN, name)
            await store.enter("one", timedelta(hours=1), {"version": "0", "checks": 7})
            stopping, front = asyncio.Event(), Front()
            front.open(rig.app)
            async with asyncio.TaskGroup() as group:
                group.create_task(serve([bound], front, stopping, rig.telemetry))
                found.append(Served(f"http://127.0.0.1:{bound.getsockname()[1]}", token))
                ready.set()
                await asyncio.to_thread(stop.wait)
                stopping.set()
    finally:
        ready.set()


def _settings(folder: Path) -> Settings:
    channels = {name: FileSettings(type="file", path=str(folder / f"{name}.jsonl")) for name in CHANNELS}
    return replace(Settings(), channels=channels)
