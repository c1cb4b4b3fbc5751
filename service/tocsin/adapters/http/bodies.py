"""The body of an answer: decoded as it arrives, within bounds of its own and of all bodies in flight."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from typing import Final, Protocol

from isal import isal_zlib

from tocsin.adapters.http.deadlines import InFlight
from tocsin.settings import FetchSettings

# One bound for the memory of all bodies in flight, beside the cap of each.


# As many bodies of the greatest length are in memory at one time.
LONGEST_BODIES: Final = 16
# The bound is the larger of LONGEST_BODIES of the greatest length and one usual body for each request in flight.
USUAL_BODY_BYTES: Final = 128 * 1024


class BodiesTooLarge(Exception):
    """All bodies together take more than their bound, and this is the longest of them."""


class BodyBudget:
    """Counts the bytes of the bodies that are being received; over the bound it gives up the longest one."""

    # No request waits for room: a server that sends without end would hold the room that others wait for.

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[InFlight, int] = {}
        self._held_bytes = 0

    def hold(self, watch: InFlight, body_bytes: int) -> None:
        """Note the length of the body of this request so far; raises BodiesTooLarge if this one is given up."""
        self._held_bytes += body_bytes - self._held.get(watch, 0)
        self._held[watch] = body_bytes
        if self._held_bytes > self._most_bytes:
            count, longest = len(self._held), max(self._held, key=self._held.__getitem__)
            self.release(longest)
            no_room = BodiesTooLarge(
                f"the longest of {count} answers in flight that took more than {self._most_bytes} bytes together; "
                "lower fetch.in_flight or fetch.max_body"
            )
            if longest is watch:
                # A task that cancels itself continues until its next await, which may belong to its next request.
                raise no_room
            longest.interrupt(no_room)

    def has_room(self, body_bytes: int) -> bool:
        """Tell whether a body of this length fits beside those that are held."""
        return self._held_bytes + body_bytes <= self._most_bytes

    def release(self, watch: InFlight) -> None:
        """Forget the body of this request, if it has one."""
        self._held_bytes -= self._held.pop(watch, 0)

    @property
    def held_bytes(self) -> int:
        """The length of all bodies in flight so far."""
        return self._held_bytes


def room_for_bodies(settings: FetchSettings, *, fetchers: int = 1) -> int:
    """Give the bound in bytes that the settings imply for each fetcher; at least one body of the greatest length."""
    together = max(LONGEST_BODIES * settings.max_body, USUAL_BODY_BYTES * settings.in_flight)
    return max(together // fetchers, settings.max_body)


# Decoding the body of an answer while it is received, within two caps.


ACCEPTED = "gzip, deflate"
# Some servers compress twice by mistake; more is an attack.
MOST_CODINGS = 2
# The least that a piece of a body counts against the cap: each piece costs some calls, even a short one.
LEAST_PIECE_BYTES = 64
# This much may come in tiny pieces even under a lower cap.
_LEAST_WORK_BYTES = 64 * 1024
# What each further member of a gzip body counts: it needs a decompressor of its own.
_MEMBER_BYTES = 1024
# Output of one call: a bomb is noticed after each.
_AT_ONCE_BYTES = 256 * 1024
# The first byte of gzip (RFC 1952).
_GZIP_START = 0x1F
# zlib's numbers for a window of 32 KiB with a header of gzip, of zlib, and without one.
_GZIP_WBITS = 31
_ZLIB_WBITS = 15
_RAW_WBITS = -15
# The low half of the first byte of zlib (RFC 1950); without it, `deflate` is raw.
_ZLIB_METHOD = 0x08
_INFLATE_ERROR: type[Exception] = isal_zlib.error  # type: ignore[assignment] # its stub gives the type of an instance


class TooLong(Exception):
    """The body exceeds a cap; the text names the cap and its setting."""


class NotDecodable(Exception):
    """The body does not follow its content coding; the text says how."""


class _Decompressor(Protocol):
    eof: bool
    unused_data: bytes
    unconsumed_tail: bytes

    def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


class Body:
    """Takes the pieces of a body and gives the whole body.

    codings     the value of Content-Encoding, or None
    max_wire    the most bytes to take
    max_body    the most bytes to give
    cut_at      the number of decoded bytes that are wanted: the caps then end the body instead of refusing it
    wire_bytes  bytes taken so far
    body_bytes  bytes given so far
    is_cut      there is more than is wanted
    Raises NotDecodable for a coding that was not asked for.
    """

    def __init__(self, codings: str | None, *, max_wire: int, max_body: int, cut_at: int | None = None) -> None:
        self._stages = [_Stage(coding) for coding in reversed(_read_codings(codings))] if codings else []
        self._max_wire = max_wire
        self._work_left = max(max_wire, _LEAST_WORK_BYTES)
        self._max_body = max_body
        self._cut_at = cut_at
        self._first = b""
        self._more: BytesIO | None = None
        self.body_bytes = 0
        self.wire_bytes = 0
        self.is_cut = False

    def announce(self, wire_bytes: int) -> None:
        """Check the announced length before the body is read; raises TooLong."""
        if self._cut_at is not None:
            return
        if wire_bytes > self._max_wire:
            raise TooLong(f"{wire_bytes} bytes announced, more than {self._max_wire} (fetch.max_wire)")
        if not self._stages and wire_bytes > self._max_body:
            raise TooLong(f"{wire_bytes} bytes announced, more than {self._max_body} (fetch.max_body)")

    def take(self, piece: bytes) -> None:
        """Take the next piece; raises TooLong or NotDecodable."""
        size = len(piece)
        self.wire_bytes += size
        self._work_left -= max(LEAST_PIECE_BYTES, size)
        if self.wire_bytes > self._max_wire:
            self._refuse(f"more than {self._max_wire} bytes before decoding (fetch.max_wire)")
            return
        if self._work_left < 0:
            self._refuse(f"{self.wire_bytes} bytes came in too many tiny pieces (fetch.max_wire)")
            return
        for part in self._decoded(piece, 0):
            self._give(part)
            if self.is_cut:
                return

    def whole(self) -> bytes:
        """Give the decoded body; raises NotDecodable if coded data ends too early."""
        for stage in self._stages:
            if not self.is_cut:
                stage.refuse_cut()
        return self._first if self._more is None else self._more.getvalue()

    def discard(self) -> None:
        """Free the bytes: an error may keep this object alive."""
        self._first, self._more = b"", None
        self._stages.clear()

    def _decoded(self, piece: bytes, depth: int) -> Iterator[bytes]:
        """Decode a piece, one coding after the other."""
        if depth == len(self._stages):
            yield piece
            return
        for part in self._stages[depth].inflate(piece):
            yield from self._decoded(part, depth + 1)
            # Data between two codings may be endless, too, and give no byte at all.
            most, stage = max(self._max_body, self._max_wire), self._stages[depth]
            if stage.given_bytes > most:
                self._refuse(f"more than {self._max_body} bytes between its codings (fetch.max_body)")
                return
            if stage.members * _MEMBER_BYTES > most:
                self._refuse(f"more than {most // _MEMBER_BYTES} members of {stage.coding} (fetch.max_body)")
                return

    def _give(self, piece: bytes) -> None:
        if self._cut_at is not None:
            wanted = self._cut_at - self.body_bytes
            self.is_cut = self.is_cut or len(piece) > wanted
            piece = piece[:wanted]
        self.body_bytes += len(piece)
        if self._cut_at is None and self.body_bytes > self._max_body:
            raise TooLong(f"more than {self._max_body} bytes after decoding (fetch.max_body)")
        if not self._first:
            self._first = piece
        elif piece:
            if self._more is None:
                # BytesIO grows in place and gives its value without a copy: a long body is in memory only once.
                self._more = BytesIO()
                self._more.write(self._first)
            self._more.write(piece)

    def _refuse(self, why: str) -> None:
        if self._cut_at is None:
            raise TooLong(why)
        self.is_cut = True


class _Stage:
    """Decodes one coding.

    given_bytes  decoded so far
    members      of a gzip body so far
    """

    def __init__(self, coding: str) -> None:
        self.coding = coding
        self._inflater: _Decompressor | None = None
        self._taken_bytes = 0
        self.given_bytes = self.members = 0

    def inflate(self, piece: bytes) -> Iterator[bytes]:
        """Decode a piece in steps, with an empty one before each further member; raises NotDecodable."""
        self._taken_bytes += len(piece)
        while piece:
            if self._inflater is None:
                self._inflater = self._new_inflater(piece)
            elif self._inflater.eof:
                # A gzip body may consist of several members (RFC 1952, 2.2); nothing else may follow.
                if self.coding != "gzip" or piece[0] != _GZIP_START:
                    raise NotDecodable(f"{len(piece)} bytes or more follow the end of the {self.coding} data")
                self.members += 1
                # Empty members give no output, so a cap on the output would never end them.
                yield b""
                self._inflater = self._new_inflater(piece)
            while part := self._step(self._inflater, piece):
                yield part
                piece = self._inflater.unconsumed_tail
                if len(part) < _AT_ONCE_BYTES or self._inflater.eof:
                    break
            piece = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail

    def refuse_cut(self) -> None:
        """Raise NotDecodable if the data has begun and not ended."""
        # Many servers send an empty body as no bytes at all under a coding.
        if self._taken_bytes and (self._inflater is None or not self._inflater.eof):
            raise NotDecodable(f"{self.coding} data is cut off after {self._taken_bytes} bytes")

    def _step(self, inflater: _Decompressor, piece: bytes) -> bytes:
        try:
            part = inflater.decompress(piece, _AT_ONCE_BYTES)
        except _INFLATE_ERROR as exc:
            raise NotDecodable(f"not {self.coding}: {exc}") from exc
        self.given_bytes += len(part)
        return part

    def _new_inflater(self, start: bytes) -> _Decompressor:
        if self.coding == "gzip":
            wbits = _GZIP_WBITS
        else:
            # "deflate" is zlib's format (RFC 9110, 8.4.1.2), but many servers send it raw.
            wbits = _ZLIB_WBITS if start[0] & 0x0F == _ZLIB_METHOD and start[0] >> 4 <= 7 else _RAW_WBITS  # noqa: PLR2004 - the largest window
        inflater: _Decompressor = isal_zlib.decompressobj(wbits=wbits)
        return inflater


def _read_codings(value: str) -> list[str]:
    """Read Content-Encoding: "gzip" and "deflate" in the order in which they were applied."""
    codings = [name for part in value.split(",") if (name := part.strip().lower()) not in ("", "identity")]
    if len(codings) > MOST_CODINGS:
        raise NotDecodable(f"coded {len(codings)} times over ({', '.join(codings[:5])[:80]}), more than {MOST_CODINGS}")
    for coding in codings:
        if coding.removeprefix("x-") not in ("gzip", "deflate"):
            raise NotDecodable(f"coded as {coding[:40]!a}, which was not asked for (only {ACCEPTED})")
    return [coding.removeprefix("x-") for coding in codings]
