"""A received body and its media type in; its kind, encoding and meta elements out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache

from msgspec import Struct

from tocsin.errors import TooComplex
from tocsin.spec.documents import read_document
from tocsin.spec.html.content_type import extract_encoding, read_content_types
from tocsin.spec.html.decoding import BOMS, NOT_ASCII, decode, encoding_for, prescan, xml_declaration
from tocsin.spec.html.document import Meta, PageHead, Reading, read_metas, read_whole
from tocsin.spec.html.sniffing import SNIFFED_BYTES, feed_or_html, sniff
from tocsin.spec.html.xhtml import read_whole_xhtml, read_xhtml_metas

DEFAULT = "windows-1252"
_CHARSET = b"charset"
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_OFTEN_SEEN = 256  # letters; longer texts are not worth caching


def find_encoding(body: bytes, content_type: str | None) -> str:
    """Return the encoding of an HTML page, in lower case: by its BOM, HTTP, its own elements, else windows-1252.

    content_type  the value of the first HTTP header, None if there was none
    Source        HTML, determining the character encoding; the Encoding standard for labels.
    """
    if (told := _told_early(body, content_type)) is not None:
        return told
    try:
        return _told_late(read_metas(body, DEFAULT, (_CHARSET,)).metas) or DEFAULT
    except TooComplex:
        return DEFAULT


def read_html(body: bytes, content_type: str | None, about: tuple[bytes, ...] = ()) -> tuple[str, Reading]:
    """Return the encoding of an HTML page as `find_encoding` does, and its meta elements.

    about  see `read_metas`
    Raises TooComplex for a page that is too complex to parse.
    """
    encoding = _told_early(body, content_type)
    if encoding is not None:
        return encoding, read_metas(body, encoding, about)
    # What an element declares beyond the prescan's reach is the same in all encodings that ASCII is part of, and most
    # often it is UTF-8; so the page is seldom read twice.
    reading = read_metas(body, "utf-8", (*about, _CHARSET) if about else ())
    encoding = _told_late(reading.metas) or DEFAULT
    if encoding == "utf-8" or (reading.is_ascii and encoding not in NOT_ASCII):
        return encoding, reading
    return encoding, read_metas(body, encoding, about)


def is_encoding_declared(body: bytes, content_type: str | None) -> bool:
    """Return whether anything says which encoding an HTML page is in: its BOM, HTTP, or an element of its own."""
    if _told_early(body, content_type) is not None:
        return True
    try:
        return _told_late(read_metas(body, DEFAULT, (_CHARSET,)).metas) is not None
    except TooComplex:
        return False


def is_undeclared_utf8(body: bytes, content_type: str | None) -> bool:
    """Return whether an HTML page has letters beyond ASCII, all of them UTF-8, that are read as others are.

    Nothing says then which encoding it is in, so that it counts as windows-1252.
    """
    if body.isascii():
        return False
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return not is_encoding_declared(body, content_type)


def find_xml_encoding(body: bytes, content_type: str | None) -> str:
    """Return the encoding of an XHTML page: by its BOM, HTTP, its XML declaration, else UTF-8."""
    return _told_outside(body, content_type) or encoding_for(xml_declaration(body)) or "utf-8"


def _told_early(body: bytes, content_type: str | None) -> str | None:
    found = _told_outside(body, content_type)
    return found or _readable(prescan(body) or encoding_for(xml_declaration(body)))


def _told_outside(body: bytes, content_type: str | None) -> str | None:
    """Find the encoding by the BOM, by HTTP, or by an XML declaration that is readable in UTF-16 alone."""
    for bom, name in BOMS:
        if body.startswith(bom):
            return name
    if content_type is not None:
        told = _told_often(content_type) if len(content_type) <= _OFTEN_SEEN else _told_by_http(content_type)
        if told is not None:
            return told
    for start, name in _UTF16_XML:
        if body.startswith(start):
            return name
    return None


def _told_by_http(content_type: str) -> str | None:
    media_type = read_content_types((content_type,)).media_type
    return encoding_for(media_type.parameter("charset")) if media_type else None


_told_often = lru_cache(maxsize=256)(_told_by_http)


def _told_late(metas: Iterable[Meta]) -> str | None:
    """Find the encoding that a meta element declares.

    Source  HTML, the rules for a meta start tag in "in head": changing the encoding while parsing.
    """
    for meta in metas:
        label = meta.charset
        if label is None and meta.content is not None and (meta.http_equiv or "").lower() == "content-type":
            label = extract_encoding(meta.content)
        if (found := _readable(encoding_for(label))) is not None:
            return found
    return None


def _readable(found: str | None) -> str | None:
    """Return the encoding that a declaration means; one that could be read is not in UTF-16."""
    if found is None:
        return None
    if found.startswith("utf-16"):
        return "utf-8"
    return DEFAULT if found == "x-user-defined" else found


_HTML_TYPE = "text/html"
_NO_TYPES = frozenset({None, "unknown/unknown", "application/unknown", "*/*"})
# An unlabelled body without another signature is read as a page: a fragment may begin with any tag, or with text.
_MAYBE_HTML = frozenset({"text/html", "text/plain", "text/xml"})
# Signatures that no page begins with by chance. Deviation: a body labelled text/html that begins so is text/html to the
# text too, and parsing it is harmless, but a page that became a PDF should be reported, not taken for an empty one.
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
# In UTF-16, a NUL may be between the two.
_ANY_TAG = re.compile(rb"<\x00?[A-Za-z!?/]")
_BARE_TEXT = "not HTML: there is no tag in it"
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
    title     white space folded, "" where there is nothing in it; None where what was read does not tell it
    """

    kind: Kind
    encoding: str | None
    metas: tuple[Meta, ...]
    problems: tuple[str, ...]
    title: str | None = None


def read_page(
    body: bytes,
    content_type: str | None,
    *,
    nosniff: bool = False,
    found: tuple[Kind, tuple[str, ...]] | None = None,
    about: tuple[bytes, ...] = (),
) -> PageReading:
    """Read a page's meta elements by its kind and encoding; any bytes are accepted.

    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    found         the result of `find_kind`, if it is known already
    about         words in lower case: elements without any of them in a value or a name may be left out, and nothing
                  after the last one that has one is read; () for none
    Raises TooComplex for a page that is too complex to parse.
    """
    kind, problems = found or find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        return PageReading(kind, None, (), problems)
    if kind is Kind.XHTML:
        encoding = find_xml_encoding(body, content_type)
        reading = read_xhtml_metas(body, encoding)
    else:
        encoding, reading = read_html(body, content_type, about)
    return PageReading(kind, encoding, reading.metas, problems + reading.problems, reading.title)


def read_whole_page(body: bytes, content_type: str | None, *, nosniff: bool = False) -> PageHead:
    """Read a page's title and meta elements by its kind and encoding, for a rendering.

    Raises TooComplex for a page that is too complex to parse.
    """
    kind, problems = find_kind(body, content_type, nosniff=nosniff)
    if kind is Kind.OTHER:
        document = read_document(body)
        return PageHead(document[0] or None if document is not None else None, (), problems)
    if kind is Kind.XHTML:
        whole = read_whole_xhtml(body, find_xml_encoding(body, content_type))
    else:
        whole = read_whole(body, find_encoding(body, content_type))
    return PageHead(whole.title, whole.metas, problems + whole.problems)


def find_kind(body: bytes, content_type: str | None, *, nosniff: bool = False) -> tuple[Kind, tuple[str, ...]]:
    """Return how a body is to be read, and its problems as a page, in words.

    body          the whole of it
    content_type  the value of the first HTTP header, None if there was none
    nosniff       the server forbids to guess, see `is_nosniff`
    Source        infrastructure 2.7 (CT-01, SNF-01): `sniff`, with today's rules.
    Deviation: text without any tag is HTML to the standards; here it is text, which has lines and declares nothing.
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
    kind = _KINDS.get(found)
    problem = f"not HTML: its server calls it {found[:80]}"
    return _unless_bare_text(kind, body) if kind is not None else (Kind.OTHER, (problem,))


def find_page_encoding(body: bytes, content_type: str | None) -> str:
    """Return the encoding of an HTML or XHTML page, in lower case."""
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
    if found != _HTML_TYPE:
        return Kind.OTHER, (f"not HTML: {_NAMES.get(found, found)}",)
    return _unless_bare_text(Kind.HTML, body)


def _unless_bare_text(kind: Kind, body: bytes) -> tuple[Kind, tuple[str, ...]]:
    """Return the kind of a page, unless it is text without any tag: a status, a log, an error of a server."""
    is_bare = _NO_TAG.match(body, 0, SNIFFED_BYTES) and not _ANY_TAG.search(body)
    if is_bare and sniff((), body) == "text/plain":
        return Kind.OTHER, (_BARE_TEXT,)
    return kind, ()


_TAG = re.compile(r"<(?:[A-Za-z][A-Za-z0-9:-]*[\t\n\f\r />]|!|\?)")
_OF_PAGES = re.compile(r"<(?:!doctype|html|head|title|meta|link|body|h1|p|div)[\t\n\f\r />]", re.IGNORECASE)


def why_no_page(source: bytes, content_type: str | None = None) -> str | None:
    """Return, in words, why these bytes are not an author's page; None if they are one.

    HTML reads any bytes; here a text without a tag, or with NUL and without a tag of pages, counts as something else.
    content_type  the value of the HTTP header, None if there was none
    """
    kind, problems = find_kind(source, content_type)
    if kind is Kind.OTHER:
        return problems[0]
    text = decode(source, find_page_encoding(source, content_type))
    if "\0" in text and not _OF_PAGES.search(text):
        return "not HTML: binary"
    return None if _TAG.search(text) else _BARE_TEXT
