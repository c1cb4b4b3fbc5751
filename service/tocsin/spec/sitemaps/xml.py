"""A sitemap in XML: no entity, no document type, no depth without end, nothing kept that was read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.parsers import expat

from tocsin.spec.sitemaps.found import Kind, Location, Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

DEEPEST = 64
LONGEST_TOKEN_BYTES = 2**20
LONGEST_URL = 16_384
# As HTML may spell it, and XML may not.
_HTML = re.compile(rb"<!doctype html", re.IGNORECASE)
_ROOTS = {
    "urlset": Kind.PAGES,
    "sitemapindex": Kind.INDEX,
    "rss": Kind.FEED,
    "RDF": Kind.FEED,
    "feed": Kind.FEED,
}
# The element with an address, and the one around it.
_PLACES = {
    Kind.PAGES: {("url", "loc")},
    Kind.INDEX: {("sitemap", "loc")},
    Kind.FEED: {("item", "link"), ("entry", "link")},
}
# When what has the address changed last.
_DATES = {("url", "lastmod"), ("sitemap", "lastmod")}


class _Refused(Exception):
    def __init__(self, problem: Problem) -> None:
        self.problem = problem


class MarkupReader:
    """Reads a sitemap, an index, or a feed.

    kind          by the root element; None before it, and for one that belongs to something else
    lines_before  lines that were left out
    """

    def __init__(self, *, lines_before: int = 0) -> None:
        self._lines_before = lines_before
        self.kind: Kind | None = None
        self.root: str | None = None
        self.problem: Problem | None = None
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
        """Where reading stands."""
        return self._lines_before + self._expat.CurrentLineNumber

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Location]:
        """Read on."""
        is_first, self._fed = self._fed == 0, self._fed + len(piece)
        try:
            if is_first and _HTML.match(piece):
                self._refuse_html()
            self._expat.Parse(piece, is_last)
        except _Refused as exc:
            self.problem = exc.problem
        except expat.ExpatError as exc:
            why = expat.ErrorString(exc.code)
            reason = (
                f"not XML ({why})" if self.root is None else f"not XML from here on ({why}); get it again, or mend it"
            )
            self.problem = Problem(self._lines_before + exc.lineno, reason, is_fatal=self.root is None)
        except (LookupError, ValueError) as exc:
            # An encoding that Python does not know, or that has no table of 256 characters.
            self.problem = Problem(
                self.line, f"in an encoding that cannot be read ({exc}); save it as UTF-8", is_fatal=True
            )
        if self.problem is None and self._fed - self._expat.CurrentByteIndex > LONGEST_TOKEN_BYTES:
            self.problem = Problem(self.line, "a tag or comment without end; this is no sitemap", is_fatal=True)
        if is_last or self.problem is not None:
            self._give()
        found, self._found = self._found, []
        return found

    def _refuse_doctype(self, name: str, *_: object) -> None:
        # Called before what it declares is read: there is no other way to an entity.
        if name.lower() == "html":
            self._refuse_html()
        reason = "declares a document type; take the <!DOCTYPE …> out of it"
        raise _Refused(Problem(self.line, reason, is_fatal=True))

    def _refuse_html(self) -> None:
        self.root = "html"
        self._refuse_root()

    def _refuse_root(self) -> None:
        raise _Refused(Problem(self.line, f"its root is <{self.root}>; a sitemap was expected", is_fatal=True))

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if self.root is None:
            self.root, self.kind = tag[:80], _ROOTS.get(tag)
            if self.kind is None:
                self._refuse_root()
        self._above.append(tag)
        if len(self._above) > DEEPEST:
            reason = f"nested deeper than {DEEPEST}; this is no list of pages"
            raise _Refused(Problem(self.line, reason, is_fatal=True))
        if tag in {"item", "entry"}:
            self._is_entry_done = False
        place = tuple(self._above[-2:])
        if place in _DATES and self.kind is not Kind.FEED:
            self._text, self._text_length = [], 0
        elif self.kind is not None and place in _PLACES[self.kind] and not self._is_entry_done:
            self._text, self._text_length, self._text_line = [], 0, self.line
            if self.kind is Kind.FEED and attributes.get("rel", "alternate") == "alternate":
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
        if self.kind is Kind.FEED:
            self._found.append(location)
            # A feed may say where its entry is in several ways; the first is enough.
            self._is_entry_done = True
            return
        if self._waiting is not None:
            self._give()
        self._waiting = location

    def _give(self) -> None:
        """Give the address that waits for its date, which may stand before it or behind."""
        if self._waiting is not None:
            self._found.append(self._waiting._replace(lastmod=self._lastmod))
        self._waiting = self._lastmod = None
