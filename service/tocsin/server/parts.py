"""The collaborators that every route is given."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from msgspec import Struct, field

from tocsin.model.records.pages import Modes
from tocsin.ports import Chance, Clock, Service, Store, Telemetry


class Parts(Struct, frozen=True):
    """The collaborators of the HTTP server.

    stopping  set at a stop of the service; streams end then
    """

    store: Store
    service: Service
    clock: Clock
    chance: Chance
    telemetry: Telemetry
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    async def modes(self) -> Modes:
        """Read which mode is in force for each page."""
        return Modes(self.service.settings().pages.mode, *await self.store.overrides())


async def parts(request: Request) -> Parts:
    """Return the parts of this application."""
    found = request.app.state.parts
    assert isinstance(found, Parts)  # noqa: S101 - `make_app` sets it
    return found


Given = Annotated[Parts, Depends(parts)]
