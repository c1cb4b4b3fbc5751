"""One connection: what comes over it is counted, and one whose framing can be doubted serves no second request."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

from aiohttp import ClientPayloadError, TCPConnector
from aiohttp.client_proto import ResponseHandler
from aiohttp.http import HttpVersion11
from aiohttp.http_exceptions import HttpProcessingError

from tocsin.adapters.http.decoding import LEAST_PIECE_BYTES, TooLong

if TYPE_CHECKING:
    from aiohttp.http import RawResponseMessage
    from aiohttp.streams import StreamReader

MOST_INTERIM = 5
MOST_HEADER_BYTES = 128 * 1024
"""Of the headers of an answer and all interim ones before it; besides, one header has a cap, and their number."""
_END_OF_HEADER = b"\r\n\r\n"
_SWITCHING = 101
_FINAL = 200
_FRAMING_BYTES = 64 * 1024


class ConnectionHandler(ResponseHandler):
    """Aiohttp's handler of a connection, with caps on what aiohttp does not count.

    Bytes that nobody asked for are never taken for the answer to the next request, whenever they come.
    """

    _answer: StreamReader | None = None
    _has_given_up = False
    _interim = 0
    _header_left = MOST_HEADER_BYTES
    _silent_left = 2 * MOST_HEADER_BYTES
    _body_left: int | None = None

    def set_response_params(self, **params: Any) -> None:
        """Begin to wait for the answer to one request."""
        self._answer, self._interim = None, 0
        self._header_left, self._silent_left = MOST_HEADER_BYTES, 2 * MOST_HEADER_BYTES
        super().set_response_params(**params)

    def limit(self, wire_bytes: int) -> None:
        """Take at most so many bytes of the next body; as many again for its framing (chunks have lengths, too)."""
        self._body_left = 2 * wire_bytes + _FRAMING_BYTES

    def connection_lost(self, exc: BaseException | None) -> None:
        """End, and let go of the answer: who reads it has it."""
        super().connection_lost(exc)
        self._answer = None

    def data_received(self, data: bytes) -> None:
        """Take bytes from the connection."""
        # The parser is given a header apart from what follows: what is wrong behind an answer takes nothing from it.
        while self._answer is None and not self._has_given_up:
            header, end, rest = data.partition(_END_OF_HEADER)
            if not rest:
                break
            self._take(header + end)
            data = rest
        self._take(data)

    def _take(self, data: bytes) -> None:
        if self._answer is not None and self._answer.is_eof() and data:
            # Source: RFC 9112, 6.3: what follows an answer is no answer to a request that is yet to be made.
            self._close()
            return
        super().data_received(data)
        if self._answer is None:
            # As in a body: bytes that come one by one cost as much as some dozens.
            self._silent_left -= max(len(data), LEAST_PIECE_BYTES)
            self._refuse_long_header()
        elif self._body_left is not None:
            self._body_left -= len(data)
            if self._body_left < 0 and not self._answer.is_eof():
                self._answer.set_exception(TooLong("more bytes on the wire than any framing takes (fetch.max_wire)"))
                self._close()

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take a message that the parser found: an interim one, or the answer."""
        message, payload = data
        if self._answer is not None:
            self.force_close()
            return
        # It may have come in one piece with its body, of which the header alone counts here.
        self._header_left -= sum(len(name) + len(value) for name, value in message.raw_headers)
        self._refuse_long_header()
        # By the names as llhttp frames by them: without the spaces that may stand before the colon.
        codings = [said.lower() for name, said in message.raw_headers if name.rstrip().lower() == b"transfer-encoding"]
        if message.version.major != 1:
            self._give_up(f"version {message.version.major}.{message.version.minor}")
        elif codings and (codings != [b"chunked"] or not message.chunked):
            # aiohttp would read on as if it were not there, and what is still coded would be the page.
            self._give_up("a transfer coding other than chunked")
        elif message.code < _FINAL and message.code != _SWITCHING:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                self._give_up(f"more than {MOST_INTERIM} interim answers")
        else:
            self._answer = payload
            if message.version < HttpVersion11:
                # Whether such a server means to keep a connection, and where its answer ends, is mere convention.
                self.force_close()
        if not self._has_given_up:
            super().feed_data(data, size)

    def set_exception(self, exc: BaseException, exc_cause: BaseException | None = None) -> None:
        """Take note that the connection failed; so has a body that it was bringing, which aiohttp leaves waiting."""
        super().set_exception(exc, exc_cause or exc)
        if self._answer is not None and not self._answer.is_eof() and self._answer.exception() is None:
            failure = ClientPayloadError("the framing of the body is broken")
            failure.__cause__ = exc
            self._answer.set_exception(failure)

    @property
    def should_close(self) -> bool:
        """Say whether no other request may be sent over this connection."""
        return super().should_close or self._has_begun_another()

    def _has_begun_another(self) -> bool:
        """Say whether the parser stands in the middle of a message after the answer."""
        if self._parser is None or self._answer is None:
            return False
        try:
            return self._parser.feed_eof() is not None
        except HttpProcessingError:
            return True

    def _refuse_long_header(self) -> None:
        if self._header_left < 0 or self._silent_left < 0:
            self._give_up(f"headers of more than {MOST_HEADER_BYTES} bytes")

    def _give_up(self, why: str) -> None:
        if not self._has_given_up:
            self._has_given_up = True
            self.set_exception(HttpProcessingError(code=0, message=why))
            self._close()

    def _close(self) -> None:
        self.force_close()
        if self.transport is not None:
            self.transport.close()


class HandledConnector(TCPConnector):
    """Makes connections that are handled so."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._factory = cast("partial[ResponseHandler]", partial(ConnectionHandler, loop=self._loop))
