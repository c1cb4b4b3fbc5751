"""The small parsers that HTML shares between its features."""

from __future__ import annotations

import re

SPACE = "\t\n\f\r "
"""HTML's white space: what separates tokens and is trimmed from values."""

_SPACES = re.compile(f"[{SPACE}]+")
# Possessive, so that 5,000 digits before a letter are walked once, not 5,000 times.
REFRESH = re.compile(f"[{SPACE}]*+([0-9]++|(?=\\.))[0-9.]*+(?:\\Z|[;,{SPACE}])")
"""What a refresh pragma begins with; its group is the whole seconds, perhaps none before a point."""


def split_tokens(text: str) -> list[str]:
    """Split on white space as HTML does: only ASCII's, a no-break space is part of a token."""
    if (
        text.isascii() and text.isprintable()
    ):  # most are: their only white space is U+0020, and this is ten times as fast
        return text.split()
    return [token for token in _SPACES.split(text) if token]


def fold_space(text: str) -> str:
    """Trim the text and turn each run of white space in it into one space."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    return _SPACES.sub(" ", text).strip(" ")


def lower_ascii(text: str) -> str:
    """Lower the letters A to Z of a text that is to be matched with an ASCII keyword.

    A text with any other letter is returned as it is: it matches no keyword, and `str.lower` would
    make some of them ASCII (the Kelvin sign becomes k).
    """
    return text.lower() if text.isascii() else text


def read_refresh(content: str) -> str | None:
    """Read the number of seconds of a refresh pragma: digits without leading zeros, of any length.

    Returns None where HTML ignores the element.
    Source  HTML, shared declarative refresh steps; awareness spec 2.2.2, the field `refresh`.
    """
    match = REFRESH.match(content)
    if match is None:
        return None
    return match[1].lstrip("0") or "0"
