"""What every route is given."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Depends, Request
from msgspec import Struct, field

from tocsin.ports import Chance, Clock, Service, Store, Telemetry


class Parts(Struct, frozen=True):
    """What the HTTP edge stands on.

    stopping  set as soon as the service is told to end: whoever streams ends then
    """

    store: Store
    service: Service
    clock: Clock
    chance: Chance
    telemetry: Telemetry
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


async def parts(request: Request) -> Parts:
    """Give what the application was made with."""
    found = request.app.state.parts
    assert isinstance(found, Parts)  # noqa: S101 - `make_app` sets it
    return found


Given = Annotated[Parts, Depends(parts)]
