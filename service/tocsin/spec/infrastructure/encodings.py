"""Encodings as URLs are written in them."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import webencodings  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html.decoding import decode, encoding_for

if TYPE_CHECKING:
    from collections.abc import Callable

UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})

# What the Encoding standard calls by these names holds more letters than Python's codecs of the same names.
_WIDER = {"shift_jis": "cp932", "euc-kr": "cp949", "big5": "big5hkscs"}


def is_unicode(label: str) -> bool:
    """Say whether the label names UTF-8 or UTF-16."""
    return encoding_for(label) in UNICODE


def output_encoding(label: str) -> str:
    """Name the encoding that a document of this encoding writes with: UTF-8 for UTF-16, and for unknown labels."""
    found = encoding_for(label)
    return "utf-8" if found is None or found in UNICODE or found == "replacement" else found


def encode(text: str, label: str, replace: Callable[[str], str]) -> bytes:
    """Encode a text without lone surrogates; never raises.

    label    of the encoding that the document is in
    replace  what to write, in ASCII, for a character that the encoding does not have
    """
    name = output_encoding(label)
    if name == "utf-8":
        return text.encode()
    codec = codecs.lookup(_WIDER[name]) if name in _WIDER else webencodings.lookup(name).codec_info
    # The text is encoded as one, since some encodings have a state.
    lacking = {ord(letter): replace(letter) for letter in set(text) if not _has(codec, name, letter)}
    encoded: bytes = codec.encode(text.translate(lacking))[0]
    return encoded


def _has(codec: codecs.CodecInfo, name: str, letter: str) -> bool:
    """Say whether the encoding has a letter: whether the bytes that Python writes mean that letter in it."""
    if letter.isascii():
        return True
    try:
        octets = codec.encode(letter)[0]
    except UnicodeEncodeError:
        return False
    return decode(octets, name) == letter
