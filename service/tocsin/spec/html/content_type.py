"""Media types: the Content-Type of a response, and of a meta element in its place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

# Whose rules hold: those of the old text, or today's.
Profile = Literal["text", "living"]

_HTTP_SPACE = "\t\n\r "
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*+)(\\?)\"?[^;]*", re.DOTALL)
_TO_VALUE = re.compile(r"[^;=]*")
_TO_NEXT = re.compile(r"[^;]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_CHARSET = re.compile(r"charset", re.IGNORECASE | re.ASCII)
_AFTER_CHARSET = re.compile(r"[\t\n\f\r ]*+=[\t\n\f\r ]*+([\"']?)")
_BARE = re.compile(r"[^\t\n\f\r ;]*")
_OFTEN_SEEN = 256  # letters; longer texts are not worth caching

_FONTS = frozenset(
    {"font-cff", "font-off", "font-sfnt", "font-ttf", "font-woff", "vnd.ms-fontobject", "vnd.ms-opentype"}
)
_ARCHIVES = frozenset({"application/zip", "application/x-rar-compressed", "application/x-gzip"})
_JAVASCRIPT = frozenset(
    {
        *(f"application/{name}" for name in ("ecmascript", "javascript", "x-ecmascript", "x-javascript")),
        *(f"text/{name}" for name in ("ecmascript", "javascript", "jscript", "livescript")),
        *(f"text/{name}" for name in ("x-ecmascript", "x-javascript")),
        *(f"text/javascript1.{minor}" for minor in range(6)),
    }
)


@dataclass(frozen=True, slots=True)
class MediaType:
    """A MIME type.

    essence     type/subtype, in lower case
    parameters  name in lower case, and value; each name once, in the order written
    """

    essence: str
    parameters: tuple[tuple[str, str], ...] = ()

    def parameter(self, name: str) -> str | None:
        """Return the value of a parameter, None if there is none."""
        return next((value for key, value in self.parameters if key == name), None)

    def is_xml(self) -> bool:
        """Return whether documents of this type are XML (SNF-06)."""
        return self.essence.endswith("+xml") or self.essence in {"text/xml", "application/xml"}

    def groups(self) -> frozenset[str]:
        """Return the groups of the MIME Sniffing standard that the type is in.

        Source  MIME Sniffing, MIME type groups.
        """
        kind, _, subtype = self.essence.partition("/")
        is_application = kind == "application"
        found = {
            "image": kind == "image",
            "audio or video": kind in {"audio", "video"} or self.essence == "application/ogg",
            "font": kind == "font" or (is_application and subtype in _FONTS),
            "ZIP-based": subtype.endswith("+zip") or self.essence == "application/zip",
            "archive": self.essence in _ARCHIVES,
            "XML": self.is_xml(),
            "HTML": self.essence == "text/html",
            "scriptable": self.is_xml() or self.essence in {"text/html", "application/pdf"},
            "JavaScript": self.essence in _JAVASCRIPT,
            "JSON": subtype.endswith("+json") or self.essence in {"application/json", "text/json"},
        }
        return frozenset(group for group, is_in in found.items() if is_in)


@dataclass(frozen=True, slots=True)
class ContentType:
    """The Content-Type headers of a response.

    value       of the first header, None if there is none
    media_type  of it; None if it is no MIME type, even if a later header is one
    count       of the headers: where there are several, others may read another one
    """

    value: str | None
    media_type: MediaType | None
    count: int

    @property
    def essence(self) -> str | None:
        """The official type: in lower case, without parameters."""
        return self.media_type.essence if self.media_type else None


def read_content_types(headers: Sequence[str]) -> ContentType:
    """Read the Content-Type headers of an answer: only the first one counts.

    Source  infrastructure 2.7.1 (CT-01). Deviation: Fetch combines all of them and takes the last valid type; we
            keep the text's order and count them, so that the reader can be told (C-30).
    """
    if not headers:
        return ContentType(None, None, 0)
    first = headers[0]
    read = _remembered if len(first) <= _OFTEN_SEEN else parse_media_type
    return ContentType(first, read(first), len(headers))


def parse_media_type(text: str) -> MediaType | None:
    """Read a MIME type with its parameters; None for any other text.

    Source  MIME Sniffing, parsing a MIME type.
    """
    essence, semicolon, rest = text.strip(_HTTP_SPACE).partition(";")
    kind, slash, subtype = essence.rstrip(_HTTP_SPACE).partition("/")
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    parameters = _read_parameters(rest) if semicolon else {}
    return MediaType(f"{kind}/{subtype}".lower(), tuple(parameters.items()))


_remembered = lru_cache(maxsize=256)(parse_media_type)


def extract_encoding(text: str, profile: Profile = "living") -> str | None:
    """Find the label of an encoding in a text such as `text/html; charset=utf-8`, as written; None if there is none.

    profile  the text tries only the first `charset`, today's rule the later ones too (C-31)
    Source   infrastructure 2.7.1 (CT-03, CT-04); HTML, extracting a character encoding from a meta element.
    """
    found = _CHARSET.search(text)
    while found is not None:
        match = _AFTER_CHARSET.match(text, found.end())
        if match is not None:
            return _read_label(text, match)
        if profile == "text":
            return None
        found = _CHARSET.search(text, found.end())
    return None


def is_nosniff(headers: Sequence[str]) -> bool:
    """Return whether the X-Content-Type-Options headers of an answer forbid to sniff.

    Source  Fetch, determine nosniff: the first value of all of them.
    """
    return bool(headers) and headers[0].partition(",")[0].strip("\t\n\r ").lower() == "nosniff"


def _read_parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    place = 0
    while place < len(text):
        end = _end_of(_TO_VALUE, text, place)
        name = text[place:end].lstrip(_HTTP_SPACE)
        place = end + 1
        if text[end : end + 1] != "=":
            continue
        if text[place : place + 1] == '"' and (quoted := _QUOTED.match(text, place)):
            # A backslash at the end of the text is literal.
            value, end = _ESCAPED.sub(r"\1", quoted[1]) + quoted[2], quoted.end()
        else:
            end = _end_of(_TO_NEXT, text, place)
            value = text[place:end].rstrip(_HTTP_SPACE)
            if not value:
                place = end + 1
                continue
        place = end + 1
        if _TOKEN.fullmatch(name) and _VALUE.fullmatch(value):
            found.setdefault(name.lower(), value)
    return found


def _end_of(pattern: re.Pattern[str], text: str, place: int) -> int:
    match = pattern.match(text, place)
    return match.end() if match else place


def _read_label(text: str, match: re.Match[str]) -> str | None:
    quote, start = match[1], match.end()
    if quote:
        end = text.find(quote, start)
        return text[start:end] if end >= 0 else None
    if start == len(text):
        return None
    bare = _BARE.match(text, start)
    return bare[0] if bare else None
