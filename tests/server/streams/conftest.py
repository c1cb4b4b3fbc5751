"""The HTTP edge on a loopback socket, and a bell for the alerts that a test publishes."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import pytest

from tests.contract.desk import alert
from tests.server.rig import Rig, StillService
from tocsin.events import CHANGED
from tocsin.ports import Store
from tocsin.server.serving import Front, serve


class RingingService(StillService):
    """A service whose bell a test rings.

    waiting  so many have seen that there is nothing new, and wait for it to ring
    """

    bell: asyncio.Event
    alerts: Store
    waiting = 0

    def ring(self) -> None:
        self.bell.set()
        self.bell = asyncio.Event()

    async def next_alert(self, after: int, timeout_s: float) -> None:
        rung = self.bell
        latest = await self.alerts.alerts(limit=1)
        if latest and latest[0].position > after:
            return
        self.waiting += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):
                    await rung.wait()
        finally:
            self.waiting -= 1


class Desk:
    """Publishes alerts, and says where they are read."""

    def __init__(self, rig: Rig, address: tuple[str, int], service: RingingService, stopping: asyncio.Event) -> None:
        self.rig, self.address, self.service, self.stopping = rig, address, service, stopping
        self.store, self.clock = rig.store, rig.clock
        self.published = 0

    async def publish(self, *names: str, kind: str = CHANGED, page_id: int | None = None, **data: Any) -> None:
        """Publish alerts with these ids, and ring."""
        for name in names:
            draft = alert(name, page_id, kind, self.clock.now())
            draft.event.update(id=name, type=kind, data={"page": {"id": str(page_id), "group": "main"}, **data})
            await self.store.write_alert(draft)
            self.published += 1
        self.service.ring()


@pytest.fixture
async def desk(rig: Rig) -> AsyncIterator[Desk]:
    service = rig.service
    # The rig's own service, with a bell.
    service.__class__ = RingingService
    assert isinstance(service, RingingService)
    service.bell, service.alerts = asyncio.Event(), rig.store
    bound = socket.create_server(("127.0.0.1", 0), backlog=512)
    stopping, front = rig.app.state.parts.stopping, Front()
    front.open(rig.app)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve([bound], front, stopping, rig.telemetry))
        yield Desk(rig, bound.getsockname(), service, stopping)
        stopping.set()
        await serving
