"""Labels of encodings, and the text of a page in one, whatever its bytes are."""

from __future__ import annotations

import codecs
from functools import lru_cache

import webencodings  # type: ignore[import-untyped]  # has no stubs

# The decoders of the Encoding standard; Python's own of these names are others. `turbohtml.detect`, which is the public
# way to them, registers codecs for the whole process when it is imported.
from turbohtml._html import _decode

BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_BE, "utf-16be"), (codecs.BOM_UTF16_LE, "utf-16le"))
NOT_ASCII = frozenset({"utf-16le", "utf-16be", "iso-2022-jp", "replacement"})
"""Encodings in which `<`, `>` and quotation marks may be bytes of something else; in all others they never are."""

_OFTEN_ASKED = 64  # letters: what is longer is not worth remembering
_UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})


def encoding_for(label: str | None) -> str | None:
    """Give the encoding's name for a label of the Encoding standard, None for any other text (CT-05)."""
    if label is None or not label.isascii():
        return None
    return _often_asked(label) if len(label) <= _OFTEN_ASKED else _look_up(label)


def _look_up(label: str) -> str | None:
    found = webencodings.lookup(label)
    return None if found is None else str(found.name)


_often_asked = lru_cache(maxsize=256)(_look_up)


def decode(body: bytes, encoding: str) -> str:
    """Decode a page, its BOM left out; bytes that mean nothing become U+FFFD and nothing is raised.

    encoding  as `find_encoding` names it; an unknown name is read as windows-1252
    Source    the Encoding standard.
    """
    for bom, name in BOMS:
        if name == encoding and body.startswith(bom):
            body = body[len(bom) :]
    if encoding in _UNICODE:
        return body.decode(encoding, "replace")
    return _decode(body, encoding if encoding_for(encoding) == encoding else "windows-1252")


def load_decoders() -> None:
    """Load the decoders of all encodings, which are modules in files: later, this process may be short of files."""
    for name in frozenset(webencodings.LABELS.values()):
        found = encoding_for(name)
        if found is not None and found not in _UNICODE:
            decode(b"\x81\x40", found)
