"""What is done for those who do not wait for their answer."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING

import pytest

from tests.fakes import settle
from tests.server.diary import AT, got
from tests.server.rig import OnThread
from tocsin.server.serving import Front, serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.server.api.talk import Api
    from tocsin.server.extraction import Extraction


@pytest.fixture
async def address(api: Api) -> AsyncIterator[tuple[str, int]]:
    """Where the interface is had on a real socket."""
    bound, front = socket.create_server(("127.0.0.1", 0)), Front()
    front.open(api.rig.app)
    stopping = api.rig.app.state.parts.stopping
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve([bound], front, stopping, api.rig.telemetry))
        yield bound.getsockname()
        stopping.set()
        await serving


@pytest.mark.usefixtures("desk")
async def test_nothing_is_converted_for_whoever_has_hung_up_when_the_turn_comes(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, convert = [], asyncio.Event(), OnThread.do

    async def slow(aside: OnThread, work: bytes) -> bytes:
        begun.append(work)
        await go_on.wait()
        return await convert(aside, work)

    await got(api, "links")
    monkeypatch.setattr(OnThread, "do", slow)
    shared: Extraction = api.rig.app.state.extraction
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        waited_for = group.create_task(got(api, "turtle"))
        while not begun:
            await settle(1)
        _, writer = await asyncio.open_connection(*address)
        writer.write(f"GET /api/v1{AT}/ntriples HTTP/1.1\r\nHost: {address[0]}:{address[1]}\r\n\r\n".encode())
        while shared._waiting < 2:
            await settle(1)
        writer.close()
        await writer.wait_closed()
        await settle()  # the server sees it
        go_on.set()
        while shared._waiting:
            await settle(1)

    assert (waited_for.result().status_code, len(begun)) == (200, 1)
    abandoned = [each for each in api.rig.telemetry.happenings if each.values.get("path", "").endswith("/ntriples")]
    assert [each.values["status"] for each in abandoned] == [499]
