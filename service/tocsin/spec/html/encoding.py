"""Which encoding a page is in, and its text, whatever its bytes are."""

from __future__ import annotations

import codecs
import re

import webencodings  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html.prescan import prescan, xml_declaration

DEFAULT = "windows-1252"
NOT_ASCII = frozenset({"utf-16le", "utf-16be", "iso-2022-jp", "replacement"})
"""Encodings in which the bytes of an ASCII letter may be part of something else; in all others they never are."""

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
_UTF16_XML = ((b"<\0?\0x\0", "utf-16le"), (b"\0<\0?\0x", "utf-16be"))
_PARAMETER = re.compile(r";[\t\n\r ]*([^;=]*)(?:=(?:\"((?:[^\"\\]|\\.)*)\"?[^;]*|([^;]*)))?", re.DOTALL)
# What windows-1252 leaves undefined are C1 controls to HTML, not errors.
_WINDOWS_1252 = "".join(
    bytes([byte]).decode("cp1252") if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(byte) for byte in range(256)
)


def find_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an HTML page, in lower case: by its BOM, HTTP, its own first bytes, else windows-1252.

    content_type  the value of the HTTP header, None if there was none
    Source        HTML, determining the character encoding; the Encoding standard for labels.
    """
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name
    if content_type is not None and (found := encoding_for(charset_parameter(content_type))):
        return found
    for start, name in _UTF16_XML:
        if body.startswith(start):
            return name
    found = encoding_for(prescan(body)) or encoding_for(xml_declaration(body))
    if found is None:
        return DEFAULT
    # These could be read to here, so they are not what they say.
    if found.startswith("utf-16"):
        return "utf-8"
    return DEFAULT if found == "x-user-defined" else found


def find_xml_encoding(body: bytes, content_type: str | None) -> str:
    """Name the encoding of an XHTML page: by its BOM, HTTP, its XML declaration, else UTF-8."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name
    declared = encoding_for(charset_parameter(content_type or "")) or encoding_for(xml_declaration(body))
    for start, name in _UTF16_XML:
        if body.startswith(start):
            return name
    return declared or "utf-8"


def encoding_for(label: str | None) -> str | None:
    """Give the encoding's name for a label of the Encoding standard, None for any other text."""
    if label is None or not label.isascii():
        return None
    found = webencodings.lookup(label)
    return None if found is None else str(found.name)


def charset_parameter(content_type: str) -> str | None:
    """Read the `charset` of a Content-Type header, the first one; None if it has none."""
    for match in _PARAMETER.finditer(content_type):
        name, quoted, bare = match.groups()
        if name.lower() == "charset" and (quoted is not None or bare is not None):
            return re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else bare.strip("\t\n\r ")
    return None


def decode(body: bytes, encoding: str) -> str:
    """Decode a page, its BOM left out; bytes that mean nothing become U+FFFD and nothing is raised.

    encoding  as `find_encoding` names it; an unknown name is read as windows-1252
    """
    for bom, name in _BOMS:
        if name == encoding and body.startswith(bom):
            body = body[len(bom) :]
    if encoding == "windows-1252":
        return codecs.charmap_decode(body, "replace", _WINDOWS_1252)[0]
    found = webencodings.lookup(encoding)
    if found is None:
        return codecs.charmap_decode(body, "replace", _WINDOWS_1252)[0]
    text: str = found.codec_info.decode(body, "replace")[0]
    return text
