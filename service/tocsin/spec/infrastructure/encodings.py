"""Encodings as URLs are written in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import webencodings  # type: ignore[import-untyped]  # has no stubs

from tocsin.spec.html.decoding import encoding_for

if TYPE_CHECKING:
    from collections.abc import Callable

UNICODE = frozenset({"utf-8", "utf-16le", "utf-16be"})


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
    codec = webencodings.lookup(name).codec_info
    # Character by character only where it must be: some encodings have a state.
    lacking = {ord(letter): replace(letter) for letter in set(text) if not _has(codec, letter)}
    encoded: bytes = codec.encode(text.translate(lacking))[0]
    return encoded


def _has(codec: webencodings.CodecInfo, letter: str) -> bool:
    try:
        codec.encode(letter)
    except UnicodeEncodeError:
        return False
    return True
