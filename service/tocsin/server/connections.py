"""A connection of the HTTP edge: what a client may send before it is answered, and how long it may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    import asyncio

MOST_URL = 8 * 2**10
MOST_HEADERS = 32 * 2**10
MOST_FIELDS = 100
HEAD_S = 10.0
"""So long a request's line and headers may take, however they trickle in (slowloris)."""
MOST_CONNECTIONS = 512
STUCK_S = 60.0
"""A client that takes nothing of its answer for so long is gone, whatever its connection says."""


class Connection(HttpToolsProtocol):
    """Bounds what uvicorn leaves open: a request's head in bytes, fields and seconds, and connections in number."""

    _head_timer: asyncio.TimerHandle | None = None
    _stuck_timer: asyncio.TimerHandle | None = None
    _idle_since_s: float | None = None
    _head_bytes = 0
    _is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._idle_since_s = self.loop.time()
        if len(self.connections) > MOST_CONNECTIONS and not self._push_out():
            self._refuse(503, b"Service Unavailable", b"too many connections; try again in a moment")
            return
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        self._forget_timer()
        self._forget_stuck()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, unless the connection is done for."""
        if not self._is_refused:
            super().data_received(data)

    def on_message_begin(self) -> None:
        """Begin to count."""
        super().on_message_begin()
        self._head_bytes = 0
        if self._head_timer is None:
            self._expect_head()

    def on_url(self, url: bytes) -> None:
        """Take a part of the request's line."""
        super().on_url(url)
        if len(self.url) > MOST_URL:
            self._refuse(414, b"URI Too Long", b"the URL is too long; send lists in the body")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header."""
        super().on_header(name, value)
        self._head_bytes += len(name) + len(value)
        if self._head_bytes > MOST_HEADERS or len(self.headers) > MOST_FIELDS:
            self._refuse(431, b"Request Header Fields Too Large", b"too large: clear this site's cookies")

    def on_headers_complete(self) -> None:
        """Answer, if the head is one that may be answered."""
        self._forget_timer()
        if not self._is_refused:
            self._idle_since_s = None
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        if not self._is_refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """Take the end of the body."""
        if not self._is_refused:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless that has come meanwhile."""
        self._idle_since_s = None if self.pipeline else self.loop.time()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Hold back an answer that is not taken, for a while."""
        super().pause_writing()
        if self._stuck_timer is None:
            self._stuck_timer = self.loop.call_later(STUCK_S, self._is_stuck)

    def resume_writing(self) -> None:
        """Go on with an answer."""
        self._forget_stuck()
        super().resume_writing()

    def idle_since_s(self) -> float | None:
        """Say since when no request is under way here, nor an answer; None where there is one."""
        is_taken = self._stuck_timer is None and not self.transport.is_closing()
        return self._idle_since_s if is_taken else None

    def _push_out(self) -> bool:
        """Make room: whoever has said nothing for the longest time goes, so that nobody can fill the place by that."""
        others = (each for each in self.connections if isinstance(each, Connection) and each is not self)
        idle = [(since_s, id(each), each) for each in others if (since_s := each.idle_since_s()) is not None]
        if idle:
            min(idle)[2].transport.close()
        return bool(idle)

    def _is_stuck(self) -> None:
        self._stuck_timer = None
        # What is still to be sent will not be taken: closing would wait for it.
        self.transport.abort()

    def _forget_stuck(self) -> None:
        if self._stuck_timer is not None:
            self._stuck_timer.cancel()
            self._stuck_timer = None

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
