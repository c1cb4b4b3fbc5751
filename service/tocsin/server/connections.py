"""Connections of the HTTP server, with limits on heads, times and their number."""

from __future__ import annotations

import asyncio
import re
import resource
from collections import Counter
from collections.abc import Sequence
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# RFC 9110, 4.1 asks for 8,000 octets at least.
MOST_URL = 8 * 2**10
# Cookies of other services on the same host can take several kilobytes.
MOST_HEADERS = 32 * 2**10
MOST_FIELDS = 100
HEAD_S = 10.0  # Deadline for the request line and headers, however slowly they arrive (slowloris).
MOST_CONNECTIONS = 512
# A browser opens six.
FEWEST_CONNECTIONS = 16
MOST_UNKNOWN = 192  # Connections whose last request had no valid credential; the rest is reserved for known clients.
MOST_PIPELINED = 16  # Pipelined requests of a connection; more would be parsed in one turn of the loop.
STUCK_S = 60.0  # A known client that takes nothing of its answer for this time is disconnected.
UNKNOWN_STUCK_S = 20.0  # Deadline for all answers to an unknown client: they are small.
# The key of the connection in a request's scope; the guard sets whether its client is known.
CONNECTION = "tocsin.connection"
# A client usually has a whole /64 to itself.
_IPV6_NETWORK = 64
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::[0-9]*)?", re.ASCII)
_DEFAULT_PORTS = {b"http": 80, b"https": 443}


@cache
def files_limit() -> int | None:
    """Return the limit of open files at startup; None for no limit."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if files == resource.RLIM_INFINITY else files


def bounds(files: int | None) -> tuple[int, int]:
    """Return the limits of connections, in all and of unknown clients: an eighth of the files that may be open.

    The rest is reserved for pages, channels and the store.
    """
    by_files = MOST_CONNECTIONS if files is None else max(files // 8, FEWEST_CONNECTIONS)
    # Fewer files, fewer connections: the engine that shares the limit must still reach its pages.
    if by_files >= MOST_CONNECTIONS:
        return MOST_CONNECTIONS, MOST_UNKNOWN
    return by_files, min(max(by_files * 3 // 8, 1), MOST_UNKNOWN)


class ClientConnection(HttpToolsProtocol):
    """uvicorn's protocol with limits of its own: bytes, fields and seconds of a head, and the number of connections.

    is_known  its last request came with a valid credential
    """

    is_known = False
    _head_timer: asyncio.TimerHandle | None = None
    _idle_since_s: float | None = None
    _unsent_since_s: float | None = None
    _unsent = 0
    _has_resumed = False
    _head_bytes = 0
    _is_refused = False
    _is_full = False
    _is_aborted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Start the deadline of the first request."""
        super().connection_made(transport)
        self._since_s = self._idle_since_s = self.loop.time()
        self._network = network_of(self.client[0]) if self.client else ""
        # Only now: who the client is is known with its first request, so a new connection counts as unknown.
        if not self._find_room():
            self._refuse(503, b"Service Unavailable", b"too many connections; try again in a moment")
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the deadline."""
        self._is_aborted = True
        self._forget_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse data, unless the connection was closed."""
        if not self._is_done():
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Start to count the head."""
        if self._is_done():
            return
        super().on_message_begin()
        # The guard marks the connection as known by this, once it has seen a valid credential.
        self.scope[CONNECTION] = self  # type: ignore[literal-required]  # a key of ours
        self._head_bytes = 0
        # A request that is pipelined comes while the one before is answered, which set no deadline for it.
        if self._head_timer is None:
            self._expect_head()

    def on_url(self, url: bytes) -> None:
        """Take a part of the request's line."""
        if self._is_done():
            return
        super().on_url(url)
        if len(self.url) > MOST_URL:
            self._refuse(414, b"URI Too Long", b"the URL is too long; send lists in the body")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        if self._is_done():
            return
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MOST_HEADERS or len(self.headers) > MOST_FIELDS:
            self._refuse(431, b"Request Header Fields Too Large", b"too large: clear this site's cookies")

    def on_headers_complete(self) -> None:
        """Start the request, if its head is valid."""
        if self._is_done():
            return
        self._forget_timer()
        wrong = wrong_in_head(self.url, self.headers, self.parser.get_http_version(), self.parser.get_method())
        if wrong:
            self._refuse(400, b"Bad Request", wrong)
            return
        self._idle_since_s = None
        super().on_headers_complete()
        if len(self.pipeline) >= MOST_PIPELINED:
            # The client repeats later requests: the answer says that the connection is closed.
            self._is_full = True
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of the body."""
        if self._is_refused:
            return
        super().on_message_complete()
        if self.cycle.response_complete:
            # The refused body arrived anyway: the next head follows.
            self._forget_timer()
            self._expect_head()

    def on_response_complete(self) -> None:
        """Start the deadline of the next request, unless it has arrived."""
        self._idle_since_s = None if self.pipeline else self.loop.time()
        super().on_response_complete()
        if not self.pipeline and self.cycle.more_body and self._head_timer is None:
            # Otherwise a client could send a refused body for ever.
            self._expect_head()

    def resume_writing(self) -> None:
        """Resume writing an answer."""
        self._has_resumed = True
        super().resume_writing()

    def sweep(self, now_s: float) -> None:
        """Abort the connection if its client does not take its answers; called about once a second.

        Unsent data keeps a closed connection open, without any event.
        """
        unsent, is_closing = self.transport.get_write_buffer_size(), self.transport.is_closing()
        # The size of a buffer that we still write to says nothing about the reader.
        # See below: a reader is alive if the buffer shrank, or was empty in between.
        is_taken = unsent < self._unsent or self._has_resumed or not (self.flow.write_paused or is_closing)
        self._unsent, self._has_resumed = unsent, False
        if not unsent:
            self._unsent_since_s = None
        elif self._unsent_since_s is None or (self.is_known and is_taken):
            self._unsent_since_s = now_s
        elif now_s - self._unsent_since_s >= (STUCK_S if self.is_known else UNKNOWN_STUCK_S):
            self._abort()

    def _find_room(self) -> bool:
        """Close one connection when there are too many: of an unknown client, else an idle one of a known client.

        The address with the most connections loses one first, so that it cannot displace others; then the longest
        idle one; then the oldest request, which has had the most time.
        """
        others = [each for each in self.connections if isinstance(each, ClientConnection) and each is not self]
        open_ = [each for each in others if not each._is_aborted]  # noqa: SLF001 - of its own class
        unknown = [each for each in open_ if not each.is_known]
        most, most_unknown = bounds(files_limit())
        # Most of the time there is room, and nothing has to be weighed.
        if len(unknown) < most_unknown and len(open_) < most:
            return True
        by_network = Counter(each._network for each in (*unknown, self))  # noqa: SLF001 - as above
        largest = max(by_network.values())
        crowd = [each for each in unknown if by_network[each._network] == largest] or unknown  # noqa: SLF001 - as above
        known = [each for each in open_ if each.is_known and each.is_idle()]
        if not (among := crowd or known):
            return False
        min(among, key=ClientConnection._place)._abort()  # noqa: SLF001 - as above
        return True

    def is_idle(self) -> bool:
        """Say whether no request and no answer is in progress."""
        return self._idle_since_s is not None and not self.transport.get_write_buffer_size()

    def _place(self) -> tuple[bool, float]:
        """Return the sort key by which connections are closed."""
        # It is given up already, and only waits until its client takes the rest: the first to go.
        if self.transport.is_closing():
            return False, 0.0
        # Idle ones before those with a request; among each, the longest first.
        return not self.is_idle(), self._since_s if self._idle_since_s is None else self._idle_since_s

    def _abort(self) -> None:
        # `close` would wait until the client has taken the unsent data.
        self._is_aborted = True
        self.transport.abort()

    def _is_done(self) -> bool:
        return self._is_refused or self._is_full

    def _expect_head(self) -> None:
        self._head_timer = self.loop.call_later(HEAD_S, self._is_late)

    def _is_late(self) -> None:
        self._head_timer = None
        self._refuse(408, b"Request Timeout", b"the request did not come in time; send it again")

    def _forget_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: int, phrase: bytes, why: bytes) -> None:
        if self._is_refused or self.transport.is_closing():
            return
        self._is_refused = True
        self._forget_timer()
        head = b"HTTP/1.1 %d %b\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n" % (
            status,
            phrase,
            len(why) + 1,
        )
        # Written by hand: the request never reached the application, which would answer otherwise.
        self.transport.write(head + b"connection: close\r\n\r\n" + why + b"\n")
        self.transport.close()


def network_of(address: str) -> str:
    """Return the key under which an address is counted: itself, or its /64 network for IPv6."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    # One customer of a provider has at least a /64, and could otherwise come from 2^64 addresses.
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((found, _IPV6_NETWORK), strict=False))
    return str(found)


def wrong_in_head(url: bytes, headers: Sequence[tuple[bytes, bytes]], version: str, method: bytes) -> bytes:
    """Return the fault of a request's target or Host (RFC 9112, 3.2); empty for a valid request."""
    hosts = [value.strip() for name, value in headers if name == b"host"]
    # Several readers of one request could each believe another of them (request smuggling).
    if len(hosts) > 1:
        return b"there are several Host headers; send one"
    if not hosts and version != "1.0":
        return b"the Host header is missing; send one"
    if hosts and not _HOST.fullmatch(hosts[0]):
        return b"the Host header is no host"
    if url.startswith(b"/") or (url == b"*" and method == b"OPTIONS"):
        return b""
    meant = _hosts_of(url)
    if not meant:
        return b"the request's target is neither a path nor a URL with http or https"
    # RFC 9112 lets the target win; we refuse, so that no check of Host is passed with another name.
    return b"" if not hosts or hosts[0].lower() in meant else b"the Host header names another host than the target"


def _hosts_of(url: bytes) -> set[bytes]:
    """Return the values of Host allowed with an absolute target; empty for an invalid one."""
    try:
        target = httptools.parse_url(url)
    except httptools.HttpParserInvalidURLError:
        return set()
    usual = _DEFAULT_PORTS.get((target.schema or b"").lower())
    if usual is None or not target.host or not target.path:
        return set()
    host, port = target.host.lower(), target.port or usual
    name = b"[" + host + b"]" if b":" in host else host
    # A client may leave the usual port out of Host, even where the target names it.
    return {name + b":%d" % port} | ({name} if port == usual else set())
