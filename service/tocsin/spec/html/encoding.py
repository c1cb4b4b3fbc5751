"""Which encoding a page is in, and its text, whatever its bytes are."""

from __future__ import annotations

from tocsin.errors import TooComplex
from tocsin.spec.html.content_type import extract_encoding, read_content_types
from tocsin.spec.html.decoding import BOMS, encoding_for
from tocsin.spec.html.document import read_metas
from tocsin.spec.html.prescan import PRESCAN_BYTES, prescan, xml_declaration

DEFAULT = "windows-1252"
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))


def find_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an HTML page, in lower case: by its BOM, HTTP, its own first bytes, else windows-1252.

    content_type  the value of the first HTTP header, None if there was none
    Source        HTML, determining the character encoding; the Encoding standard for labels.
    """
    for bom, name in BOMS:
        if body.startswith(bom):
            return name
    if (told := _told_by_http(content_type)) is not None:
        return told
    for start, name in _UTF16_XML:
        if body.startswith(start):
            return name
    found = prescan(body) or encoding_for(xml_declaration(body)) or _late_encoding(body) or DEFAULT
    # A declaration that could be read is not in the encoding that it names.
    if found.startswith("utf-16"):
        return "utf-8"
    return DEFAULT if found == "x-user-defined" else found


def find_xml_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an XHTML page: by its BOM, HTTP, its XML declaration, else UTF-8."""
    for bom, name in BOMS:
        if body.startswith(bom):
            return name
    if (told := _told_by_http(content_type)) is not None:
        return told
    for start, name in _UTF16_XML:
        if body.startswith(start):
            return name
    return encoding_for(xml_declaration(body)) or "utf-8"


def _told_by_http(content_type: str | None) -> str | None:
    media_type = read_content_types(() if content_type is None else (content_type,)).media_type
    return encoding_for(media_type.parameter("charset")) if media_type else None


def _late_encoding(body: bytes) -> str | None:
    """Find the encoding that a meta element declares beyond the reach of the prescan.

    Source  HTML, the rules for a meta start tag in "in head": changing the encoding while parsing.
    """
    if b"charset" not in body[PRESCAN_BYTES:].lower():
        return None
    try:
        metas = read_metas(body, DEFAULT).metas
    except TooComplex:
        return None
    for meta in metas:
        label = meta.charset
        if label is None and meta.content is not None and (meta.http_equiv or "").lower() == "content-type":
            label = extract_encoding(meta.content)
        if (found := encoding_for(label)) is not None:
            return found
    return None
