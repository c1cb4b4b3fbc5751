"""Labels of encodings, and the text of a page in one, whatever its bytes are."""

from __future__ import annotations

import codecs

import webencodings  # type: ignore[import-untyped]  # has no stubs

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
NOT_ASCII = frozenset({"utf-16le", "utf-16be", "iso-2022-jp", "replacement"})
"""Encodings in which the bytes of an ASCII letter may be part of something else; in all others they never are."""

# What windows-1252 leaves undefined are C1 controls to HTML, not errors.
_WINDOWS_1252 = "".join(
    bytes([byte]).decode("cp1252") if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D) else chr(byte) for byte in range(256)
)


def encoding_for(label: str | None) -> str | None:
    """Give the encoding's name for a label of the Encoding standard, None for any other text."""
    if label is None or not label.isascii():
        return None
    found = webencodings.lookup(label)
    return None if found is None else str(found.name)


def decode(body: bytes, encoding: str) -> str:
    """Decode a page, its BOM left out; bytes that mean nothing become U+FFFD and nothing is raised.

    encoding  as `find_encoding` names it; an unknown name is read as windows-1252
    """
    for bom, name in BOMS:
        if name == encoding and body.startswith(bom):
            body = body[len(bom) :]
    if encoding == "windows-1252":
        return codecs.charmap_decode(body, "replace", _WINDOWS_1252)[0]
    found = webencodings.lookup(encoding)
    if found is None:
        return codecs.charmap_decode(body, "replace", _WINDOWS_1252)[0]
    text: str = found.codec_info.decode(body, "replace")[0]
    return text
