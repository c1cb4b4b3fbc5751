"""Connections that are held to hurt: by saying nothing, by taking nothing, by their number."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.server.test_connections import ASK, edge, hello
from tocsin.server import connections, serving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send

    from tests.server.test_connections import Edge

UPLOAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
KNOWN = ASK.replace(b"Connection: close", b"Authorization: yes")


async def gone_of(receive: Receive) -> None:
    await receive()


class Door:
    """An application that knows some clients, and takes a body before it answers.

    began  is released for each request
    """

    def __init__(self) -> None:
        self.began = asyncio.Semaphore(0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[connections.CONNECTION].is_known = any(name == b"authorization" for name, _ in scope["headers"])
        self.began.release()
        if scope["method"] == "POST":
            message = await receive()
            while message.get("more_body", False):
                message = await receive()
        await hello(scope, receive, send)


@asynccontextmanager
async def holding(served: Edge, door: Door, number: int, said: bytes, source: str) -> AsyncIterator[list[Held]]:
    """Hold connections, each with a request under way."""
    held = []
    for _ in range(number):
        reader, writer = await asyncio.open_connection("127.0.0.1", served.port, local_addr=(source, 0))
        writer.write(said)
        await door.began.acquire()
        held.append((reader, writer))
    try:
        yield held
    finally:
        for _, writer in held:
            writer.close()


Held = tuple[asyncio.StreamReader, asyncio.StreamWriter]


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


async def test_requests_of_unknown_clients_under_way_keep_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_UNKNOWN", 3)
    async with edge() as served:
        door = Door()
        served.front.open(door)
        async with holding(served, door, 3, UPLOAD, "127.0.0.1") as held:
            answer = await served.say(ASK)
            first = await held[0][0].read()

    assert answer.startswith(b"HTTP/1.1 200")
    assert first == b""


async def test_a_known_client_keeps_its_connection_whatever_unknown_ones_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_UNKNOWN", 2)
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 3)
    async with edge() as served:
        door = Door()
        served.front.open(door)
        async with holding(served, door, 1, KNOWN, "127.0.0.1") as known:
            await known[0][0].readuntil(b"hello")
            async with holding(served, door, 6, UPLOAD, "127.0.0.1"):
                known[0][1].write(KNOWN)
                again = await known[0][0].readuntil(b"hello")

    assert again.startswith(b"HTTP/1.1 200")


async def test_the_address_with_the_most_connections_gives_way_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_UNKNOWN", 4)
    async with edge() as served:
        door = Door()
        served.front.open(door)
        async with (
            holding(served, door, 1, UPLOAD, "127.0.0.2") as alone,
            holding(served, door, 9, UPLOAD, "127.0.0.3"),
        ):
            alone[0][1].write(b"a body, 9")
            answer = await alone[0][0].readuntil(b"hello")

    assert answer.startswith(b"HTTP/1.1 200")


async def test_who_takes_nothing_of_an_answer_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "UNKNOWN_STUCK_S", 0.05)
    monkeypatch.setattr(serving, "TICK_S", 0.02)
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


@pytest.mark.parametrize("is_known", [False, True])
async def test_a_closed_connection_does_not_wait_for_a_client_that_takes_nothing(
    monkeypatch: pytest.MonkeyPatch, *, is_known: bool
) -> None:
    monkeypatch.setattr(connections, "UNKNOWN_STUCK_S", 0.05)
    monkeypatch.setattr(connections, "STUCK_S", 0.05)
    monkeypatch.setattr(serving, "TICK_S", 0.02)
    lost, most = asyncio.Event(), 64 * 2**20

    async def large(scope: Scope, _receive: Receive, send: Send) -> None:
        scope[connections.CONNECTION].is_known = is_known
        headers = [(b"content-length", str(most).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"x" * most})

    def note(connection: connections.ClientConnection, exc: Exception | None) -> None:
        was(connection, exc)
        lost.set()

    was = connections.ClientConnection.connection_lost
    monkeypatch.setattr(connections.ClientConnection, "connection_lost", note)
    async with edge() as served:
        served.front.open(large)
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.transport.pause_reading()  # type: ignore[attr-defined]  # it is a transport of a socket
        writer.write(ASK)
        await lost.wait()
        writer.close()


async def test_a_body_that_was_refused_does_not_hold_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(UPLOAD + b"a")

    assert answer.count(b"HTTP/1.1 200") == 1
    assert answer.count(b"HTTP/1.1 408") == 1


async def test_requests_beyond_the_bound_on_one_connection_are_not_answered() -> None:
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(ASK.replace(b"Connection: close\r\n", b"") * 500)

    assert answer.count(b"HTTP/1.1 200") == connections.MOST_PIPELINED + 1
    assert answer.count(b"connection: close") == 1


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n",
        b"GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n",
        b"GET / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: a b\r\n",
        b"GET / HTTP/1.1\r\nHost: user@x\r\n",
        b"GET / HTTP/1.1\r\nHost: x/y\r\n",
        b"GET / HTTP/1.1\r\nHost: x, y\r\n",
        b"GET http://other/ HTTP/1.1\r\nHost: x\r\n",
        b"GET http://x:81/ HTTP/1.1\r\nHost: x\r\n",
        b"GET http://x HTTP/1.1\r\nHost: x\r\n",
        b"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n",
        b"CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n",
        b"GET * HTTP/1.1\r\nHost: x\r\n",
    ],
)
async def test_a_head_that_names_no_host_or_several_is_refused(head: bytes) -> None:
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(head + b"Connection: close\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    "head",
    [
        b"GET http://X:80/ HTTP/1.1\r\nHost: x\r\n",
        b"GET http://x/ HTTP/1.1\r\nHost: x:80\r\n",
        b"GET http://x:8330/ HTTP/1.1\r\nHost: x:8330\r\n",
        b"GET / HTTP/1.1\r\nHost: [::1]:8330\r\n",
        b"GET / HTTP/1.1\r\nHost:\r\n",
        b"GET / HTTP/1.0\r\n",
    ],
)
async def test_a_head_that_names_its_host_once_is_answered(head: bytes) -> None:
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(head + b"Connection: close\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("192.0.2.1", "::ffff:192.0.2.1", True),
        ("2001:db8::1", "2001:db8::2:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
    ],
)
def test_an_ipv6_network_counts_as_one_client(one: str, other: str, *, is_same: bool) -> None:
    assert (connections.network_of(one) == connections.network_of(other)) is is_same


@pytest.mark.parametrize(
    ("files", "most", "unknown"), [(None, 512, 192), (1_048_576, 512, 192), (1024, 128, 48), (64, 16, 6), (8, 16, 6)]
)
def test_clients_take_no_more_than_their_share_of_the_files_that_may_be_opened(
    files: int | None, most: int, unknown: int
) -> None:
    assert connections.bounds(files) == (most, unknown)
