"""The HTTP edge on real sockets of loopback: heads that are too long or too slow, a start, a stop."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from tests.fakes import RecordingTelemetry
from tocsin.errors import SettingsError
from tocsin.server import connections, serving
from tocsin.server.address import bind, is_loopback, local_address, parse_listen, url_of
from tocsin.server.problems import PROBLEM

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.types import Receive, Scope, Send


PATIENCE_S = 60


class Heard(asyncio.Protocol):
    """What a connection says until it ends; a reset behind the answer takes nothing from it.

    Whoever is refused before all was read is cut off: what was sent meanwhile is answered by a reset.
    """

    def __init__(self) -> None:
        self.answer = b""
        self.is_over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.answer += data

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_over.set()


class Edge:
    """A front that is served, and how to speak with it."""

    def __init__(self, port: int, front: serving.Front, stopping: asyncio.Event, telemetry: RecordingTelemetry) -> None:
        self.port, self.front, self.stopping, self.telemetry = port, front, stopping, telemetry
        self.is_over = asyncio.Event()

    async def say(self, *pieces: bytes) -> bytes:
        """Send these bytes, and read until the connection is closed."""
        loop = asyncio.get_running_loop()
        transport, heard = await loop.create_connection(Heard, "127.0.0.1", self.port)
        transport.writelines(pieces)
        async with asyncio.timeout(PATIENCE_S):
            await heard.is_over.wait()
        return heard.answer


@asynccontextmanager
async def edge() -> AsyncIterator[Edge]:
    sockets = bind("127.0.0.1", 0)
    # From now on whoever comes waits until the server takes it.
    sockets[0].listen()
    made = Edge(sockets[0].getsockname()[1], serving.Front(), asyncio.Event(), RecordingTelemetry())

    async def serve() -> None:
        await serving.serve(sockets, made.front, made.stopping, made.telemetry)
        made.is_over.set()

    async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
        group.create_task(serve())
        yield made
        made.stopping.set()


async def hello(_scope: Scope, _receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


ASK = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


async def test_before_the_application_is_there_the_service_says_that_it_starts() -> None:
    async with edge() as served:
        alive = await served.say(ASK.replace(b"GET /", b"GET /healthz"))
        ready = await served.say(ASK.replace(b"GET /", b"GET /readyz"))
        person = await served.say(ASK.replace(b"Host: x", b"Host: x\r\nAccept: text/html"))
        served.front.open(hello)
        then = await served.say(ASK)

    assert alive.startswith(b"HTTP/1.1 200")
    assert ready.startswith(b"HTTP/1.1 503")
    assert b"refresh: 2" in person
    assert b"<h1>Tocsin is starting</h1>" in person
    assert then.endswith(b"hello")


@pytest.mark.parametrize("accept", [b"", b"\r\nAccept: text/html"])
async def test_before_the_application_is_there_the_api_says_so_in_a_problem_document(accept: bytes) -> None:
    async with edge() as served:
        answer = await served.say(ASK.replace(b"GET /", b"GET /api/v1/pages").replace(b"Host: x", b"Host: x" + accept))

    head, _, body = answer.partition(b"\r\n\r\n")
    problem = json.loads(body)
    assert head.startswith(b"HTTP/1.1 503")
    assert f"content-type: {PROBLEM}".encode() in head
    assert b"retry-after: 1" in head
    assert b"refresh" not in head
    assert (problem["type"], problem["status"]) == ("urn:tocsin:problem:starting", 503)
    assert problem["title"]
    assert "Retry-After" in problem["mend"]


async def test_a_url_that_is_too_long_is_refused() -> None:
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(b"GET /" + b"x" * connections.MOST_URL + b" HTTP/1.1\r\nHost: x\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 414")


@pytest.mark.parametrize(
    "headers",
    [
        b"X: " + b"x" * connections.MOST_HEADERS + b"\r\n",
        b"".join(b"X-%d: x\r\n" % number for number in range(connections.MOST_FIELDS + 1)),
    ],
)
async def test_headers_that_are_too_many_or_too_long_are_refused(headers: bytes) -> None:
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(b"GET / HTTP/1.1\r\nHost: x\r\n" + headers + b"\r\n")

    assert answer.startswith(b"HTTP/1.1 431")


@pytest.mark.parametrize("begun", [b"", b"G", b"GET / HTTP/1.1\r\nHost: x\r\nX-A: "])
async def test_a_head_that_does_not_come_is_not_waited_for(begun: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_S", 0.05)
    async with edge() as served:
        served.front.open(hello)
        answer = await served.say(begun)

    assert answer.startswith(b"HTTP/1.1 408")


async def test_more_connections_than_there_is_room_for_are_sent_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 1)
    async with edge() as served:
        entered = asyncio.Event()

        async def lasting(scope: Scope, _receive: Receive, _send: Send) -> None:
            # Unknown clients give way to each other.
            scope[connections.CONNECTION].is_known = True
            entered.set()
            await asyncio.Event().wait()

        served.front.open(lasting)
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(ASK)
        await entered.wait()
        answer = await served.say(ASK)
        writer.close()

    assert answer.startswith(b"HTTP/1.1 503")


async def test_what_is_no_http_is_refused() -> None:
    async with edge() as served:
        answer = await served.say(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 this is TLS\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400")


async def test_a_request_under_way_at_a_stop_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "GRACE_S", PATIENCE_S)
    entered, go = asyncio.Event(), asyncio.Event()

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        entered.set()
        await go.wait()
        await hello(scope, receive, send)

    async with edge() as served, asyncio.TaskGroup() as group:
        served.front.open(slow)
        asking = group.create_task(served.say(ASK))
        await entered.wait()
        served.stopping.set()
        go.set()

    assert asking.result().endswith(b"hello")


async def test_a_request_that_does_not_end_is_given_up_within_the_grace_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "GRACE_S", 0)
    entered = asyncio.Event()

    async def endless(_scope: Scope, _receive: Receive, _send: Send) -> None:
        entered.set()
        await asyncio.Event().wait()

    async with edge() as served, asyncio.TaskGroup() as group:
        served.front.open(endless)
        group.create_task(served.say(ASK))
        await entered.wait()
        served.stopping.set()
        await served.is_over.wait()


async def test_a_crash_in_a_route_is_told_and_disturbs_nobody_else() -> None:
    async def crashing(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/crash":
            raise ZeroDivisionError("here")
        await hello(scope, receive, send)

    async with edge() as served:
        served.front.open(crashing)
        crashed = await served.say(ASK.replace(b"GET /", b"GET /crash"))
        then = await served.say(ASK)

    assert crashed.startswith(b"HTTP/1.1 500")
    assert then.endswith(b"hello")
    (told,) = [each for each in served.telemetry.happenings if each.name == "http.failed"]
    assert told.values["error"] == "ZeroDivisionError: here"
    assert "crashing" in told.values["where"]


def test_a_port_in_use_says_so_and_the_mend() -> None:
    (taken,) = bind("127.0.0.1", 0)
    taken.listen()
    port = taken.getsockname()[1]

    with pytest.raises(SettingsError, match=rf"http\.listen: 127\.0\.0\.1:{port} .*another Tocsin"):
        bind("127.0.0.1", port)
    taken.close()


def test_an_address_of_another_machine_says_so() -> None:
    with pytest.raises(SettingsError, match=r"http\.listen: 192\.0\.2\.1:8330"):
        bind("192.0.2.1", 8330)


@pytest.mark.parametrize(
    ("listen", "bound", "asked"),
    [
        ("127.0.0.1:8330", ("127.0.0.1", 8330), ("127.0.0.1", 8330)),
        ("0.0.0.0:80", ("0.0.0.0", 80), ("127.0.0.1", 80)),
        ("[::]:80", ("::", 80), ("::1", 80)),
        ("localhost:1", ("localhost", 1), ("localhost", 1)),
    ],
)
def test_an_address_is_read_and_reached_from_this_machine(
    listen: str, bound: tuple[str, int], asked: tuple[str, int]
) -> None:
    assert (parse_listen(listen), local_address(listen)) == (bound, asked)
    assert is_loopback(asked[0])


def test_the_url_has_the_port_that_was_really_given() -> None:
    sockets = bind("127.0.0.1", 0)

    assert url_of(sockets, "0.0.0.0") == f"http://127.0.0.1:{sockets[0].getsockname()[1]}/"
    sockets[0].close()
