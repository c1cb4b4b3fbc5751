"""One connection: an answer for each request, one request at a time, and a future for each."""

from __future__ import annotations

import asyncio
import os
import select
import ssl
import time
from typing import TYPE_CHECKING, Final

from tocsin.adapters.http.budget import NoRoom
from tocsin.adapters.http.deadlines import TURN_S, DeadlineMissed, Phase
from tocsin.adapters.http.decoding import NotDecodable, TooLong
from tocsin.adapters.http.llhttp.answer import AnswerReader, Broken, Disconnected
from tocsin.adapters.http.wording import one_line
from tocsin.model import HopResponse

if TYPE_CHECKING:
    from tocsin.adapters.http.budget import BodyBudget
    from tocsin.adapters.http.deadlines import DeadlineSweep
    from tocsin.adapters.http.llhttp.pool import LeanPool
    from tocsin.adapters.http.llhttp.sealed import Sealed
    from tocsin.model import HopRequest

ROOM_BYTES: Final = 256 * 1024
DRAINED_S: Final = 2.0
MOST_MUTE_BYTES: Final = 256 * 1024
"""Of TLS that brought nothing of HTTP: a server can send tickets and the like as long as it wants to."""
_AT_ONCE_BYTES: Final = 32 * 1024
"""Are decrypted and parsed: what OpenSSL once took at a time it keeps room for, as long as the connection stands."""
_LONG_S: Final = 0.002
"""A full buffer is read again in the same turn of the loop, unless the one before took longer than this."""


class Room:
    """Where bytes are read and decrypted into: one for all connections, since what was read is taken at once."""

    def __init__(self) -> None:
        self.wire, self.plain = memoryview(bytearray(ROOM_BYTES)), memoryview(bytearray(ROOM_BYTES))


class Stale(Disconnected):
    """A connection ended before any byte of the answer came; a kept one may have ended long before we asked."""

    def __init__(self) -> None:
        super().__init__("the server closed the connection before it answered")


class Connection(asyncio.BufferedProtocol):
    """Serves one request after the other, as long as nothing makes it doubtful.

    pool        is told when it lies idle, and when it is over
    sealed      its TLS; None: it is plain
    idle_since  the loop's time
    It is what the sweep and the budget know of the request in flight.
    """

    __slots__ = (
        "_answer",
        "_began",
        "_budget",
        "_is_extended",
        "_is_session_kept",
        "_mute_bytes",
        "_phase",
        "_poll",
        "_pool",
        "_reader",
        "_request",
        "_room",
        "_shaken",
        "_sweep",
        "_total_until",
        "_transport",
        "_unread",
        "_until",
        "has_spoken",
        "idle_since",
        "is_over",
        "key",
        "sealed",
    )

    def __init__(
        self,
        pool: LeanPool,
        key: object,
        sealed: Sealed | None,
        sweep: DeadlineSweep,
        budget: BodyBudget,
        room: Room,
    ) -> None:
        self._pool, self.key, self.sealed = pool, key, sealed
        self._sweep, self._budget, self._room = sweep, budget, room
        self._reader = AnswerReader()
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[HopResponse] | None = None
        self._shaken: asyncio.Future[None] | None = None
        self._poll: select.poll | None = None
        self.has_spoken = self.is_over = self._is_session_kept = self._is_extended = False
        self._unread: bytes | None = None
        self.idle_since = 0.0
        self._mute_bytes = 0

    @property
    def is_sealed(self) -> bool:
        """It is encrypted."""
        return self.sealed is not None

    @property
    def is_quiet(self) -> bool:
        """Nothing waits in its socket: no bytes that nobody asked for, and no end."""
        transport = self._transport
        if self.is_over or transport is None or transport.is_closing() or self._unread is not None:
            return False
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(transport.get_extra_info("socket"), select.POLLIN)
        return not self._poll.poll(0)

    def ask(self, head: bytes, request: HopRequest, began: float, now: float) -> asyncio.Future[HopResponse]:
        """Send a request.

        began  when what its total deadline is for began, and
        now    the time, both in the seconds of `DeadlineSweep.listening_s`
        The future gives the answer, or raises Broken (Stale among them), TooLong, NotDecodable, NoRoom or
        DeadlineMissed. Whoever waits for it no longer says `give_up`.
        """
        transport = self._transport
        self._answer = answer = self._pool.loop.create_future()
        if transport is None or self.is_over:
            answer.set_exception(Stale())
            return answer
        self._reader.begin(request)
        self._request, self._began = request, began
        self._total_until = began + request.total_s
        self._phase = Phase.FIRST_BYTE
        self._is_extended = False
        self._until = now + self._sweep.first_byte_s
        self._sweep.add(self)
        sealed = self.sealed
        if sealed is not None:
            try:
                sealed.write(head)
            except ssl.SSLError as exc:
                self._lost(one_line(exc))
                return answer
            head = sealed.pending()
        transport.write(head)
        return answer

    async def shake(self) -> None:
        """Shake hands; raises ssl.SSLError or ConnectionResetError."""
        self._shaken = self._pool.loop.create_future()
        self._shake()
        try:
            await self._shaken
        finally:
            self._shaken = None

    def check(self, now: float) -> None:
        """Give the request up if one of its deadlines is over; see `deadlines.Watched`."""
        if self._answer is None or (now < self._total_until and now < self._until):
            return
        if not self._is_extended and not self.is_quiet:
            # What is there was sent in time, and is read before the next look.
            self._is_extended = True
        elif now >= self._total_until:
            self._late(DeadlineMissed(self._phase, self._request.total_s, total=True))
        else:
            self._late(DeadlineMissed(self._phase, self._sweep.limits[self._phase], total=False))

    def interrupt(self, why: Exception) -> None:
        """Give the request up."""
        self._fail(why)

    def give_up(self, answer: asyncio.Future[HopResponse] | None) -> None:
        """Nobody waits for this answer any more, or will ask; the connection may be serving somebody else by now."""
        if self._answer is answer:
            self.abort()
        elif answer is not None and answer.done() and not answer.cancelled():
            # Else the loop would complain that nobody looked at its error.
            answer.exception()

    def close(self) -> None:
        """End it, politely where it is encrypted."""
        sealed, transport = self.sealed, self._transport
        if sealed is None or transport is None or self.is_over or transport.get_write_buffer_size():
            # Whoever does not even read what we asked would keep us waiting until it does.
            self.abort()
            return
        sealed.end()
        self._flush()
        self._leave()
        transport.close()

    def abort(self) -> None:
        """End it at once, with what it was doing."""
        self._leave()
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = transport  # type: ignore[assignment] # of a stream

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - there is one buffer
        """Give the room to read into."""
        return self._room.wire

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        data = self._room.wire[:nbytes]
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
        elif self.sealed is not None and not self.sealed.was_ended:
            why = "the connection was cut off: nobody said that this was the end"
        else:
            why = None
        if self._shaken is not None and not self._shaken.done():
            self._shaken.set_exception(ConnectionResetError("cut off during the handshake"))
        if self._unread is not None and not self.is_over:
            unread, self._unread = self._unread, None
            self._read(memoryview(unread))
        self._lost(why)
        self._transport = None
        self._pool.standing.discard(self)

    def _read(self, data: memoryview) -> None:
        if self.sealed is None:
            self._take(data)
        else:
            self._unseal(self.sealed, data)

    def _read_long(self, data: memoryview) -> None:
        """Read piece by piece; what is left after `TURN_S` waits for the loop's next turn, and so does the socket."""
        began = time.monotonic()
        for at in range(0, len(data), _AT_ONCE_BYTES):
            # What comes behind an answer ends the connection, and does so before another request is made over it.
            if at and self._answer is not None and time.monotonic() - began >= TURN_S:
                self._put_by(bytes(data[at:]))
                return
            self._read(data[at : at + _AT_ONCE_BYTES])
            if self.is_over:
                return
        if time.monotonic() - began >= _LONG_S:
            self._put_by(b"")

    def _put_by(self, unread: bytes) -> None:
        """Let the loop have a turn before these bytes, and any after them, are read."""
        transport, body = self._transport, self._reader.body
        if transport is None or self.is_over or transport.is_closing():
            return
        if body is not None:
            try:
                self._budget.hold(self, body.body_bytes + len(unread))
            except NoRoom as exc:
                self._fail(exc)
                return
        if self._unread is None:
            transport.pause_reading()
        self._unread = unread
        self._pool.loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Read what was put by, then the socket again."""
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

    def _unseal(self, sealed: Sealed, data: memoryview) -> None:
        self._mute_bytes += len(data)
        try:
            for at in range(0, len(data), _AT_ONCE_BYTES):
                sealed.take(data[at : at + _AT_ONCE_BYTES])
                if not sealed.is_open:
                    self._shake()
                while sealed.is_open and not self.is_over and (count := sealed.read_into(self._room.plain)):
                    self._mute_bytes = 0
                    self._take(self._room.plain[:count])
        except ssl.SSLError as exc:
            self._lost(f"the connection was lost: {one_line(exc)}")
            return
        self._flush()
        if sealed.was_ended:
            self._lost(None)
        elif self._mute_bytes > MOST_MUTE_BYTES:
            self._fail(Broken("more bytes of TLS than any handshake takes, and nothing in them"))

    def _shake(self) -> None:
        sealed, shaken = self.sealed, self._shaken
        if sealed is None or shaken is None or shaken.done():
            return
        try:
            if sealed.shake():
                shaken.set_result(None)
        except ssl.SSLError as exc:
            shaken.set_exception(exc)
        self._flush()

    def _flush(self) -> None:
        sealed, transport = self.sealed, self._transport
        if sealed is not None and transport is not None and not self.is_over and (pending := sealed.pending()):
            transport.write(pending)

    def _take(self, data: bytes | memoryview) -> None:
        if self._answer is None:
            # Source: RFC 9112, 6.3: what nobody asked for is no answer to a request that is yet to be made.
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
        except (Broken, TooLong, NotDecodable, NoRoom) as exc:
            self._fail(exc)
            return
        if self._phase is Phase.FIRST_BYTE and reader.has_header:
            self._phase = Phase.BODY
            self._until = self._sweep.listening_s() + DRAINED_S if reader.body is None else float("inf")

    def _finish(self) -> None:
        """Give the answer to whom it belongs; raises NotDecodable."""
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
        if self.sealed is not None and not self._is_session_kept:
            self._is_session_kept = True
            self.sealed.keep_session()
        if answer is not None and not answer.done():
            answer.set_result(response)
        if is_cut:
            self.abort()
        elif not reader.is_sure or self.is_over:
            self.close()
        else:
            self.idle_since = self._sweep.now()
            self._pool.keep(self)

    def _late(self, missed: DeadlineMissed) -> None:
        if self._phase is Phase.BODY and self._reader.body is None:
            # The rest of what is thrown away is not worth waiting for.
            self._reader.give_up()
            self._finish()
            self.abort()
        else:
            self._fail(missed)

    def _lost(self, why: str | None) -> None:
        """Take the end of what came, whatever ended it."""
        if self._answer is not None:
            reader = self._reader
            if reader.is_silent:
                self._fail(Stale())
                return
            try:
                reader.end(why)
                self._finish()
            except (Broken, NotDecodable) as exc:
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
        """Serve no request any more."""
        self._answer = None
        self._sweep.remove(self)
        self._budget.release(self)

    def _leave(self) -> None:
        if not self.is_over:
            self.is_over = True
            self._unread = None
            self._pool.withdraw(self)
            answer = self._answer
            self._rest()
            self._reader.close()
            if answer is not None and not answer.done():
                answer.set_exception(Disconnected("the connection was closed by us"))
