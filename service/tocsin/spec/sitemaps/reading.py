"""A sitemap read as a stream: pieces of bytes in, addresses out, memory flat whatever comes."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tocsin.spec.sitemaps.found import Kind, Location, Problem
from tocsin.spec.sitemaps.lines import LineReader
from tocsin.spec.sitemaps.xml import MarkupReader

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_BYTES", "MOST_LOCATIONS", "Kind", "Location", "Problem", "SitemapReader"]

MOST_LOCATIONS = 50_000
MOST_BYTES = 50 * 2**20
_PIECE_BYTES = 65_536
_GZIP = b"\x1f\x8b"
_TELLING_BYTES = 16
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")
_MARKS = (b"\xef\xbb\xbf", *_WIDE_MARKS)
_SPACE = b" \t\r\n\x00"


class SitemapReader:
    """Reads one sitemap of any kind; never raises.

    kind     what it is, once that is known
    root     the name of its root element, where it has one
    problem  why reading ended before the end; what is fed then is not looked at
    Source   sitemaps.org protocol 0.9: 50,000 addresses, 50 MB uncompressed, gzip, no index in an index.
    """

    def __init__(self) -> None:
        self.problem: Problem | None = None
        self._reader: MarkupReader | LineReader | None = None
        self._inflater: _Inflater | None = None
        self._is_begun = False
        self._held = self._beginning = b""
        self._bytes = 0
        self._locations = 0

    @property
    def kind(self) -> Kind | None:
        """What it is; None before that is known, and for what is no sitemap."""
        return self._reader.kind if self._reader else None

    @property
    def root(self) -> str | None:
        """The name of the root element, without prefix."""
        return self._reader.root if isinstance(self._reader, MarkupReader) else None

    @property
    def is_over(self) -> bool:
        """Whether nothing that is fed from now on will be read."""
        return self.problem is not None

    def feed(self, piece: bytes) -> list[Location]:
        """Read on; returns the addresses that this piece completes."""
        found: list[Location] = []
        for plain in self._inflated(piece):
            self._read(plain, found)
            if self.is_over:
                break
        return found

    def close(self) -> list[Location]:
        """Read to the end of what was fed; returns the addresses that were not given yet."""
        found: list[Location] = []
        if self.problem is None:
            if self._inflater is not None and not self._inflater.is_whole:
                self.problem = Problem(self._line, "its compression breaks off; get the file again", is_fatal=False)
            held, self._held = self._held, b""
            self._read(held, found, is_last=True)
        return found

    def _inflated(self, piece: bytes) -> Iterator[bytes]:
        """Yield the piece decompressed, in bounded pieces."""
        if self.is_over:
            return
        if not self._is_begun:
            self._held += piece
            if len(self._held) < len(_GZIP):
                return
            piece, self._held, self._is_begun = self._held, b"", True
            if piece.startswith(_GZIP):
                self._inflater = _Inflater()
        if self._inflater is None:
            yield from (piece[at : at + _PIECE_BYTES] for at in range(0, len(piece), _PIECE_BYTES))
            return
        try:
            yield from self._inflater.feed(piece)
        except zlib.error as exc:
            reason = f"its compression is broken ({exc}); get the file again"
            self.problem = Problem(self._line, reason, is_fatal=self._reader is None)

    def _read(self, plain: bytes, found: list[Location], *, is_last: bool = False) -> None:
        room = max(MOST_BYTES - self._bytes, 0)
        self._bytes += len(plain)
        plain = plain[:room]
        if self._reader is None:
            self._beginning += plain
            if not is_last and not self._is_recognisable():
                return
            plain = self._choose()
        if self._reader is not None:
            self._take(self._reader.feed(plain, is_last=is_last), found)
            self.problem = self.problem or self._reader.problem
        if self._bytes > MOST_BYTES and self.problem is None:
            reason = f"longer than {MOST_BYTES // 2**20} MB uncompressed, which no sitemap may be; split it"
            self.problem = Problem(self._line, reason, is_fatal=False)

    def _take(self, locations: list[Location], found: list[Location]) -> None:
        room = MOST_LOCATIONS - self._locations
        self._locations += len(locations)
        found += locations[:room]
        if len(locations) > room:
            reason = f"more than {MOST_LOCATIONS:,} addresses, which no sitemap may have; split it"
            self.problem = Problem(locations[room].line, reason, is_fatal=False)

    def _is_recognisable(self) -> bool:
        """Whether enough was read to say what it is; white space alone says nothing, but not without end."""
        start = self._beginning
        return len(start) > _PIECE_BYTES or len(start.lstrip(_SPACE)) >= _TELLING_BYTES

    def _choose(self) -> bytes:
        """Recognise what it is by what stands at its beginning; returns what is to be read first."""
        start = self._beginning
        self._beginning = b""
        mark = next((mark for mark in _MARKS if start.startswith(mark)), b"")
        rest = start[len(mark) :].lstrip(_SPACE)
        if not rest.startswith(b"<"):
            self._reader = LineReader()
            return start
        if mark in _WIDE_MARKS:
            self._reader = MarkupReader()
            return start
        # XML forbids white space before its declaration, which many a site writes there.
        blank = start[: len(start) - len(rest)]
        self._reader = MarkupReader(lines_before=len((blank + b".").splitlines()) - 1)
        return rest

    @property
    def _line(self) -> int:
        return self._reader.line if self._reader else 1


class _Inflater:
    """Decompresses gzip, whatever its size, a bounded piece at a time."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)

    @property
    def is_whole(self) -> bool:
        """Whether the last member ended as it should."""
        return self._stream.eof

    def feed(self, piece: bytes) -> Iterator[bytes]:
        is_full = False
        while piece or is_full:
            if self._stream.eof:
                # Several members in a row are one text; what else is behind the last one is padding.
                if not piece.startswith(_GZIP):
                    return
                self._stream = zlib.decompressobj(wbits=31)
            plain = self._stream.decompress(piece, _PIECE_BYTES)
            piece = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            # What was put in may be gone while some of what comes out is still held back.
            is_full = len(plain) == _PIECE_BYTES
            if plain:
                yield plain
