"""The egress proxy: the only way out of a cell. It judges every address when it dials."""

from __future__ import annotations

import asyncio
import re
import socket
import struct
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import Final

import aiohappyeyeballs
from aiohappyeyeballs import AddrInfoType
from msgspec import Struct, field

from tocsin.adapters.http.addresses import AddressPolicy, AddressRefused, NameCache, judged
from tocsin.errors import Shortage, shortage_of

_MOST_HEAD_BYTES: Final = 64 * 1024
_PIECE_BYTES: Final = 64 * 1024
_CONNECT_S: Final = 10.0
# Source: RFC 8305, 5, "Connection Attempt Delay".
_NEXT_ADDRESS_S: Final = 0.25
# A client that still sends gets to read a refusal only if its bytes are read, too.
_LINGER_S: Final = 1.0
_MOST_REFUSALS: Final = 20
# Pause before a connection is accepted again while this process may open no more files.
_AGAIN_S: Final = 0.25
# Of one client at a time: each takes two open files. A browser opens 32 to a proxy, and some for WebSockets.
_MOST_OPEN: Final = 100
_ANY_ADDRESS: Final = AddressPolicy(("0.0.0.0/0", "::/0"))
# SO_LINGER with no time: what was not sent is dropped, and the other side sees a reset.
_RESET: Final = struct.pack("ii", 1, 0)

_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_HOST: Final = rb"(?P<host>\[[0-9A-Fa-f:.]+\]|[0-9A-Za-z._-]+)"
_CONNECT: Final = re.compile(rb"CONNECT " + _HOST + rb":(?P<port>[0-9]{1,5}) HTTP/1\.[01]")
_GET: Final = re.compile(
    rb"(?P<method>"
    + _TOKEN
    + rb") http://"
    + _HOST
    + rb'(?::(?P<port>[0-9]{1,5}))?(?P<path>[/?][!"$-~]*)? HTTP/1\.[01]'
)
_FIELD: Final = re.compile(rb"(?P<name>" + _TOKEN + rb"):[ \t]*(?P<value>[\t -~\x80-\xff]*)")
_LENGTH: Final = re.compile(rb"[0-9]{1,15}")
_STATUS: Final = re.compile(rb"HTTP/1\.[01] (?P<status>[1-9][0-9]{2})(?: [\t -~\x80-\xff]*)?")
# Source: RFC 9110, 7.6.1: they belong to one connection. Host is written anew, so that it names what was judged.
_NOT_PASSED_ON: Final = frozenset(
    (b"connection", b"host", b"keep-alive", b"proxy-authorization", b"proxy-connection", b"te", b"trailer", b"upgrade")
)
_INTERIM: Final = range(100, 200)
_SWITCHING: Final = 101
_PHRASES: Final = {
    400: "Bad Request",
    403: "Forbidden",
    411: "Length Required",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
}


class EgressRefusal(Struct, frozen=True):
    """A request that was refused, or that could not be carried out.

    host    may be empty; never the path, which may hold a secret
    reason  for the operator, with the mend; the client gets the status alone
    """

    status: int
    host: str
    reason: str


class EgressBudget(Struct):
    """What one client may do, until it gets another budget.

    connections   how many more it may open
    wire_bytes    how many more bytes may pass, both directions together
    connection_s  the deadline of each connection
    ports         that may be dialled; None: all
    hosts         that were announced, in lower case; None: all
    typed         a host that may have any address, because a person typed its URL; empty: none
    refusals      the first 20
    """

    connections: int
    wire_bytes: int
    connection_s: float
    ports: frozenset[int] | None = None
    hosts: set[str] | None = None
    typed: str = ""
    refusals: list[EgressRefusal] = field(default_factory=list)


class EgressProxy:
    """An HTTP proxy that dials only what the address policy lets it.

    Plain HTTP: one request a connection, exactly the announced bytes of its body, no upload in chunks. CONNECT opens a
    tunnel whose bytes are only counted.

    on_refused  is called with each refusal
    """

    def __init__(
        self, names: NameCache, policy: AddressPolicy, on_refused: Callable[[EgressRefusal], None] = lambda _: None
    ) -> None:
        self._names, self._policy, self._on_refused = names, policy, on_refused

    async def serve(self, listener: socket.socket, budget: EgressBudget) -> None:
        """Serve the connections to this socket until the task is cancelled, which ends all of them.

        listener  each client has one of its own: by it alone it is known who asks
        """
        listener.setblocking(False)  # noqa: FBT003 - the name of the method says it
        loop = asyncio.get_running_loop()
        free = asyncio.Semaphore(_MOST_OPEN)
        async with asyncio.TaskGroup() as group:
            while True:
                await free.acquire()
                try:
                    client, _ = await loop.sock_accept(listener)
                except OSError as exc:
                    short = shortage_of(exc)
                    why = exc.strerror if short is None else short
                    self._note(EgressRefusal(502, "", f"no connection can be accepted: {why}"), budget)
                    if short is None:
                        return
                    # A shortage passes; meanwhile connections wait in the socket's queue.
                    await asyncio.sleep(_AGAIN_S)
                    free.release()
                    continue
                serving = group.create_task(self._serve(client, budget), name="egress")
                serving.add_done_callback(lambda _: free.release())

    async def _serve(self, client: socket.socket, budget: EgressBudget) -> None:
        with suppress(OSError, EOFError, TimeoutError):
            async with asyncio.timeout(budget.connection_s), _opened(client) as (reader, writer):
                passage = _Passage(reader, writer, budget)
                try:
                    request = await passage.read_request()
                    upstream = await self._dial(request, budget)
                except _RefusedError as exc:
                    self._note(exc.refusal, budget)
                    await passage.refuse(exc.refusal.status)
                    return
                async with _opened(upstream) as (upstream_reader, upstream_writer):
                    broken = await passage.carry(request, upstream_reader, upstream_writer)
                if broken is not None:
                    self._note(broken, budget)
                    await passage.end(broken)

    async def _dial(self, request: _Request, budget: EgressBudget) -> socket.socket:
        """Connect to the host of a request; raises _RefusedError."""
        host = request.host
        if budget.connections <= 0:
            raise _RefusedError(403, host, "too many connections")
        budget.connections -= 1
        if budget.ports is not None and request.port not in budget.ports:
            raise _RefusedError(403, host, f"port {request.port} is not allowed")
        if budget.hosts is not None and host not in budget.hosts:
            raise _RefusedError(403, host, "no request to this host was announced")
        try:
            async with asyncio.timeout(_CONNECT_S):
                targets = [_target(address, request.port) for address in await self._allowed(host, budget)]
                return await aiohappyeyeballs.start_connection(
                    targets, happy_eyeballs_delay=_NEXT_ADDRESS_S, interleave=1
                )
        except TimeoutError as exc:
            raise _RefusedError(502, host, f"no connection within {_CONNECT_S:g} s") from exc
        except AddressRefused as exc:
            raise _RefusedError(403, host, str(exc)) from exc
        except (OSError, Shortage) as exc:
            raise _RefusedError(502, host, str(exc)) from exc

    async def _allowed(self, host: str, budget: EgressBudget) -> list[str]:
        """Give the addresses of a host that may be dialled; raises AddressRefused, NameNotResolved or Shortage."""
        policy = _ANY_ADDRESS if host == budget.typed else self._policy
        return judged(host, (host,) if _is_address(host) else await self._names.addresses(host), policy)

    def _note(self, refusal: EgressRefusal, budget: EgressBudget) -> None:
        if len(budget.refusals) < _MOST_REFUSALS:
            budget.refusals.append(refusal)
        self._on_refused(refusal)


class _RefusedError(Exception):
    """A request is answered with this status and no body."""

    def __init__(self, status: int, host: str, reason: str) -> None:
        super().__init__(reason)
        self.refusal = EgressRefusal(status, host, reason)


class _Request(Struct, frozen=True):
    """What a client wants.

    head        what the origin is sent; empty: the client wants a tunnel
    body_bytes  that follow the head
    """

    host: str
    port: int
    head: bytes = b""
    body_bytes: int = 0


class _Passage:
    """One connection of a client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, budget: EgressBudget) -> None:
        self._reader, self._writer, self._budget = reader, writer, budget
        self._has_answered = False

    async def read_request(self) -> _Request:
        """Read the head of the only request; raises _RefusedError, and EOFError if there is none."""
        try:
            return _parse(await self._reader.readuntil(b"\r\n\r\n"))
        except asyncio.LimitOverrunError as exc:
            raise _RefusedError(431, "", f"a head of more than {_MOST_HEAD_BYTES} bytes") from exc

    async def refuse(self, status: int) -> None:
        """Answer with a status and no body."""
        head = f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        self._writer.write(head.encode())
        self._writer.write_eof()
        with suppress(TimeoutError):
            async with asyncio.timeout(_LINGER_S):
                while await self._reader.read(_PIECE_BYTES):
                    pass

    async def end(self, broken: EgressRefusal) -> None:
        """End a connection amid its request: by an answer, or so that no part of one is taken for the whole."""
        if self._has_answered:
            self._cut()
        else:
            await self.refuse(broken.status)

    async def carry(
        self, request: _Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> EgressRefusal | None:
        """Carry the request out, until either side ends; returns what was wrong, if anything."""
        if not request.head:
            self._has_answered = True
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            works = [self._pump(self._reader, writer), self._pump(reader, self._writer)]
        else:
            self._budget.wire_bytes -= len(request.head)
            writer.write(request.head)
            # The origin may answer before it has the body, and a client may wait for that.
            works = [self._send_body(request, writer), self._pass_answer(request, reader)]
        broken: EgressRefusal | None = None
        try:
            await _until_first(works)
        except* _RefusedError as group:
            broken = _first_of(group).refusal
        except* (OSError, EOFError):
            self._cut()
        return broken

    def _cut(self) -> None:
        """Reset the connection: after a mere end, an answer without a length would count as whole."""
        # uvloop gives none for a connection that the client has reset already.
        if (connected := self._writer.get_extra_info("socket")) is not None:
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._writer.transport.abort()

    async def _send_body(self, request: _Request, writer: asyncio.StreamWriter) -> None:
        left = request.body_bytes
        while left > 0:
            piece = await self._reader.read(min(left, _PIECE_BYTES))
            if not piece:
                return
            left -= len(piece)
            await self._pass_on(piece, writer)
        # A second request on this connection would go to a host for which it was not judged.
        if await self._reader.read(1):
            raise _RefusedError(400, request.host, "the client sent more than the one request of its connection")

    async def _pass_answer(self, request: _Request, reader: asyncio.StreamReader) -> None:
        while (status := await self._pass_head(request, reader)) in _INTERIM:
            if status == _SWITCHING:
                raise _RefusedError(502, request.host, "the host switched to another protocol")
        await self._pump(reader, self._writer)

    async def _pass_head(self, request: _Request, reader: asyncio.StreamReader) -> int:
        """Pass the head of an answer on, with `Connection: close`; returns its status."""
        try:
            first, *fields = (await reader.readuntil(b"\r\n\r\n"))[:-4].split(b"\r\n")
        except (asyncio.LimitOverrunError, EOFError, ConnectionError) as exc:
            raise _RefusedError(502, request.host, "the host ended without an answer of HTTP") from exc
        line = _STATUS.fullmatch(first)
        if line is None:
            raise _RefusedError(502, request.host, "the host did not answer with HTTP")
        kept = [each for each in fields if each.partition(b":")[0].strip().lower() not in _NOT_PASSED_ON]
        await self._pass_on(b"\r\n".join((first, *kept, b"Connection: close\r\n\r\n")), self._writer)
        self._has_answered = True
        return int(line["status"])

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(_PIECE_BYTES):
            await self._pass_on(piece, writer)

    async def _pass_on(self, piece: bytes, writer: asyncio.StreamWriter) -> None:
        self._budget.wire_bytes -= len(piece)
        if self._budget.wire_bytes < 0:
            raise _RefusedError(403, "", "more bytes than one job may send and receive")
        writer.write(piece)
        await writer.drain()


def _parse(head: bytes) -> _Request:
    """Read the head of a request to a proxy; raises _RefusedError for all that two readers could read differently."""
    first, *lines = head[:-4].split(b"\r\n")
    if tunnel := _CONNECT.fullmatch(first):
        return _Request(_host(tunnel), _port(tunnel))
    asked = _GET.fullmatch(first)
    if asked is None:
        raise _RefusedError(400, "", "the client did not ask as HTTP asks a proxy")
    host, port = _host(asked), _port(asked)
    fields = [_FIELD.fullmatch(line) for line in lines]
    if None in fields:
        raise _RefusedError(400, host, "a header field with a doubtful line")
    pairs = [(found["name"].lower(), found["value"].strip(b" \t"), found[0]) for found in fields if found]
    names = {name for name, _, _ in pairs}
    if b"transfer-encoding" in names:
        raise _RefusedError(411, host, "a body in chunks")
    lengths = [value for name, value, _ in pairs if name == b"content-length"]
    if len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        raise _RefusedError(400, host, "a doubtful Content-Length")
    listed = b",".join(value for name, value, _ in pairs if name == b"connection").lower().split(b",")
    dropped = _NOT_PASSED_ON | ({each.strip() for each in listed} - {b"content-length"})
    path = asked["path"] or b"/"
    origin_form = path if path.startswith(b"/") else b"/" + path
    authority = asked["host"] if asked["port"] is None else asked["host"] + b":" + asked["port"]
    sent = [
        b"%b %b HTTP/1.1" % (asked["method"], origin_form),
        b"Host: " + authority,
        *(line for name, _, line in pairs if name not in dropped),
        b"Connection: close\r\n\r\n",
    ]
    return _Request(host, port, b"\r\n".join(sent), int(lengths[0]) if lengths else 0)


def _host(found: re.Match[bytes]) -> str:
    return found["host"].decode("ascii").strip("[]").lower()


def _port(found: re.Match[bytes]) -> int:
    port = 80 if found["port"] is None else int(found["port"])
    if not 0 < port < 2**16:
        raise _RefusedError(400, _host(found), "a port that does not exist")
    return port


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _target(address: str, port: int) -> AddrInfoType:
    if ":" in address:
        return (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port, 0, 0))
    return (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (address, port))


async def _until_first(works: list[Coroutine[None, None, None]]) -> None:
    """Run these until one has ended, then cancel the others."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(work, name="egress-way") for work in works]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            task.cancel()


def _first_of(group: BaseExceptionGroup[_RefusedError]) -> _RefusedError:
    """Give one of the refusals in a group."""
    first = group.exceptions[0]
    return _first_of(first) if isinstance(first, BaseExceptionGroup) else first


@asynccontextmanager
async def _opened(connected: socket.socket) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Open streams over a socket; at the end what was written still goes out, after an error it does not."""
    try:
        reader, writer = await asyncio.open_connection(sock=connected, limit=_MOST_HEAD_BYTES)
    except BaseException:
        connected.close()
        raise
    try:
        yield reader, writer
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()
    finally:
        writer.transport.abort()
