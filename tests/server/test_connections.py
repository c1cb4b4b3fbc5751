"""The HTTP edge on real sockets of loopback: heads, slow and hostile clients, start and stop."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Receive, Scope, Send

from tests.fakes import RecordingTelemetry
from tocsin.errors import SettingsError
from tocsin.server import connections, serving
from tocsin.server.address import bind, is_loopback, local_address, parse_listen, url_of
from tocsin.server.kept_items import is_known, to_header
from tocsin.server.problems import PROBLEM

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


TAG = '"5d7321a05bce10b2"'


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (TAG, True),
        (f"W/{TAG}", True),  # behind nginx, which compresses
        ('"5d7321a05bce10b2-gzip"', True),  # behind Apache
        ('W/"5d7321a05bce10b2-br"', True),
        (f'"other-gzip", {TAG}', True),
        ("*", True),
        ('"other"', False),
        ('"5d7321a05bce10b2-other"', False),
        ('"-gzip5d7321a05bce10b2"', False),
        ("", False),
    ],
)
def test_a_tag_is_known_whatever_a_proxy_that_compresses_made_of_it(said: str, *, known: bool) -> None:
    assert is_known(said, None, TAG, None) is known
    assert is_known(said, None, f"W/{TAG}", None) is known


def test_where_a_reader_says_a_tag_its_date_does_not_count() -> None:
    assert not is_known('"other"', "Sun, 22 Nov 2026 07:00:00 GMT", TAG, 1)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ('write <meta content="…"> into it', 'write <meta content="..."> into it'),
        ("“Jazz” \N{EN DASH} it\N{RIGHT SINGLE QUOTATION MARK}s", '"Jazz" - it\'s'),
        ("Jürgen", "J%C3%BCrgen"),
        ("100 % of 5%20", "100 % of 5%2520"),
        ("a\r\nX-Evil: 1\t\x00b", "a X-Evil: 1 b"),
        ("left\N{RIGHT-TO-LEFT OVERRIDE}right", "left%E2%80%AEright"),
        ("half \ud83d", "half %3F"),
    ],
)
def test_what_a_header_cannot_have_can_be_read_all_the_same(text: str, written: str) -> None:
    assert to_header(text) == written


@given(st.text())
def test_any_text_is_a_header_of_one_line_that_is_not_too_long(text: str) -> None:
    written = to_header(text)

    assert written.isascii()
    assert written.isprintable()
    assert len(written) <= 500
    assert written == written.strip()


@given(st.text(st.characters(categories=["L", "N"]), max_size=50))
def test_letters_come_back_as_they_were(text: str) -> None:
    assert unquote(to_header(text)) == text


def test_no_letter_is_cut_in_half() -> None:
    assert to_header("x" + "ü" * 200) == "x" + "%C3%BC" * 83
