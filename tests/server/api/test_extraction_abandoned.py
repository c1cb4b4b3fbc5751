"""Who asks for a document at the same time, and who does not wait for it, on real sockets."""

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


_LONG_S = 300
"""A machine that is so slow is broken."""


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


class Held:
    """Conversions that wait until they are let go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[bytes] = []
        self._go_on, self._convert = asyncio.Event(), OnThread().do
        monkeypatch.setattr(OnThread, "do", self._do)

    async def has_begun(self) -> None:
        """Return as soon as something is converted."""
        while not self.begun:
            await settle(1)

    def let_go(self) -> None:
        self._go_on.set()

    async def _do(self, work: bytes) -> bytes:
        self.begun.append(work)
        await self._go_on.wait()
        return await self._convert(work)


async def ask(address: tuple[str, int], form: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for a form on a connection of its own."""
    reader, writer = await asyncio.open_connection(*address)
    lines = f"GET /api/v1{AT}/{form} HTTP/1.1", f"Host: {address[0]}:{address[1]}", "Connection: close"
    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode())
    return reader, writer


async def hang_up(writer: asyncio.StreamWriter) -> None:
    writer.close()
    await writer.wait_closed()


async def are_waiting(shared: Extraction, *wanted: int) -> None:
    """Return as soon as so many wait for each conversion that is under way or due, in the order of their turns."""
    while tuple(shared.converting.wanted.values()) != wanted:
        await settle(1)


@pytest.mark.usefixtures("desk")
async def test_whoever_hangs_up_gives_their_place_up_at_once(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await got(api, "links")
    held, shared = Held(monkeypatch), extraction_of(api)
    async with asyncio.timeout(_LONG_S), asyncio.TaskGroup() as group:
        waited_for = group.create_task(got(api, "turtle"))
        await held.has_begun()
        _, writer = await ask(address, "ntriples")
        await are_waiting(shared, 1, 1)
        await hang_up(writer)
        await are_waiting(shared, 1)
        while "http.answered" not in names_of(api, "/ntriples"):
            await settle(1)
        is_first_still_held = not waited_for.done()
        held.let_go()

    assert (is_first_still_held, waited_for.result().status_code, len(held.begun)) == (True, 200, 1)
    abandoned = [each for each in api.rig.telemetry.happenings if each.values.get("path", "").endswith("/ntriples")]
    assert [each.values["status"] for each in abandoned] == [499]


@pytest.mark.usefixtures("desk")
async def test_at_a_stop_those_who_wait_are_told_so_at_once(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await got(api, "links")
    held, shared = Held(monkeypatch), extraction_of(api)
    async with asyncio.timeout(_LONG_S), asyncio.TaskGroup() as group:
        waited_for = group.create_task(got(api, "turtle"))
        await held.has_begun()
        reader, writer = await ask(address, "ntriples")
        await are_waiting(shared, 1, 1)
        api.rig.app.state.parts.stopping.set()
        answer = await reader.read()
        held.let_go()
        await hang_up(writer)

    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"urn:tocsin:problem:stopping" in answer
    assert waited_for.result().status_code == 200


@pytest.mark.usefixtures("desk")
async def test_those_who_want_the_same_have_it_though_the_first_of_them_hangs_up(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await got(api, "links")
    held, shared = Held(monkeypatch), extraction_of(api)
    async with asyncio.timeout(_LONG_S), asyncio.TaskGroup() as group:
        before = group.create_task(got(api, "turtle"))
        await held.has_begun()
        _, first = await ask(address, "ntriples")
        await are_waiting(shared, 1, 1)
        reader, second = await ask(address, "ntriples")
        await are_waiting(shared, 1, 2)
        await hang_up(first)
        await are_waiting(shared, 1, 1)
        held.let_go()
        answer = await reader.read()
        await hang_up(second)

    assert before.result().status_code == 200
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert answer.rstrip().endswith(b".")
    assert len(held.begun) == 2


@pytest.mark.usefixtures("desk")
async def test_what_was_begun_is_there_for_whoever_comes_back(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    await got(api, "links")
    held, shared = Held(monkeypatch), extraction_of(api)
    async with asyncio.timeout(_LONG_S):
        _, writer = await ask(address, "turtle")
        await held.has_begun()
        await hang_up(writer)
        held.let_go()
        await are_waiting(shared)
        again = await got(api, "turtle")

    assert (again.status_code, len(held.begun)) == (200, 1)


@pytest.mark.usefixtures("desk")
async def test_a_hundred_subscribers_who_come_at_once_all_have_the_document_which_is_made_once(
    api: Api, address: tuple[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    held, shared = Held(monkeypatch), None
    api.rig.service.held.clear()
    async with asyncio.timeout(_LONG_S):
        asking = [await ask(address, "turtle") for _ in range(100)]
        while shared is None or sum(shared.receiving.wanted.values()) < len(asking):
            await settle(1)
            shared = getattr(api.rig.app.state, "extraction", None)
        api.rig.service.held.set()
        await are_waiting(shared, len(asking))
        held.let_go()
        answers = [await reader.read() for reader, _ in asking]
        for _, writer in asking:
            await hang_up(writer)

    assert {answer.partition(b"\r\n")[0] for answer in answers} == {b"HTTP/1.1 200 OK"}
    assert len({answer.partition(b"\r\n\r\n")[2] for answer in answers}) == 1
    assert (api.rig.service.asked, len(held.begun)) == ([1], 1)


def extraction_of(api: Api) -> Extraction:
    shared: Extraction = api.rig.app.state.extraction
    return shared


def names_of(api: Api, path: str) -> list[str]:
    """What was told of requests for this path."""
    return [each.name for each in api.rig.telemetry.happenings if each.values.get("path", "").endswith(path)]
