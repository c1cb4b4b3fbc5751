"""Connections that are held to hurt: by saying nothing, and by taking nothing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.server.test_connections import ASK, edge, hello
from tocsin.server import connections

if TYPE_CHECKING:
    import pytest
    from starlette.types import Receive, Scope, Send


async def gone_of(receive: Receive) -> None:
    await receive()


async def test_connections_that_say_nothing_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    async with edge() as served:
        served.front.open(hello)
        held = [await asyncio.open_connection("127.0.0.1", served.port) for _ in range(3)]
        answers = [await served.say(ASK) for _ in range(2)]
        first = await held[0][0].read()
        for _, writer in held:
            writer.close()

    assert all(answer.startswith(b"HTTP/1.1 200") for answer in answers)
    assert first == b""


async def test_who_takes_nothing_of_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STUCK_S", 0.05)
    is_over = asyncio.Event()

    async def endless(_scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await receive()
        async with asyncio.TaskGroup() as group:
            gone = group.create_task(gone_of(receive))
            while not gone.done():
                await send({"type": "http.response.body", "body": b"x" * 2**16, "more_body": True})
        is_over.set()

    async with edge() as served:
        served.front.open(endless)
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(ASK)
        await is_over.wait()
        writer.close()
