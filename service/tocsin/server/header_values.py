"""Values of headers: validators of conditional requests (RFC 9110, section 13), and texts in ASCII. Pure."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import quote

# How compressing proxies change a tag: into a weak one (nginx), or with a suffix (Apache).
_OF_PROXIES: Final = re.compile(r'^W/|-(?:gzip|br|zstd)(?="$)')
_LONGEST_HEADER: Final = 500
_ASCII_SIGNS: Final = {
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
_WHITE_SPACE: Final = re.compile(r"[\x00-\x20\x7f]+")
_TO_ESCAPE: Final = re.compile(r"%(?=[0-9A-Fa-f]{2})|[^\x20-\x7e]")


def is_known(
    if_none_match: str | None,
    if_modified_since: str | None,
    tag: str,
    changed_s: int | None,
    *,
    is_exact: bool = False,
) -> bool:
    """Say whether the copy of a reader is up to date; If-None-Match takes precedence over If-Modified-Since.

    tag        the current ETag
    changed_s  the current Last-Modified, in seconds since 1970; None without one
    is_exact   only the same date counts, since Last-Modified may go back: after the clock was set back
    """
    if if_none_match is not None:
        said = {_bare(each.strip()) for each in if_none_match.split(",")}
        return "*" in said or _bare(tag) in said
    if if_modified_since is None or changed_s is None:
        return False
    try:
        said_s = parsedate_to_datetime(if_modified_since).timestamp()
    except (ValueError, OverflowError):
        return False
    return said_s == changed_s if is_exact else said_s >= changed_s


def _bare(tag: str) -> str:
    return _OF_PROXIES.sub("", tag)


def to_header(text: str) -> str:
    """Write a text in at most 500 letters of ASCII, for a header.

    Other letters are written as their bytes in UTF-8, each as `%C3`, and so is a percent sign that looks like the
    start of one: to decode it as in a URL gives the text.
    """
    # Escaping makes a text longer, so that what is beyond the limit before it need not be escaped.
    written = _WHITE_SPACE.sub(" ", text.translate(_ASCII_SIGNS)).strip()[:_LONGEST_HEADER]
    escaped = {found.start(): quote(found[0], safe="", errors="replace") for found in _TO_ESCAPE.finditer(written)}
    pieces: list[str] = []
    left = _LONGEST_HEADER
    for place, letter in enumerate(written):
        piece = escaped.get(place, letter)
        left -= len(piece)
        if left < 0:
            break
        pieces.append(piece)
    return "".join(pieces)
