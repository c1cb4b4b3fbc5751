"""A body and its media type in, what the page declares out: the one way in for whoever has received a page."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING

from msgspec import Struct

from tocsin.spec.html.content_type import read_content_types
from tocsin.spec.html.document import read_whole
from tocsin.spec.html.encoding import find_encoding, find_xml_encoding, read_html
from tocsin.spec.html.meta import Meta, WholePage
from tocsin.spec.html.sniffing import SNIFFED_BYTES, feed_or_html, sniff
from tocsin.spec.html.xhtml import read_whole_xhtml, read_xhtml_metas

if TYPE_CHECKING:
    from collections.abc import Sequence

_HTML_TYPE = "text/html"
_NO_TYPES = frozenset({None, "unknown/unknown", "application/unknown", "*/*"})
# What nobody calls anything and has no other signature is read as a page: a fragment may begin with any tag, or text.
_MAYBE_HTML = frozenset({"text/html", "text/plain", "text/xml"})
# Signatures that no page begins with by chance. Deviation: what is called text/html and begins so is text/html to the
# text too, and parsing it harms nobody, but a page that became a PDF should be told, not be taken for an empty one.
_NEVER_HTML = frozenset(
    {"application/pdf", "image/png", "image/gif", "image/jpeg", "application/zip", "application/x-gzip"}
)
_NAMES = {
    "application/atom+xml": "an Atom feed",
    "application/octet-stream": "binary",
    "application/pdf": "a PDF document",
    "application/postscript": "a PostScript document",
    "application/rss+xml": "an RSS feed",
    "application/x-gzip": "a gzip file",
    "application/zip": "a ZIP archive",
    "image/gif": "a GIF image",
    "image/jpeg": "a JPEG image",
    "image/png": "a PNG image",
}
# How pages begin: with a doctype, or not, and a tag that is no feed's. All that `find_kind` would ask is told by it.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?+[\t\n\r ]*+(?:<![^>-][^>]*+>[\t\n\r ]*+)?+<[^!?rf]")
_NO_TAG = re.compile(rb"[\t\n\f\r ]*+[^\t\n\f\r <]")


class Kind(StrEnum):
    """How a body is read."""

    HTML = "html"
    XHTML = "xhtml"
    OTHER = "other"


_KINDS = {_HTML_TYPE: Kind.HTML, "application/xhtml+xml": Kind.XHTML}


class PageReading(Struct, frozen=True, gc=False):
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


def read_page(
    body: bytes,
    content_type: str | None,
    *,
    nosniff: bool = False,
    found: tuple[Kind, tuple[str, ...]] | None = None,
    about: tuple[bytes, ...] = (),
) -> PageReading:
    """Read a page's meta elements by its kind and encoding, whatever its bytes are.

    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    found         what `find_kind` says of it, if somebody asked before
    about         words in lower case: elements that hold none of them, in a value or a name, may be left out, and what
                  stands behind the last one that does is not looked at; () for none
    Raises TooComplex for a page that no parser may be given.
    """
    kind, problems = found or find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return PageReading(kind, None, (), problems)
    if kind is Kind.XHTML:
        encoding = find_xml_encoding(body, content_type)
        reading = read_xhtml_metas(body, encoding)
    else:
        encoding, reading = read_html(body, content_type, about)
    return PageReading(kind, encoding, reading.metas, problems + reading.problems)


def read_whole_page(body: bytes, content_type: str | None, *, nosniff: bool = False) -> WholePage:
    """Read a page's title and meta elements by its kind and encoding: what a rendering reads.

    Raises TooComplex for a page that no parser may be given.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return WholePage(None, (), problems)
    if kind is Kind.XHTML:
        whole = read_whole_xhtml(body, find_xml_encoding(body, content_type))
    else:
        whole = read_whole(body, find_encoding(body, content_type))
    return WholePage(whole.title, whole.metas, problems + whole.problems)


def find_kind(body: bytes, content_type: str | None, *, nosniff: bool = False) -> tuple[Kind, tuple[str, ...]]:
    """Say how a body is to be read, and in words what is wrong with it as a page.

    body          or its first 1,445 bytes at least
    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    Source        infrastructure 2.7 (CT-01, SNF-01): `sniff`, with today's rules.
    """
    if not body:
        return Kind.OTHER, ("the page is empty",)
    headers = () if content_type is None else (content_type,)
    told = read_content_types(headers).essence
    if told == _HTML_TYPE and _PAGE.match(body, 0, SNIFFED_BYTES):
        return Kind.HTML, ()
    if told in _NO_TYPES:
        return _kind_of_unlabelled(headers, body, nosniff=nosniff)
    if told == _HTML_TYPE and _NO_TAG.match(body, 0, SNIFFED_BYTES) and (really := sniff((), body)) in _NEVER_HTML:
        return Kind.OTHER, (f"not HTML: {_NAMES[really]}",)
    found = sniff(headers, body, nosniff=nosniff)
    if found != told:
        return Kind.OTHER, (f"not HTML: {_NAMES.get(found, found)}, though its server calls it {told}",)
    kind = _KINDS.get(found, Kind.OTHER)
    return kind, () if kind is not Kind.OTHER else (f"not HTML: its server calls it {found[:80]}",)


def find_page_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an HTML or XHTML page, in lower case."""
    is_xhtml = find_kind(body, content_type)[0] is Kind.XHTML
    return (find_xml_encoding if is_xhtml else find_encoding)(body, content_type)


def _kind_of_unlabelled(headers: Sequence[str], body: bytes, *, nosniff: bool) -> tuple[Kind, tuple[str, ...]]:
    if nosniff:
        return Kind.OTHER, (
            "not HTML: its server names no type and forbids to guess one (nosniff); send Content-Type: text/html",
        )
    found = sniff(headers, body)
    # Binary bytes behind a tag are a page's too, to HTML.
    if found in _MAYBE_HTML or (found == "application/octet-stream" and not _NO_TAG.match(body, 0, SNIFFED_BYTES)):
        found = feed_or_html(body[:SNIFFED_BYTES])
    return (Kind.HTML, ()) if found == _HTML_TYPE else (Kind.OTHER, (f"not HTML: {_NAMES.get(found, found)}",))
