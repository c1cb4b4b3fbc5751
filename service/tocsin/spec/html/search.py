"""Searching a page's bytes as fast as the machine can: the one place that knows stringzilla.

It compares 16 to 64 bytes at a time with whatever instructions the processor has, which it finds out itself; where
there are none it goes byte by byte. Python's own searches take 10 to 20 times as long on a page, since letters such as
`<` and `e`, that they look for first, are everywhere in it.
"""

from __future__ import annotations

import stringzilla

_LOWER = bytes(range(256)).lower()


def lower(body: bytes) -> bytes:
    """Give the bytes with A to Z in lower case, as `bytes.lower` does in ten times the time."""
    lowered: bytes = stringzilla.translate(body, _LOWER)
    return lowered


def find(body: bytes, needle: bytes, start: int = 0) -> int:
    """Find the first place of the needle from `start` on; -1 if there is none."""
    place: int = stringzilla.find(body, needle, start)
    return place


def find_last(body: bytes, needle: bytes) -> int:
    """Find the last place of the needle; -1 if there is none."""
    place: int = stringzilla.rfind(body, needle)
    return place


def count(body: bytes, needle: bytes) -> int:
    """Count how often the needle stands in the bytes, each occurrence after the end of the one before."""
    found: int = stringzilla.count(body, needle)
    return found
