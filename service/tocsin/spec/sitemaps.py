"""Sitemaps, their indexes, feeds and plain lists of URLs, read as a stream in constant memory (sitemaps.org)."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple
from xml.parsers import expat


class SitemapKind(StrEnum):
    """A sitemap of pages, an index of sitemaps, a feed whose entries are pages, or a text with a URL a line."""

    PAGES = "urlset"
    INDEX = "sitemapindex"
    FEED = "feed"
    TEXT = "text"


class Location(NamedTuple):
    """An address, not checked yet.

    line     of its element, from 1
    lastmod  the date of its last change, as a sitemap or an index writes it; those of feeds are read by `spec.feeds`
    """

    line: int
    url: str
    lastmod: str | None = None


class SitemapProblem(NamedTuple):
    """Why reading ended early.

    is_fatal  this is not a sitemap; otherwise the addresses before are valid
    """

    line: int
    reason: str
    is_fatal: bool


LONGEST_LINE = 65_536
_LINE_END = re.compile(r"\r\n|\r|\n")
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class LineReader:
    """Reads a URL a line; empty lines, and lines that begin with `#`, are skipped."""

    kind = SitemapKind.TEXT

    def __init__(self) -> None:
        self.problem: SitemapProblem | None = None
        self.line = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._rest = ""

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Location]:
        """Read the next piece; the first one has at least two bytes, unless it is the last."""
        if self._decoder is None:
            encoding = _UTF16.get(piece[:2], "utf-8-sig")
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        text = self._rest + self._decoder.decode(piece, is_last)
        # A carriage return at the end may be the first half of a line end.
        held = "\r" if text.endswith("\r") and not is_last else ""
        lines = _LINE_END.split(text[: len(text) - len(held)])
        self._rest = lines.pop() + held
        if is_last and self._rest:
            lines.append(self._rest)
        found = []
        for line in lines:
            self.line += 1
            url = line.strip("\ufeff \t")
            if url and not url.startswith("#"):
                found.append(Location(self.line, url))
        if len(self._rest) > LONGEST_LINE:
            self.problem = SitemapProblem(
                self.line + 1, f"longer than {LONGEST_LINE} characters; a URL a line", is_fatal=False
            )
        return found


DEEPEST = 64
LONGEST_TOKEN_BYTES = 2**20
LONGEST_URL = 16_384
# HTML allows any case, and XML does not.
_HTML = re.compile(rb"<!doctype html", re.IGNORECASE)
_ROOTS = {
    "urlset": SitemapKind.PAGES,
    "sitemapindex": SitemapKind.INDEX,
    "rss": SitemapKind.FEED,
    "RDF": SitemapKind.FEED,
    "feed": SitemapKind.FEED,
}
# The element with an address, and the one around it.
_PLACES = {
    SitemapKind.PAGES: {("url", "loc")},
    SitemapKind.INDEX: {("sitemap", "loc")},
    SitemapKind.FEED: {("item", "link"), ("entry", "link")},
}
# The element with the date of the last change, and the one around it.
_DATES = {("url", "lastmod"), ("sitemap", "lastmod")}


class _RefusedSitemap(Exception):
    def __init__(self, problem: SitemapProblem) -> None:
        self.problem = problem


class MarkupReader:
    """Reads a sitemap, an index, or a feed in XML, without entities or document types, and of limited depth.

    kind          by the root element; None before it, and for other documents
    lines_before  lines that were skipped
    """

    def __init__(self, *, lines_before: int = 0) -> None:
        self._lines_before = lines_before
        self.kind: SitemapKind | None = None
        self.root: str | None = None
        self.problem: SitemapProblem | None = None
        self._above: list[str] = []
        self._found: list[Location] = []
        self._text: list[str] | None = None
        self._text_length = self._text_line = 0
        self._is_entry_done = False
        self._waiting: Location | None = None
        self._lastmod: str | None = None
        self._fed = 0
        self._expat = expat.ParserCreate(namespace_separator=" ")
        self._expat.buffer_text = True
        self._expat.StartDoctypeDeclHandler = self._refuse_doctype
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._characters

    @property
    def line(self) -> int:
        """The current line."""
        return self._lines_before + self._expat.CurrentLineNumber

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Location]:
        """Read the next piece."""
        is_first, self._fed = self._fed == 0, self._fed + len(piece)
        try:
            if is_first and _HTML.match(piece):
                self._refuse_html()
            self._expat.Parse(piece, is_last)
        except _RefusedSitemap as exc:
            self.problem = exc.problem
        except expat.ExpatError as exc:
            why = expat.ErrorString(exc.code)
            reason = (
                f"not XML ({why})" if self.root is None else f"not XML from here on ({why}); get it again, or mend it"
            )
            self.problem = SitemapProblem(self._lines_before + exc.lineno, reason, is_fatal=self.root is None)
        except (LookupError, ValueError) as exc:
            # An encoding that Python does not know, or that has no table of 256 characters.
            self.problem = SitemapProblem(
                self.line, f"in an encoding that cannot be read ({exc}); save it as UTF-8", is_fatal=True
            )
        if self.problem is None and self._fed - self._expat.CurrentByteIndex > LONGEST_TOKEN_BYTES:
            self.problem = SitemapProblem(self.line, "a tag or comment without end; this is no sitemap", is_fatal=True)
        if is_last or self.problem is not None:
            self._give()
        found, self._found = self._found, []
        return found

    def _refuse_doctype(self, name: str, *_: object) -> None:
        # Called before the declarations are read, so that no entity is ever defined.
        if name.lower() == "html":
            self._refuse_html()
        reason = "declares a document type; take the <!DOCTYPE …> out of it"
        raise _RefusedSitemap(SitemapProblem(self.line, reason, is_fatal=True))

    def _refuse_html(self) -> None:
        self.root = "html"
        self._refuse_root()

    def _refuse_root(self) -> None:
        raise _RefusedSitemap(
            SitemapProblem(self.line, f"its root is <{self.root}>; a sitemap was expected", is_fatal=True)
        )

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self.root is None:
            self.root, self.kind = tag[:80], _ROOTS.get(tag)
            if self.kind is None:
                self._refuse_root()
        self._above.append(tag)
        if len(self._above) > DEEPEST:
            reason = f"nested deeper than {DEEPEST}; this is no list of pages"
            raise _RefusedSitemap(SitemapProblem(self.line, reason, is_fatal=True))
        if tag in {"item", "entry"}:
            self._is_entry_done = False
        place = tuple(self._above[-2:])
        if place in _DATES and self.kind is not SitemapKind.FEED:
            self._text, self._text_length = [], 0
        elif self.kind is not None and place in _PLACES[self.kind] and not self._is_entry_done:
            self._text, self._text_length, self._text_line = [], 0, self.line
            if self.kind is SitemapKind.FEED and attributes.get("rel", "alternate") == "alternate":
                self._characters(attributes.get("href", ""))

    def _characters(self, text: str) -> None:
        if self._text is not None and self._text_length <= LONGEST_URL:
            self._text.append(text)
            self._text_length += len(text)

    def _end(self, _: str) -> None:
        place = tuple(self._above[-2:])
        if self._text is not None and self.kind is not None and (place in _DATES or place in _PLACES[self.kind]):
            text = "".join(self._text).strip()
            self._text = None
            if place in _DATES:
                self._lastmod = self._lastmod or text or None
            elif text:
                self._take(Location(self._text_line, text))
        elif place[-1] in {"url", "sitemap"}:
            self._give()
        self._above.pop()

    def _take(self, location: Location) -> None:
        if self.kind is SitemapKind.FEED:
            self._found.append(location)
            # A feed may link to an entry in several ways; the first one is enough.
            self._is_entry_done = True
            return
        if self._waiting is not None:
            self._give()
        self._waiting = location

    def _give(self) -> None:
        """Return the pending address with its date, which may precede or follow it."""
        if self._waiting is not None:
            self._found.append(self._waiting._replace(lastmod=self._lastmod))
        self._waiting = self._lastmod = None


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

    kind     once it is known
    root     the name of its root element, if it has one
    problem  why reading ended early; later pieces are ignored
    Source   sitemaps.org protocol 0.9: 50,000 addresses, 50 MB uncompressed, gzip, no index in an index.
    """

    def __init__(self) -> None:
        self.problem: SitemapProblem | None = None
        self._reader: MarkupReader | LineReader | None = None
        self._inflater: _GzipReader | None = None
        self._is_begun = False
        self._held = self._beginning = b""
        self._bytes = 0
        self._locations = 0

    @property
    def kind(self) -> SitemapKind | None:
        """The kind; None before it is known, and for other documents."""
        return self._reader.kind if self._reader else None

    @property
    def root(self) -> str | None:
        """The name of the root element, without prefix."""
        return self._reader.root if isinstance(self._reader, MarkupReader) else None

    @property
    def is_over(self) -> bool:
        """Whether later pieces are ignored."""
        return self.problem is not None

    def feed(self, piece: bytes) -> list[Location]:
        """Read the next piece; returns the addresses that it completes."""
        found: list[Location] = []
        for plain in self._inflated(piece):
            self._read(plain, found)
            if self.is_over:
                break
        return found

    def close(self) -> list[Location]:
        """Read to the end; returns the remaining addresses."""
        found: list[Location] = []
        if self.problem is None:
            if self._is_cut:
                self.problem = SitemapProblem(
                    self._line, "its compression breaks off; get the file again", is_fatal=False
                )
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
                self._inflater = _GzipReader()
        if self._inflater is None:
            yield from (piece[at : at + _PIECE_BYTES] for at in range(0, len(piece), _PIECE_BYTES))
            return
        try:
            yield from self._inflater.feed(piece)
        except zlib.error as exc:
            reason = f"its compression is broken ({exc}); get the file again"
            self.problem = SitemapProblem(self._line, reason, is_fatal=self._reader is None)

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
            # The last line of a truncated file may be a part of an address.
            self._take(self._reader.feed(plain, is_last=is_last and not self._is_cut), found)
            self.problem = self.problem or self._reader.problem
        if self._bytes > MOST_BYTES and self.problem is None:
            reason = f"longer than {MOST_BYTES // 2**20} MB uncompressed, which no sitemap may be; split it"
            self.problem = SitemapProblem(self._line, reason, is_fatal=False)

    def _take(self, locations: list[Location], found: list[Location]) -> None:
        room = MOST_LOCATIONS - self._locations
        self._locations += len(locations)
        found += locations[:room]
        if len(locations) > room:
            reason = f"more than {MOST_LOCATIONS:,} addresses, which no sitemap may have; split it"
            self.problem = SitemapProblem(locations[room].line, reason, is_fatal=False)

    def _is_recognisable(self) -> bool:
        """Whether enough was read to recognise the kind; white space alone does not count, up to a limit."""
        start = self._beginning
        return len(start) > _PIECE_BYTES or len(start.lstrip(_SPACE)) >= _TELLING_BYTES

    def _choose(self) -> bytes:
        """Recognise the kind by the beginning; returns the bytes to read first."""
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
    def _is_cut(self) -> bool:
        """Whether what was read so far is compressed, and not to its end."""
        return self._inflater is not None and not self._inflater.is_whole

    @property
    def _line(self) -> int:
        return self._reader.line if self._reader else 1


class _GzipReader:
    """Decompresses gzip in pieces of bounded size."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=31)

    @property
    def is_whole(self) -> bool:
        """Whether the last member is complete."""
        return self._stream.eof

    def feed(self, piece: bytes) -> Iterator[bytes]:
        is_full = False
        while piece or is_full:
            if self._stream.eof:
                # Several members in a row are one text; other bytes after the last one are padding.
                if not piece.startswith(_GZIP):
                    return
                self._stream = zlib.decompressobj(wbits=31)
            plain = self._stream.decompress(piece, _PIECE_BYTES)
            piece = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            # The input may be used up while output is still held back.
            is_full = len(plain) == _PIECE_BYTES
            if plain:
                yield plain
