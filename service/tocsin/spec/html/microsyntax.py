"""The small parsers that HTML shares between its features."""

from __future__ import annotations

import re
from collections.abc import Collection

# HTML's white space: what separates tokens and is trimmed from values.
SPACE = "\t\n\f\r "

_SPACES = re.compile(f"[{SPACE}]+")
# Possessive, so that 5,000 digits before a letter are walked once, not 5,000 times.
# The beginning of a refresh pragma; its group is the whole seconds, which may be missing before a point.
REFRESH = re.compile(f"[{SPACE}]*+([0-9]++|(?=\\.))[0-9.]*+(?:\\Z|[;,{SPACE}])")


DIGITS = "0123456789"
# Unicode's space separators (class Zs), which no version since 6.3 has changed (NUM-02).
ZS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_VALID_NONNEG = re.compile("[0-9]++")


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


def is_valid_nonneg(text: str) -> bool:
    """Return whether the text is a valid non-negative integer (NUM-04)."""
    return _VALID_NONNEG.fullmatch(text) is not None


def is_valid_keyword(value: str, keywords: Collection[str], nonconforming: Collection[str] = ()) -> bool:
    """Return whether an enumerated attribute may be written so: in any case, with nothing around it (ENUM-02).

    nonconforming  keywords that have a state for historical reasons, and must not be written
    """
    keyword = lower_ascii(value)
    return keyword in keywords and keyword not in nonconforming


def is_valid_boolean(name: str, value: str) -> bool:
    """Return whether a boolean attribute may be written with this value: none, or its own name in any case (NUM-03)."""
    return not value or lower_ascii(value) == lower_ascii(name)


def is_valid_hash_name(reference: str, names: Collection[str]) -> bool:
    """Return whether the text is a hash-name reference to one of these names, written exactly so (REF-02)."""
    return reference.startswith("#") and reference[1:] in names
