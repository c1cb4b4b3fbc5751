"""Words for people in a header, which has room for ASCII alone. Pure."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

LONGEST: Final = 500

_SIGNS: Final = {
    0x00A0: " ",
    0x2013: "-",
    0x2014: "-",
    0x2018: "'",
    0x2019: "'",
    0x201C: '"',
    0x201D: '"',
    0x2026: "...",
    0x2192: "->",
}
"""Spaces, dashes, quotation marks, dots and arrows that are more than ASCII, as they are written in it."""
_GAP: Final = re.compile(r"[\x00-\x20\x7f]+")
_ODD: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})|[^\x20-\x7e]")


def to_header(text: str) -> str:
    """Write a text in at most LONGEST letters of ASCII.

    Letters that a header cannot have are written as the bytes of UTF-8, each as `%C3`, and so is a percent sign that
    would look like one of these: whoever decodes that, as in a URL, has the text.
    """
    written = _GAP.sub(" ", text.translate(_SIGNS)).strip()
    pieces: list[str] = []
    left = LONGEST
    # Shortened first: what is behind as many letters has no room in any case.
    for letter in _split(written[:LONGEST]):
        left -= len(letter)
        if left < 0:
            break
        pieces.append(letter)
    return "".join(pieces)


def _split(text: str) -> list[str]:
    """Give what each letter is written as."""
    odd = {found.start(): quote(found[0], safe="", errors="replace") for found in _ODD.finditer(text)}
    return [odd.get(place, letter) for place, letter in enumerate(text)]
