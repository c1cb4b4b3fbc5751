"""A connection of the HTTP edge: what a client may send before it is answered, and how long it may take."""

from __future__ import annotations

import re
import resource
from collections import Counter
from functools import cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

MOST_URL = 8 * 2**10
MOST_HEADERS = 32 * 2**10
MOST_FIELDS = 100
HEAD_S = 10.0
"""So long a request's line and headers may take, however they trickle in (slowloris)."""
MOST_CONNECTIONS = 512
FEWEST_CONNECTIONS = 16
MOST_UNKNOWN = 192
"""Of them those whose last request came without a valid credential: the others are for clients that have one."""
MOST_PIPELINED = 16
"""Requests that wait on one connection for the answers before theirs; more would be parsed in one turn of the loop."""
STUCK_S = 60.0
"""A known client that reads nothing of its answer for this long is taken for gone, although its connection is open."""
UNKNOWN_STUCK_S = 20.0
"""So long an unknown client may take for its answers in all: they are small."""
CONNECTION = "tocsin.connection"
"""Where a request's scope has its connection; the guard tells it whether the client is known."""
_IPV6_NETWORK = 64
_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[\w.~!$&'()*+,;=%-]*)(?::[0-9]*)?", re.ASCII)
_DEFAULT_PORTS = {b"http": 80, b"https": 443}


@cache
def files_limit() -> int | None:
    """Say how many files this process may open, as it was set at the start; None for any number."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if files == resource.RLIM_INFINITY else files


def bounds(files: int | None) -> tuple[int, int]:
    """Give the most connections, and the most of unknown clients: an eighth of the files that may be opened.

    The rest is for pages, channels and the store: clients must not be able to take it.
    """
    by_files = MOST_CONNECTIONS if files is None else max(files // 8, FEWEST_CONNECTIONS)
    if by_files >= MOST_CONNECTIONS:
        return MOST_CONNECTIONS, MOST_UNKNOWN
    return by_files, min(max(by_files * 3 // 8, 1), MOST_UNKNOWN)


class Connection(HttpToolsProtocol):
    """Bounds what uvicorn leaves open: a request's head in bytes, fields and seconds, and connections in number.

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
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._since_s = self._idle_since_s = self.loop.time()
        self._network = network_of(self.client[0]) if self.client else ""
        if not self._find_room():
            self._refuse(503, b"Service Unavailable", b"too many connections; try again in a moment")
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._is_aborted = True
        self._forget_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the connection is done for."""
        if not self._is_done():
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin to count."""
        if self._is_done():
            return
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[literal-required]  # a key of ours
        self._head_bytes = 0
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
        """Answer, if the head is one that may be answered."""
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
            # The client repeats what comes after this one: the answer says that the connection is closed.
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
            # The body was refused, and came all the same: now the next head is waited for.
            self._forget_timer()
            self._expect_head()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless that has come meanwhile."""
        self._idle_since_s = None if self.pipeline else self.loop.time()
        super().on_response_complete()
        if not self.pipeline and self.cycle.more_body and self._head_timer is None:
            # Nothing else ends a connection whose client goes on sending a body that was refused.
            self._expect_head()

    def resume_writing(self) -> None:
        """Go on with an answer."""
        self._has_resumed = True
        super().resume_writing()

    def sweep(self, now_s: float) -> None:
        """Cut the connection off if its client does not take its answers; called about each second.

        What was written and not taken keeps a connection open after it was closed, and no event tells of it.
        """
        unsent, is_closing = self.transport.get_write_buffer_size(), self.transport.is_closing()
        # Before it is full, a buffer that others write into says nothing of who reads from it.
        is_taken = unsent < self._unsent or self._has_resumed or not (self.flow.write_paused or is_closing)
        self._unsent, self._has_resumed = unsent, False
        if not unsent:
            self._unsent_since_s = None
        elif self._unsent_since_s is None or (self.is_known and is_taken):
            self._unsent_since_s = now_s
        elif now_s - self._unsent_since_s >= (STUCK_S if self.is_known else UNKNOWN_STUCK_S):
            self._abort()

    def _find_room(self) -> bool:
        """Make room where there is none: unknown clients give way to each other, idle ones to everyone.

        Whose address has the most connections gives way first, so that one address cannot push out the others, then
        who has been idle for the longest time, then who asked first: it has had the most time.
        """
        others = [each for each in self.connections if isinstance(each, Connection) and each is not self]
        open_ = [each for each in others if not each._is_aborted]  # noqa: SLF001 - of its own class
        unknown = [each for each in open_ if not each.is_known]
        most, most_unknown = bounds(files_limit())
        if len(unknown) < most_unknown and len(open_) < most:
            return True
        by_network = Counter(each._network for each in (*unknown, self))  # noqa: SLF001 - as above
        largest = max(by_network.values())
        crowd = [each for each in unknown if by_network[each._network] == largest] or unknown  # noqa: SLF001 - as above
        known = [each for each in open_ if each.is_known and each.is_idle()]
        if not (among := crowd or known):
            return False
        min(among, key=Connection._place)._abort()  # noqa: SLF001 - as above
        return True

    def is_idle(self) -> bool:
        """Say whether no request is under way here, nor an answer."""
        return self._idle_since_s is not None and not self.transport.get_write_buffer_size()

    def _place(self) -> tuple[bool, float]:
        """Give the order in which connections give way."""
        if self.transport.is_closing():
            return False, 0.0
        return not self.is_idle(), self._since_s if self._idle_since_s is None else self._idle_since_s

    def _abort(self) -> None:
        # Closing would wait until the client has taken what is still to be sent.
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
        self.transport.write(head + b"connection: close\r\n\r\n" + why + b"\n")
        self.transport.close()


def network_of(address: str) -> str:
    """Name those who share what an address is given: itself, of IPv6 its network, which one person can have whole."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(found.ipv4_mapped or ip_network((found, _IPV6_NETWORK), strict=False))
    return str(found)


def wrong_in_head(url: bytes, headers: Sequence[tuple[bytes, bytes]], version: str, method: bytes) -> bytes:
    """Say what is wrong with a request's target and its Host (RFC 9112, 3.2); empty where nothing is."""
    hosts = [value.strip() for name, value in headers if name == b"host"]
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
    return b"" if not hosts or hosts[0].lower() in meant else b"the Host header names another host than the target"


def _hosts_of(url: bytes) -> set[bytes]:
    """Give what Host may say with a URL as the target; nothing where it is no URL that may be asked for."""
    try:
        target = httptools.parse_url(url)
    except httptools.HttpParserInvalidURLError:
        return set()
    usual = _DEFAULT_PORTS.get((target.schema or b"").lower())
    if usual is None or not target.host or not target.path:
        return set()
    host, port = target.host.lower(), target.port or usual
    name = b"[" + host + b"]" if b":" in host else host
    return {name + b":%d" % port} | ({name} if port == usual else set())
