"""A body and its media type in, what the page declares out: the one way in for whoever has received a page."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tocsin.spec.html.document import read_metas, read_whole
from tocsin.spec.html.encoding import find_encoding, find_xml_encoding
from tocsin.spec.html.meta import Meta, WholePage
from tocsin.spec.html.microsyntax import SPACE
from tocsin.spec.html.xhtml import read_whole_xhtml, read_xhtml_metas

# What is served without a type, or as no type in particular, is HTML unless its first bytes say otherwise.
_HTML_TYPES = frozenset({"text/html", "", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_XHTML_TYPE = "application/xhtml+xml"
_SIGNATURES = (
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b\x08", "a gzip file"),
)


class Kind(StrEnum):
    """How a body is read."""

    HTML = "html"
    XHTML = "xhtml"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class PageReading:
    """What was read of a page.

    kind      how it was read; of another kind than HTML and XHTML nothing is
    encoding  the name of its encoding, in lower case; None for another kind
    metas     in tree order
    problems  in words for the page's reader
    """

    kind: Kind
    encoding: str | None
    metas: tuple[Meta, ...]
    problems: tuple[str, ...]


def read_page(body: bytes, content_type: str | None) -> PageReading:
    """Read a page's meta elements by its kind and encoding, whatever its bytes are.

    content_type  the value of the HTTP header, None if there was none
    Raises TooComplex for a page that no parser may be given.
    """
    kind, problems = find_kind(body, content_type)
    if kind is Kind.OTHER:
        return PageReading(kind, None, (), problems)
    if kind is Kind.XHTML:
        encoding = find_xml_encoding(body, content_type)
        reading = read_xhtml_metas(body, encoding)
    else:
        encoding = find_encoding(body, content_type)
        reading = read_metas(body, encoding)
    return PageReading(kind, encoding, reading.metas, problems + reading.problems)


def read_whole_page(body: bytes, content_type: str | None) -> WholePage:
    """Read a page's title and meta elements by its kind and encoding: what a rendering reads.

    Raises TooComplex for a page that no parser may be given.
    """
    kind, problems = find_kind(body, content_type)
    if kind is Kind.OTHER:
        return WholePage(None, (), problems)
    if kind is Kind.XHTML:
        whole = read_whole_xhtml(body, find_xml_encoding(body, content_type))
    else:
        whole = read_whole(body, find_encoding(body, content_type))
    return WholePage(whole.title, whole.metas, problems + whole.problems)


def find_kind(body: bytes, content_type: str | None) -> tuple[Kind, tuple[str, ...]]:
    """Say how a body is to be read, and in words what is wrong with it as a page."""
    if not body:
        return Kind.OTHER, ("the page is empty",)
    for signature, what in _SIGNATURES:
        if body.startswith(signature):
            return Kind.OTHER, (f"not HTML: {what}",)
    essence = (content_type or "").partition(";")[0].strip(SPACE).lower()
    if essence == _XHTML_TYPE:
        return Kind.XHTML, ()
    if essence in _HTML_TYPES or "/" not in essence:
        return Kind.HTML, ()
    return Kind.OTHER, (f"not HTML: its server calls it {essence[:80]}",)


def find_page_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an HTML or XHTML page, in lower case."""
    is_xhtml = find_kind(body, content_type)[0] is Kind.XHTML
    return (find_xml_encoding if is_xhtml else find_encoding)(body, content_type)
