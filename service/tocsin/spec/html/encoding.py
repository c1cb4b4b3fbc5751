"""Which encoding a page is in, whatever its bytes are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from tocsin.errors import TooComplex
from tocsin.spec.html.content_type import extract_encoding, read_content_types
from tocsin.spec.html.decoding import BOMS, NOT_ASCII, encoding_for
from tocsin.spec.html.document import read_metas
from tocsin.spec.html.prescan import prescan, xml_declaration

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tocsin.spec.html.meta import Meta, Reading

DEFAULT = "windows-1252"
_CHARSET = b"charset"
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_OFTEN_SEEN = 256  # letters: what is longer is not worth remembering


def find_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an HTML page, in lower case: by its BOM, HTTP, its own elements, else windows-1252.

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
    """Name the encoding of an HTML page as `find_encoding` does, and read its meta elements in it.

    about  see `read_metas`
    Raises TooComplex for a page that no parser may be given.
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
    """Say whether anything says which encoding an HTML page is in: its BOM, HTTP, or an element of its own."""
    if _told_early(body, content_type) is not None:
        return True
    try:
        return _told_late(read_metas(body, DEFAULT, (_CHARSET,)).metas) is not None
    except TooComplex:
        return False


def is_undeclared_utf8(body: bytes, content_type: str | None) -> bool:
    """Say whether an HTML page has letters beyond ASCII, all of them UTF-8, that are read as others are.

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
    """Name the encoding of an XHTML page: by its BOM, HTTP, its XML declaration, else UTF-8."""
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
    """Give the encoding that a declaration means; one that could be read is not in UTF-16."""
    if found is None:
        return None
    if found.startswith("utf-16"):
        return "utf-8"
    return DEFAULT if found == "x-user-defined" else found
