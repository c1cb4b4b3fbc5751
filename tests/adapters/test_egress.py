"""The egress proxy: what it dials, what it passes on, and what it refuses."""

from __future__ import annotations

import asyncio
import errno
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import uvloop

from tests.nameserver import NameServer
from tests.origin import Origin, Page, RawOrigin, Talk, cut, endless
from tests.wire import client_tls, server_tls
from tocsin.adapters.http import egress
from tocsin.adapters.http.addresses import AddressPolicy, NameCache
from tocsin.adapters.http.egress import EgressBudget, EgressProxy, EgressRefusal

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
LOCAL = ("127.0.0.1/32",)


@dataclass(slots=True)
class Way:
    """A proxy in use.

    address  where it listens
    noted    what it reported
    """

    address: tuple[str, int]
    budget: EgressBudget
    noted: list[EgressRefusal] = field(default_factory=list)

    async def talk(self, *pieces: bytes) -> bytes:
        """Send these, and read to the end."""
        reader, writer = await asyncio.open_connection(*self.address)
        for piece in pieces:
            writer.write(piece)
        said = await reader.read()
        writer.close()
        return said

    async def status(self, *pieces: bytes) -> int:
        return int((await self.talk(*pieces)).split(b" ")[1])


@asynccontextmanager
async def way_out(*allow: str, names: NameServer | None = None, **limits: Any) -> AsyncIterator[Way]:
    budget = EgressBudget(**{"connections": 100, "wire_bytes": 2**20, "connection_s": 20.0} | limits)
    listener = socket.create_server(("127.0.0.1", 0))
    way = Way(listener.getsockname(), budget)
    cache = NameCache(2, servers=[names.address] if names is not None else ["127.0.0.1:1"])
    proxy = EgressProxy(cache, AddressPolicy(allow), way.noted.append)
    with listener:
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(proxy.serve(listener, budget))
            yield way
            serving.cancel()
    await cache.close()


def get(url: str, *fields: str) -> bytes:
    return "\r\n".join((f"GET {url} HTTP/1.1", "Host: elsewhere.example", *fields, "", "")).encode()


def post(url: str, body: bytes, *fields: str) -> bytes:
    head = get(url, f"Content-Length: {len(body)}", *fields).replace(b"GET", b"POST", 1)
    return head + body


async def test_a_request_reaches_an_allowed_address_and_its_answer_comes_back() -> None:
    async with RawOrigin(OK) as origin, way_out(*LOCAL) as way:
        said = await way.talk(get(origin.url("/a?b=1"), "X-Own: 1", "Proxy-Authorization: Basic eA==", "Upgrade: h2c"))

    assert said.startswith(b"HTTP/1.1 200 OK\r\n")
    assert said.endswith(b"\r\n\r\nhello")
    first, *fields = origin.heads[0][:-4].decode().split("\r\n")
    assert first == "GET /a?b=1 HTTP/1.1"
    assert fields == [f"Host: 127.0.0.1:{origin.port}", "X-Own: 1", "Connection: close"]
    assert way.noted == []


class ShortOfFiles(socket.socket):
    """A listening socket whose first connection cannot be accepted: the process may open no more files."""

    has_failed = False

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.has_failed:
            self.has_failed = True
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def test_a_connection_that_comes_while_files_are_short_is_served_when_they_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(egress, "_AGAIN_S", 0.0)
    noted: list[EgressRefusal] = []
    cache = NameCache(2, servers=["127.0.0.1:1"])
    proxy = EgressProxy(cache, AddressPolicy(LOCAL), noted.append)
    budget = EgressBudget(connections=100, wire_bytes=2**20, connection_s=20.0)
    with ShortOfFiles(fileno=socket.create_server(("127.0.0.1", 0)).detach()) as listener:
        async with RawOrigin(OK) as origin, asyncio.TaskGroup() as group:
            serving = group.create_task(proxy.serve(listener, budget))
            said = await Way(listener.getsockname(), budget).talk(get(origin.url()))
            serving.cancel()
    await cache.close()

    assert said.endswith(b"hello")
    assert ["short of files" in refusal.reason for refusal in noted] == [True]


async def test_connections_are_closed_on_both_sides_after_one_answer() -> None:
    answer = b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=9\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(answer) as origin, way_out(*LOCAL) as way:
        said = await way.talk(get(origin.url(), "Connection: keep-alive, X-Hop", "X-Hop: 1", "Keep-Alive: 5"))

    assert said == b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    assert b"Connection: close\r\n\r\n" in origin.heads[0]
    assert b"keep-alive" not in origin.heads[0].lower()
    assert b"X-Hop" not in origin.heads[0]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "localhost",
        "LOCALHOST.",
        "private.example",
    ],
)
@pytest.mark.parametrize("method", ["GET", "CONNECT"])
async def test_a_refused_address_is_not_dialled_however_it_is_written(host: str, method: str) -> None:
    async with RawOrigin(OK) as canary, NameServer() as names:
        names.names["private.example"] = ["127.0.0.1"]
        async with way_out(names=names) as way:
            target = f"http://{host}:{canary.port}/" if method == "GET" else f"{host}:{canary.port}"
            said = await way.talk(f"{method} {target} HTTP/1.1\r\n\r\n".encode())

    # Where the resolver knows no such name, there is no address to refuse.
    assert said.split(b" ")[1] in {b"403", b"502"}
    assert said.endswith(b"\r\n\r\n")
    assert canary.connections == 0
    assert len(way.noted) == 1


async def test_a_refusal_names_the_host_and_the_mend_for_the_operator_alone() -> None:
    async with RawOrigin(OK) as canary, way_out() as way:
        said = await way.talk(get(canary.url("/secret")))

    assert said == b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    (refusal,) = way.noted
    assert refusal.host == "127.0.0.1"
    assert 'allow = ["127.0.0.0/8"]' in refusal.reason
    assert "secret" not in refusal.reason
    assert way.budget.refusals == way.noted


async def test_a_name_is_judged_by_the_address_that_is_dialled() -> None:
    async with RawOrigin(OK) as origin, NameServer() as names:
        names.names["site.example"] = ["127.0.0.1"]
        url = f"http://site.example:{origin.port}/"
        async with way_out(*LOCAL, names=names) as way:
            before = await way.status(get(url))
        # The name is bound to another address between two look-ups.
        names.names["site.example"] = ["127.0.0.2"]
        async with way_out(*LOCAL, names=names) as way:
            after = await way.status(get(url))
        # Of several addresses the allowed one is dialled.
        names.names["site.example"] = ["127.0.0.2", "127.0.0.1"]
        async with way_out(*LOCAL, names=names) as way:
            mixed = await way.status(get(url))

    assert (before, after, mixed) == (200, 403, 200)
    assert origin.heads[0].startswith(f"GET / HTTP/1.1\r\nHost: site.example:{origin.port}\r\n".encode())


async def test_a_redirect_to_a_refused_address_ends_at_the_proxy() -> None:
    async with RawOrigin(OK) as canary:
        there = f"http://127.0.0.2:{canary.port}/"
        moved = f"HTTP/1.1 302 Found\r\nLocation: {there}\r\nContent-Length: 0\r\n\r\n".encode()
        async with RawOrigin(moved) as origin, way_out(*LOCAL) as way:
            first = await way.talk(get(origin.url()))
            second = await way.status(get(there))

    assert there.encode() in first
    assert second == 403
    assert canary.connections == 0


async def test_the_proxys_own_port_is_no_way_round() -> None:
    async with way_out() as way:
        port = way.address[1]
        inner = f"GET http://127.0.0.1:{port}/ HTTP/1.1\r\n\r\n".encode()
        statuses = [await way.status(inner), await way.status(f"CONNECT 127.0.0.1:{port} HTTP/1.1\r\n\r\n".encode())]

    assert statuses == [403, 403]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n", 400),
        (b"GET https://{host}/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://user@{host}/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://{host}/#part HTTP/1.1\r\n\r\n", 400),
        (b"GET http://{host}\\@127.0.0.2/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/2\r\n\r\n", 400),
        (b"GET  http://{host}/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://127.0.0.1:0/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://127.0.0.1:99999/ HTTP/1.1\r\n\r\n", 400),
        (b"GET http://[fe80::1%25lo]/ HTTP/1.1\r\n\r\n", 400),
        (b"CONNECT 127.0.0.1 HTTP/1.1\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/1.1\r\nA: 1\r\n folded\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/1.1\r\nA : 1\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/1.1\r\nA: 1\rB: 2\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/1.1\r\nA: 1\nB: 2\r\n\r\n", 400),
        (b"GET http://{host}/ HTTP/1.1\r\nA: \0\r\n\r\n", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\nx", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: +1\r\n\r\nx", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: 0x1\r\n\r\nx", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: 1_0\r\n\r\nx", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length:\r\n\r\n", 400),
        (b"POST http://{host}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST http://{host}/ HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
        (b"POST http://{host}/ HTTP/1.1\r\ntransfer-encoding: \tidentity\r\n\r\n", 411),
        (b"GET http://{host}/ HTTP/1.1\r\nA: " + b"x" * 70_000 + b"\r\n\r\n", 431),
    ],
)
async def test_a_request_that_two_readers_could_read_differently_is_refused(asked: bytes, status: int) -> None:
    async with RawOrigin(OK) as origin, way_out(*LOCAL) as way:
        said = await way.talk(asked.replace(b"{host}", f"127.0.0.1:{origin.port}".encode()))

    assert int(said.split(b" ")[1]) == status
    assert said.endswith(b"\r\n\r\n")
    assert origin.connections == 0


async def drop(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()


def read_body(count: int, received: list[bytes], then: bytes = OK) -> Talk:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readexactly(count))
        writer.write(then)
        await writer.drain()
        writer.write_eof()
        received.append(await reader.read())

    return talk


async def test_exactly_the_announced_bytes_of_a_body_are_passed_on() -> None:
    received: list[bytes] = []
    async with RawOrigin(read_body(4, received)) as origin, way_out(*LOCAL) as way:
        said = await way.talk(post(origin.url(), b"body"))

    assert said.endswith(b"hello")
    assert received == [b"body", b""]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_second_request_on_a_connection_is_never_passed_on(method: str) -> None:
    received: list[bytes] = []
    async with RawOrigin(OK) as canary:
        talk = read_body(4 if method == "POST" else 0, received)
        async with RawOrigin(talk) as origin, way_out(*LOCAL) as way:
            first = post(origin.url(), b"body") if method == "POST" else get(origin.url())
            with suppress(ConnectionError):
                await way.talk(first, get(f"http://127.0.0.2:{canary.port}/second"))

    assert b"second" not in b"".join((*received, *origin.heads))
    assert canary.connections == 0
    assert ["more than the one request" in each.reason for each in way.noted] == [True]


async def test_a_body_is_read_while_the_answer_is_awaited_and_an_early_answer_is_passed_on() -> None:
    body = b"x" * 500_000
    received: list[bytes] = []
    early = b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n"
    async with RawOrigin(read_body(len(body), received), read_body(1, [], early)) as origin, way_out(*LOCAL) as way:
        waited = await way.status(post(origin.url(), body))
        reader, writer = await asyncio.open_connection(*way.address)
        writer.write(post(origin.url(), body)[:-1])
        answered = await reader.read()
        writer.close()

    assert waited == 200
    assert len(received[0]) == 500_000
    assert answered.startswith(b"HTTP/1.1 413")


async def test_interim_answers_are_passed_on_and_a_switch_of_protocols_is_not() -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
    async with RawOrigin(b"HTTP/1.1 100 Continue\r\n\r\n" + OK, switching) as origin, way_out(*LOCAL) as way:
        first = await way.talk(post(origin.url(), b"body", "Expect: 100-continue"))
        with suppress(ConnectionError):
            await way.talk(get(origin.url(), "Connection: upgrade", "Upgrade: x"))

    assert b"100 Continue" in first
    assert first.endswith(b"hello")
    assert ["another protocol" in each.reason for each in way.noted] == [True]


@pytest.mark.parametrize(
    "answer", [b"220 mail.example ESMTP\r\n\r\n", b"HTTP/1.1 200 OK\r\nA: " + b"x" * 70_000 + b"\r\n\r\n", cut, drop]
)
async def test_what_is_no_answer_of_http_becomes_a_502(answer: bytes | Talk) -> None:
    async with RawOrigin(answer) as origin, way_out(*LOCAL) as way:
        status = await way.status(get(origin.url()))

    assert status == 502
    assert len(way.noted) == 1


async def test_a_closed_port_becomes_a_502_that_names_the_host() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    async with way_out(*LOCAL) as way:
        status = await way.status(get(f"http://127.0.0.1:{port}/"))

    assert (status, way.noted[0].host) == (502, "127.0.0.1")


async def test_a_tunnel_passes_tls_on_unread() -> None:
    async with Origin(tls=server_tls()) as origin, way_out(*LOCAL) as way:
        origin.pages["/"] = Page("sealed")
        reader, writer = await asyncio.open_connection(*way.address)
        writer.write(f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n\r\n".encode())
        opened = await reader.readuntil(b"\r\n\r\n")
        await writer.start_tls(client_tls(), server_hostname="localhost")
        writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        said = await reader.read()
        writer.close()

    assert opened.startswith(b"HTTP/1.1 200")
    assert said.endswith(b"sealed")


@pytest.mark.parametrize(
    ("limits", "statuses"),
    [
        ({"connections": 1}, [200, 403]),
        ({"connections": 0}, [403, 403]),
        ({"ports": frozenset((80, 443))}, [403, 403]),
        ({"hosts": set()}, [403, 403]),
        ({"hosts": {"127.0.0.1"}}, [200, 200]),
        ({"wire_bytes": 200}, [200, 403]),
    ],
)
async def test_a_budget_bounds_what_a_client_may_do(limits: dict[str, Any], statuses: list[int]) -> None:
    async with RawOrigin(OK) as origin, way_out(*LOCAL, **limits) as way:
        found = [await way.status(get(origin.url())) for _ in statuses]

    assert found == statuses


async def test_a_host_is_dialled_once_a_request_to_it_was_announced() -> None:
    async with RawOrigin(OK) as origin, way_out(*LOCAL, hosts=set()) as way:
        before = await way.status(get(origin.url()))
        assert way.budget.hosts is not None
        way.budget.hosts.add("127.0.0.1")
        after = await way.status(get(origin.url()))

    assert (before, after) == (403, 200)


@pytest.mark.parametrize("first", ["plain", "tunnel"])
async def test_an_answer_without_end_is_cut_off_and_not_taken_for_a_whole_one(first: str) -> None:
    flood = endless(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65_536)
    async with RawOrigin(flood) as origin, way_out(*LOCAL, wire_bytes=300_000) as way:
        asked = get(origin.url())
        if first == "tunnel":
            asked = f"CONNECT 127.0.0.1:{origin.port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n".encode()
        with pytest.raises(ConnectionResetError):
            await way.talk(asked)

    assert ["more bytes" in each.reason for each in way.noted] == [True]


async def test_a_connection_ends_at_its_deadline() -> None:
    async with RawOrigin(_never) as origin, way_out(*LOCAL, connection_s=0.05) as way:
        with suppress(ConnectionError):
            assert await way.talk(get(origin.url())) == b""


async def _never(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def test_connections_under_way_end_with_the_proxy() -> None:
    async with RawOrigin(_never) as origin:
        async with way_out(*LOCAL) as way:
            reader, writer = await asyncio.open_connection(*way.address)
            writer.write(get(origin.url()))
            await origin.asked.wait()
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()


async def test_a_client_that_hangs_up_ends_the_request() -> None:
    gone = asyncio.Event()

    async def wait(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read()
        gone.set()

    talk: Callable[..., Awaitable[None]] = wait
    async with RawOrigin(talk) as origin, way_out(*LOCAL) as way:
        _, writer = await asyncio.open_connection(*way.address)
        writer.write(get(origin.url()))
        await origin.asked.wait()
        writer.close()
        await gone.wait()

    assert way.noted == []


def test_a_client_that_resets_its_connection_ends_no_other() -> None:
    """On the loop that the processes of a service run on."""

    async def reset_and_ask() -> int:
        async with RawOrigin(_never, OK) as origin, way_out(*LOCAL) as way:
            with socket.create_connection(way.address) as client:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                client.send(get(origin.url()))
                await origin.asked.wait()
            return await way.status(get(origin.url()))

    assert uvloop.run(reset_and_ask()) == 200
