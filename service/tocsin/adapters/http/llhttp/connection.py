"""One connection: it serves one request at a time, each with a future for its answer."""

from __future__ import annotations

import asyncio
import os
import select
import ssl
import time
from typing import Final, Protocol

from tocsin.adapters.http.bodies import BodiesTooLarge, BodyBudget, NotDecodable, TooLong
from tocsin.adapters.http.deadlines import TURN_S, DeadlineMissed, DeadlineSweep, Phase
from tocsin.adapters.http.llhttp.messages import AnswerReader, BrokenAnswer, Disconnected
from tocsin.adapters.http.tls import TlsLayer, UntrustedCertificate, WatchedTls
from tocsin.model import FailureKind, HopRequest, HopResponse
from tocsin.spec.infrastructure.unsafe import one_line

# Shared by all connections: a read is parsed before the next one begins.
BUFFER_BYTES: Final = 256 * 1024
# The body of an answer that is not wanted is read for this long, so that the connection can be used again.
DRAINED_S: Final = 2.0
# Of TLS records without a byte of HTTP: a server may send session tickets and the like without end.
MOST_MUTE_BYTES: Final = 256 * 1024
# Parsed in one step: most pages arrive whole, real ones of 111 KB, and a step of one-byte chunks ends within 10 ms.
_AT_ONCE_BYTES: Final = 128 * 1024
# Decrypted in one step: OpenSSL keeps a buffer of the largest step for the life of a connection.
_DECRYPTED_BYTES: Final = 32 * 1024
# A full buffer is read again in the same turn of the loop, unless the buffer before took longer than this.
_LONG_S: Final = 0.002


class ReadBuffers:
    """Buffers for encrypted and for decrypted bytes; all connections share them, since each takes its bytes at once."""

    def __init__(self) -> None:
        self.wire, self.plain = memoryview(bytearray(BUFFER_BYTES)), memoryview(bytearray(BUFFER_BYTES))


class StaleConnection(Disconnected):
    """The connection ended before any byte of the answer; an idle one may have ended long before the request."""

    def __init__(self) -> None:
        super().__init__("the server closed the connection before it answered")


class NotConnected(Exception):
    """No connection was made.

    kind  of the failure, in the words of the port
    """

    def __init__(self, kind: FailureKind, why: str) -> None:
        super().__init__(why)
        self.kind = kind


def handshake_failed(exc: ssl.SSLError | ConnectionError) -> NotConnected:
    """Say why a TLS handshake failed."""
    if isinstance(exc, UntrustedCertificate):
        why = exc.why
    elif isinstance(exc, ssl.SSLError):
        why = one_line(exc)
    else:
        why = "cut off during the handshake"
    return NotConnected(FailureKind.TLS, why)


class ConnectionOwner(Protocol):
    """What a connection reports; implemented by the pool."""

    def keep(self, connection: HttpConnection) -> None:
        """Take the connection: it is idle."""

    def withdraw(self, connection: HttpConnection) -> None:
        """Give this connection to no request any more."""

    def opened(self, connection: HttpConnection) -> None:
        """Note that its socket is open."""

    def closed(self, connection: HttpConnection) -> None:
        """Note that its socket is closed."""


class HttpConnection(asyncio.BufferedProtocol):
    """Serves one request after the other, until its state is uncertain. Implements `deadlines.InFlight`.

    owner       is told when it is idle, and when it is over
    key         of the connections that can serve the same requests
    tls         None: it is not encrypted
    idle_bytes  the memory that it takes while it is idle
    idle_since  the loop's time
    """

    __slots__ = (
        "_answer",
        "_began",
        "_budget",
        "_buffers",
        "_handshaken",
        "_is_extended",
        "_is_session_kept",
        "_loop",
        "_mute_bytes",
        "_outer_tls",
        "_owner",
        "_phase",
        "_poll",
        "_reader",
        "_request",
        "_sweep",
        "_total_until",
        "_transport",
        "_unread",
        "_until",
        "has_spoken",
        "idle_bytes",
        "idle_since",
        "is_over",
        "key",
        "tls",
    )

    def __init__(
        self,
        owner: ConnectionOwner,
        key: object,
        tls: TlsLayer | None,
        sweep: DeadlineSweep,
        budget: BodyBudget,
        buffers: ReadBuffers,
        idle_bytes: int,
    ) -> None:
        self._owner, self.key, self.tls, self.idle_bytes = owner, key, tls, idle_bytes
        self._sweep, self._budget, self._buffers = sweep, budget, buffers
        self._loop = asyncio.get_running_loop()
        self._reader = AnswerReader()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[HopResponse] | None = None
        self._handshaken: asyncio.Future[None] | None = None
        self._outer_tls: object = None
        self._poll: select.poll | None = None
        self.has_spoken = self.is_over = self._is_session_kept = self._is_extended = False
        self._unread: bytes | None = None
        self.idle_since = 0.0
        self._mute_bytes = 0

    @property
    def is_quiet(self) -> bool:
        """Nothing waits in its socket: no bytes that no request asked for, and no end."""
        transport = self._transport
        if self.is_over or transport is None or transport.is_closing() or self._unread is not None:
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket"), select.POLLIN)
        return not self._poll.poll(0)

    def ask(self, head: bytes, request: HopRequest, began: float, now: float) -> asyncio.Future[HopResponse]:
        """Send a request.

        began  when its total deadline began to run, and
        now    the time, both in the seconds of `DeadlineSweep.listening_s`
        The future gives the answer, or raises BrokenAnswer (StaleConnection among them), TooLong, NotDecodable,
        BodiesTooLarge or DeadlineMissed. A caller that stops waiting calls `give_up`.
        """
        transport = self._transport
        self._answer = answer = self._loop.create_future()
        if transport is None or self.is_over:
            answer.set_exception(StaleConnection())
            return answer
        self._reader.begin(request)
        self._request, self._began = request, began
        self._total_until = began + request.total_s
        self._phase = Phase.FIRST_BYTE
        self._is_extended = False
        self._until = now + self._sweep.first_byte_s
        self._sweep.add(self)
        tls = self.tls
        if tls is not None:
            try:
                tls.write(head)
            except ssl.SSLError as exc:
                self._lost(one_line(exc))
                return answer
            head = tls.pending()
        transport.write(head)
        return answer

    async def handshake(self) -> None:
        """Carry out the TLS handshake; raises ssl.SSLError or ConnectionResetError."""
        self._handshaken = self._loop.create_future()
        self._continue_handshake()
        try:
            await self._handshaken
        finally:
            self._handshaken = None

    def check(self, now: float) -> None:
        """Give the request up if one of its deadlines is over; see `deadlines.InFlight`."""
        if self._answer is None or (now < self._total_until and now < self._until):
            return
        if not self._is_extended and not self.is_quiet:
            # The bytes in the socket came in time; they are read before the next check.
            self._is_extended = True
        elif now >= self._total_until:
            self._late(DeadlineMissed(self._phase, self._request.total_s, total=True))
        else:
            self._late(DeadlineMissed(self._phase, self._sweep.limits[self._phase], total=False))

    def interrupt(self, why: Exception) -> None:
        """Give the request up."""
        self._fail(why)

    def give_up(self, answer: asyncio.Future[HopResponse] | None) -> None:
        """Stop waiting for this answer, or for the chance to ask; the connection may serve another request by now."""
        if self._answer is answer:
            self.abort()
        elif answer is not None and answer.done() and not answer.cancelled():
            # Otherwise the loop logs an exception that was never retrieved.
            answer.exception()

    def close(self) -> None:
        """End it; where it is encrypted, with close_notify."""
        tls, transport = self.tls, self._transport
        if (
            tls is None
            or transport is None
            or self.is_over
            or self._outer_tls is not None
            or transport.get_write_buffer_size()
        ):
            # A server that does not even read the request would keep the connection open. The TLS of a proxy waits for
            # the answer of the proxy.
            self.abort()
            return
        tls.end()
        self._flush()
        self._leave()
        transport.close()

    def abort(self) -> None:
        """End it at once, with its request."""
        self._leave()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport  # type: ignore[assignment] # of a stream
        self._outer_tls = transport.get_extra_info("ssl_object")
        self._owner.opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - there is one buffer
        """Give the buffer to read into."""
        return self._buffers.wire

    def buffer_updated(self, nbytes: int) -> None:
        """Take the bytes that were read."""
        data = self._buffers.wire[:nbytes]
        if nbytes <= _AT_ONCE_BYTES:
            self._read(data)
        else:
            self._read_long(data)

    def eof_received(self) -> None:
        """Take the end; the transport closes itself."""

    def connection_lost(self, exc: Exception | None) -> None:
        """Take the end of the connection."""
        if isinstance(exc, OSError) and exc.errno:
            why: str | None = f"the connection was lost: {os.strerror(exc.errno).lower()}"
        elif exc is not None:
            why = f"the connection was lost: {one_line(exc)}"
        elif not self._was_ended():
            why = "the connection was closed without TLS close_notify"
        else:
            why = None
        if self._handshaken is not None and not self._handshaken.done():
            self._handshaken.set_exception(ConnectionResetError("cut off during the handshake"))
        if self._unread is not None and not self.is_over:
            unread, self._unread = self._unread, None
            self._read(memoryview(unread))
        self._lost(why)
        self._transport = None
        self._owner.closed(self)

    def _was_ended(self) -> bool:
        """Tell whether the end is the server's: without close_notify, a third party can cut an encrypted answer."""
        if self.tls is not None:
            return self.tls.was_ended
        return not isinstance(self._outer_tls, WatchedTls) or self._outer_tls.was_ended

    def _read(self, data: memoryview) -> None:
        if self.tls is None:
            self._take(data)
        else:
            self._decrypt(self.tls, data)

    def _read_long(self, data: memoryview) -> None:
        """Read piece by piece; the rest after `TURN_S` waits for the loop's next turn, and so does the socket."""
        began = time.monotonic()
        for at in range(0, len(data), _AT_ONCE_BYTES):
            # Bytes after the answer are read at once: they end the connection before another request is made over it.
            if at and self._answer is not None and time.monotonic() - began >= TURN_S:
                self._put_by(bytes(data[at:]))
                return
            self._read(data[at : at + _AT_ONCE_BYTES])
            if self.is_over:
                return
        if time.monotonic() - began >= _LONG_S:
            self._put_by(b"")

    def _put_by(self, unread: bytes) -> None:
        """Give the loop a turn before these bytes, and any after them, are read."""
        transport, body = self._transport, self._reader.body
        if transport is None or self.is_over or transport.is_closing():
            return
        if body is not None:
            try:
                self._budget.hold(self, body.body_bytes + len(unread))
            except BodiesTooLarge as exc:
                self._fail(exc)
                return
        if self._unread is None:
            transport.pause_reading()
        self._unread = unread
        self._loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Read the bytes that were put by, then the socket again."""
        unread, transport = self._unread, self._transport
        if unread is None or transport is None:
            return
        if unread:
            self._unread = b""
            self._read_long(memoryview(unread))
            if self._unread:
                return
        self._unread = None
        if not self.is_over and not transport.is_closing():
            transport.resume_reading()

    def _decrypt(self, tls: TlsLayer, data: memoryview) -> None:
        self._mute_bytes += len(data)
        try:
            for at in range(0, len(data), _DECRYPTED_BYTES):
                tls.take(data[at : at + _DECRYPTED_BYTES])
                if not tls.is_open:
                    self._continue_handshake()
                while tls.is_open and not self.is_over and (count := tls.read_into(self._buffers.plain)):
                    self._mute_bytes = 0
                    self._take(self._buffers.plain[:count])
        except ssl.SSLError as exc:
            self._lost(f"the connection was lost: {one_line(exc)}")
            return
        self._flush()
        if tls.was_ended:
            self._lost(None)
        elif self._mute_bytes > MOST_MUTE_BYTES:
            self._fail(BrokenAnswer("more bytes of TLS than any handshake takes, and no byte of HTTP in them"))

    def _continue_handshake(self) -> None:
        tls, handshaken = self.tls, self._handshaken
        if tls is None or handshaken is None or handshaken.done():
            return
        try:
            if tls.handshake():
                handshaken.set_result(None)
        except ssl.SSLError as exc:
            handshaken.set_exception(exc)
        self._flush()

    def _flush(self) -> None:
        tls, transport = self.tls, self._transport
        if tls is not None and transport is not None and not self.is_over and (pending := tls.pending()):
            transport.write(pending)

    def _take(self, data: bytes | memoryview) -> None:
        if self._answer is None:
            # Source: RFC 9112, 6.3: bytes that no request asked for are no answer to a later request.
            self.has_spoken = True
            self.close()
            return
        reader = self._reader
        try:
            reader.feed(data)
            body = reader.body
            if reader.is_done:
                if body is not None and not self._budget.has_room(body.body_bytes):
                    self._budget.hold(self, body.body_bytes)
                self._finish()
                return
            if body is not None:
                self._budget.hold(self, body.body_bytes)
        except (BrokenAnswer, TooLong, NotDecodable, BodiesTooLarge) as exc:
            self._fail(exc)
            return
        if self._phase is Phase.FIRST_BYTE and reader.has_header:
            self._phase = Phase.BODY
            self._until = self._sweep.listening_s() + DRAINED_S if reader.body is None else float("inf")

    def _finish(self) -> None:
        """Give the answer to its caller; raises NotDecodable."""
        reader, answer, request = self._reader, self._answer, self._request
        body, wire_bytes, is_cut = reader.whole()
        reader.discard()
        response = HopResponse(
            url=request.url,
            status=reader.status,
            headers=reader.headers,
            body=body,
            wire_bytes=wire_bytes,
            elapsed_ms=round((self._sweep.listening_s() - self._began) * 1000),
            cut=is_cut,
        )
        self._rest()
        if self.tls is not None and not self._is_session_kept:
            self._is_session_kept = True
            self.tls.keep_session()
        if answer is not None and not answer.done():
            answer.set_result(response)
        if is_cut:
            self.abort()
        elif not reader.is_sure or self.is_over:
            self.close()
        else:
            self.idle_since = self._sweep.now()
            self._owner.keep(self)

    def _late(self, missed: DeadlineMissed) -> None:
        if self._phase is Phase.BODY and self._reader.body is None:
            # The rest of a body that is thrown away is not worth waiting for.
            self._reader.give_up()
            self._finish()
            self.abort()
        else:
            self._fail(missed)

    def _lost(self, why: str | None) -> None:
        """Take the end of the bytes; `why` says what is wrong with it."""
        if self._answer is not None:
            reader = self._reader
            if reader.is_silent:
                self._fail(StaleConnection())
                return
            try:
                reader.end(why)
                self._finish()
            except (BrokenAnswer, NotDecodable) as exc:
                self._fail(exc)
                return
        if why is None:
            self.close()
        else:
            self.abort()

    def _fail(self, why: Exception) -> None:
        answer = self._answer
        self._rest()
        if answer is not None and not answer.done():
            answer.set_exception(why)
        self.abort()

    def _rest(self) -> None:
        """Be done with the request."""
        self._answer = None
        self._sweep.remove(self)
        self._budget.release(self)

    def _leave(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._unread = None
            self._owner.withdraw(self)
            answer = self._answer
            self._rest()
            self._reader.close()
            if answer is not None and not answer.done():
                answer.set_exception(Disconnected("this side closed the connection"))
