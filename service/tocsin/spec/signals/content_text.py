# ruff: noqa: RUF001 - the marks are of many scripts
"""Text as contents compare it: what no reader sees makes no difference."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from tocsin.spec.html.search import count

# White space makes no difference at all, so that a line break between Japanese words makes none either.
_NOTHING: Final = b" \t\r\f\v\x00"
_ALIKE: Final = bytes.maketrans(b'"`', b"''")
# What follows the first two bytes of U+2000 to U+203F: spaces, dashes, quotation marks, ellipsis.
_PUNCTUATION: Final[dict[int, bytes]] = (
    dict.fromkeys(range(0x80, 0x90), b"")
    | dict.fromkeys(range(0x90, 0x96), b"-")
    | dict.fromkeys(range(0x98, 0xA0), b"'")
    | {0xA6: b"..."}
    | dict.fromkeys(range(0xA8, 0xB0), b"")
    | dict.fromkeys((0xB2, 0xB3, 0xB9, 0xBA), b"'")
)
_REPLACED: Final = (
    (b"\xc2\xa0", b""),  # no-break space
    (b"\xc2\xad", b""),  # soft hyphen
    (b"\xe2\x81\xa0", b""),  # word joiner
    (b"\xef\xbb\xbf", b""),  # zero width no-break space
    (b"\xe3\x80\x80", b""),  # ideographic space
    (b"\xc2\xab", b"'"),
    (b"\xc2\xbb", b"'"),
    (b"\xe2\x88\x92", b"-"),  # minus
)
# How letters begin that NFC may write in another way: combining marks, signs, Hangul's parts, voiced kana, Arabic's
# hamza, compatibility ideographs, the scripts of India.
_DECOMPOSED: Final = (
    b"\xcc", b"\xcd", b"\xe1\x84", b"\xe1\x85", b"\xe1\x86", b"\xe3\x82\x99", b"\xe3\x82\x9a", b"\xd9\x93", b"\xd9\x94",
    b"\xd9\x95", b"\xe2\x84", b"\xef\xa4", b"\xe0",
)  # fmt: skip
_ENDS: Final = bytes.maketrans(b"!?;", b"...")
_DIGITS: Final = b"0123456789"
# What else a figure is written with.
_BESIDE_DIGITS: Final = b".,:'"
SENTENCE_ENDS: Final = (".", "!", "?", "。", "！", "？", "؟", "…")
"""What a sentence ends with, in most scripts."""
_PIECE: Final = 256
_JAMO: Final = frozenset(map(chr, range(0x1160, 0x1200)))
"""The later parts of a Korean syllable."""
_OTHER_DIGITS: Final = re.compile(r"[^\D0-9]")


def fold(text: str) -> str:
    """Fold white space as a browser shows it."""
    text = text.strip()
    if "\n" in text or "  " in text or "\t" in text or "\xa0" in text or "\r" in text:
        return " ".join(text.split())
    return text


def to_comparable(text: str) -> list[bytes]:
    """Give the bytes that stand for each line of a text.

    White space, zero-width letters, the kind of quotation marks and dashes, and how letters are composed (NFC) make no
    difference; digits of other scripts are those of ASCII.
    """
    return _to_plain(text).split(b"\n")


def to_compared_lines(text: str) -> list[tuple[bytes, bytes | None]]:
    """Give the bytes that stand for each line of a text, and the same without figures; None where it has none."""
    data = _to_plain(text)
    without_digits = data.translate(None, _DIGITS)
    if len(without_digits) == len(data):
        return [(line, None) for line in data.split(b"\n")]
    lines = zip(
        data.split(b"\n"),
        without_digits.split(b"\n"),
        without_digits.translate(None, _BESIDE_DIGITS).split(b"\n"),
        strict=True,
    )
    return [(line, None if len(line) == len(bare) else masked) for line, bare, masked in lines]


def _to_plain(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    if len(data) != len(text):
        if any(count(data, mark) for mark in _DECOMPOSED):
            text = _OTHER_DIGITS.sub(_to_ascii, _compose(text))
            data = text.encode("utf-8", "surrogatepass")
        elif count(data, b"\xd9") or count(data, b"\xdb") or count(data, b"\xef\xbc"):
            data = _OTHER_DIGITS.sub(_to_ascii, text).encode("utf-8", "surrogatepass")
        for old, new in _REPLACED:
            if count(data, old):
                data = data.replace(old, new)
        if count(data, b"\xe2\x80"):
            data = _plain_punctuation(data)
    return data.translate(_ALIKE, _NOTHING)


def _compose(text: str) -> str:
    """Compose letters (NFC), piece by piece: marks in a row take time that grows with the square of their number."""
    pieces = []
    start = 0
    while start < len(text):
        end = start + _PIECE
        while end < min(start + 2 * _PIECE, len(text)) and _may_join(text[end]):
            end += 1
        pieces.append(unicodedata.normalize("NFC", text[start:end]))
        start = end
    return "".join(pieces)


def _may_join(letter: str) -> bool:
    """Say whether a letter may become one with the letters before it."""
    return unicodedata.category(letter).startswith("M") or letter in _JAMO


def _to_ascii(digit: re.Match[str]) -> str:
    return str(unicodedata.digit(digit[0], 0))


def _plain_punctuation(data: bytes) -> bytes:
    first, *others = data.split(b"\xe2\x80")
    found = [first]
    for each in others:
        plain = _PUNCTUATION.get(each[0]) if each else None
        found.append(b"\xe2\x80" + each if plain is None else plain + each[1:])
    return b"".join(found)


def to_sentences(data: bytes, most: int) -> list[bytes]:
    """Divide comparable bytes where sentences end; the last one of so many is not as long as it may be."""
    if not data.isascii():
        data = data.replace(b"\xe3\x80\x82", b".")
    return data.translate(_ENDS).split(b".", most)[:most]
