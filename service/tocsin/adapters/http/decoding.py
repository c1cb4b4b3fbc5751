"""Bodies as they come over the wire, decoded as they come, within two caps."""

from __future__ import annotations

from typing import Protocol

from isal import isal_zlib

ACCEPTED = "gzip, deflate"
_GZIP_START = 0x1F
_GZIP_WBITS = 31
_ZLIB_WBITS = 15
_RAW_WBITS = -15
_ZLIB_METHOD = 0x08
_INFLATE_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment] # its stub gives the type of an instance


class TooLong(Exception):
    """The body is longer than a cap; the text names the cap and its setting."""


class NotDecodable(Exception):
    """The body is not what its content coding says; the text says how."""


class _Inflater(Protocol):
    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class Body:
    """Takes the pieces of a body and gives the whole.

    coding      the value of Content-Encoding, or None
    max_wire    the most bytes to take
    max_body    the most bytes to give
    wire_bytes  bytes taken so far
    Raises NotDecodable for a coding that was not asked for. Pieces are never inflated beyond what the cap leaves.
    """

    def __init__(self, coding: str | None, *, max_wire: int, max_body: int) -> None:
        self._coding = _coding(coding)
        self._max_wire = max_wire
        self._max_body = max_body
        self._inflater: _Inflater | None = None
        self._pieces: list[bytes] = []
        self._body_bytes = 0
        self.wire_bytes = 0

    def announce(self, wire_bytes: int) -> None:
        """Judge the length that the framing announces, before anything of it is read; raises TooLong."""
        if wire_bytes > self._max_wire:
            raise TooLong(f"{wire_bytes} bytes announced, more than {self._max_wire} (fetch.max_wire)")
        if self._coding is None and wire_bytes > self._max_body:
            raise TooLong(f"{wire_bytes} bytes announced, more than {self._max_body} (fetch.max_body)")

    def take(self, piece: bytes) -> None:
        """Take the next piece; raises TooLong or NotDecodable."""
        self.wire_bytes += len(piece)
        if self.wire_bytes > self._max_wire:
            raise TooLong(f"more than {self._max_wire} bytes before decoding (fetch.max_wire)")
        if self._coding is None:
            self._give(piece)
        else:
            self._inflate(piece)

    def whole(self) -> bytes:
        """Give the decoded body; raises NotDecodable if the coding is cut off."""
        # No bytes at all under a coding is how many servers write an empty body; it is one.
        if self._coding is not None and self.wire_bytes and (self._inflater is None or not self._inflater.eof):
            raise NotDecodable(f"{self._coding} data is cut off after {self.wire_bytes} bytes")
        return self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)

    def _give(self, piece: bytes) -> None:
        self._body_bytes += len(piece)
        if self._body_bytes > self._max_body:
            raise TooLong(f"more than {self._max_body} bytes after decoding (fetch.max_body)")
        if piece:
            self._pieces.append(piece)

    def _inflate(self, piece: bytes) -> None:
        while piece:
            if self._inflater is None:
                self._inflater = self._new_inflater(piece)
            elif self._inflater.eof:
                # A gzip body may consist of several members (RFC 1952, 2.2); nothing else may follow.
                if self._coding != "gzip" or piece[0] != _GZIP_START:
                    raise NotDecodable(f"{len(piece)} bytes or more follow the end of the {self._coding} data")
                self._inflater = self._new_inflater(piece)
            try:
                self._give(self._inflater.decompress(piece, self._max_body - self._body_bytes + 1))
            except _INFLATE_ERROR as exc:
                raise NotDecodable(f"not {self._coding}: {exc}") from exc
            piece = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail

    def _new_inflater(self, start: bytes) -> _Inflater:
        if self._coding == "gzip":
            wbits = _GZIP_WBITS
        else:
            # "deflate" is zlib's format (RFC 9110, 8.4.1.2), but many servers send it raw.
            wbits = _ZLIB_WBITS if start[0] & 0x0F == _ZLIB_METHOD and start[0] >> 4 <= 7 else _RAW_WBITS  # noqa: PLR2004 - the largest window
        inflater: _Inflater = isal_zlib.decompressobj(wbits=wbits)
        return inflater


def _coding(value: str | None) -> str | None:
    """Read Content-Encoding: "gzip", "deflate", or None for none."""
    codings = [name for part in (value or "").split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if not codings:
        return None
    if len(codings) > 1:
        raise NotDecodable(f"coded {len(codings)} times over ({', '.join(codings[:5])}), which was not asked for")
    coding = codings[0].removeprefix("x-")
    if coding not in ("gzip", "deflate"):
        raise NotDecodable(f"coded as {codings[0][:40]!r}, which was not asked for (only {ACCEPTED})")
    return coding
