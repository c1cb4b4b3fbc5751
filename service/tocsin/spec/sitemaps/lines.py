"""A sitemap that is a plain text: a URL a line."""

from __future__ import annotations

import codecs
import re

from tocsin.spec.sitemaps.found import Kind, Location, Problem

LONGEST_LINE = 65_536
_LINE_END = re.compile(r"\r\n|\r|\n")
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class LineReader:
    """Reads lines; empty ones and those that begin with `#` say nothing."""

    kind = Kind.TEXT

    def __init__(self) -> None:
        self.problem: Problem | None = None
        self.line = 0
        self._decoder: codecs.IncrementalDecoder | None = None
        self._rest = ""

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Location]:
        """Read on; the first piece has at least two bytes, or is the last."""
        if self._decoder is None:
            encoding = _UTF16.get(piece[:2], "utf-8-sig")
            self._decoder = codecs.getincrementaldecoder(encoding)("replace")
        text = self._rest + self._decoder.decode(piece, is_last)
        # A carriage return at the end may be half of a line's end.
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
            self.problem = Problem(
                self.line + 1, f"longer than {LONGEST_LINE} characters; a URL a line", is_fatal=False
            )
        return found
