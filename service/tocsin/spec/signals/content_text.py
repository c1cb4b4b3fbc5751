"""Text as contents compare it: what no reader sees makes no difference."""

from __future__ import annotations

import unicodedata
from typing import Final

# White space makes no difference at all, so that a line break between Japanese words makes none either.
NOTHING: Final = b" \t\r\f\v\x00"
ALIKE: Final = bytes.maketrans(b'"`', b"''")
# What follows the first two bytes of U+2000 to U+203F: spaces, dashes, quotation marks, ellipsis.
_PUNCTUATION: Final[dict[int, bytes]] = (
    dict.fromkeys(range(0x80, 0x90), b"")
    | dict.fromkeys(range(0x90, 0x96), b"-")
    | dict.fromkeys(range(0x98, 0xA0), b"'")
    | {0xA6: b"..."}
    | dict.fromkeys(range(0xA8, 0xB0), b"")
    | dict.fromkeys((0xB2, 0xB3, 0xB9, 0xBA), b"'")
)
_GONE: Final = (b"\xc2\xa0", b"\xc2\xad", b"\xe2\x81\xa0", b"\xef\xbb\xbf", b"\xe3\x80\x80")
_MARKS: Final = (b"\xc2\xab", b"\xc2\xbb")
# How letters begin that NFC may write in another way: combining marks, Hangul's parts, voiced kana, Arabic's hamza.
_DECOMPOSED: Final = (
    b"\xcc", b"\xcd", b"\xe1\x84", b"\xe1\x85", b"\xe1\x86", b"\xe3\x82\x99", b"\xe3\x82\x9a", b"\xd9\x93", b"\xd9\x94",
    b"\xd9\x95", b"\xe2\x84", b"\xef\xa4", b"\xe0",
)  # fmt: skip


def fold(text: str) -> str:
    """Fold white space as a browser shows it."""
    text = text.strip()
    if "\n" in text or "  " in text or "\t" in text or "\xa0" in text or "\r" in text:
        return " ".join(text.split())
    return text


def to_comparable(lines: str) -> bytes:
    """Give the bytes that stand for text, line by line; a separator is left as it is.

    White space, zero-width letters, the kind of quotation marks and dashes, and how letters are composed (NFC) make no
    difference.
    """
    data = lines.encode("utf-8", "surrogatepass")
    if not lines.isascii():
        if any(mark in data for mark in _DECOMPOSED):
            data = unicodedata.normalize("NFC", lines).encode("utf-8", "surrogatepass")
        for gone in _GONE:
            data = data.replace(gone, b"")
        for mark in _MARKS:
            data = data.replace(mark, b"'")
        if b"\xe2\x80" in data:
            first, *others = data.split(b"\xe2\x80")
            found = [first]
            for each in others:
                plain = _PUNCTUATION.get(each[0]) if each else None
                found.append(b"\xe2\x80" + each if plain is None else plain + each[1:])
            data = b"".join(found)
    return data
