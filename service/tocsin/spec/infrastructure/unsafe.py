"""Letters that a text from elsewhere must not bring to where it is shown.

A page, a server or a file says what it likes. On a terminal, in a log and on a web page it must not move the cursor,
turn the direction of what stands behind it, or be no text at all. Joiners (U+200C, U+200D) turn nothing: Persian and
emoji are misread without them.
"""

from __future__ import annotations

import re
from typing import Final

_TURNING = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_NO_LETTERS = "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"

UNSAFE_IN_LINE: Final = re.compile(f"[\x00-\x1f\x7f-\x9f{_TURNING}{_NO_LETTERS}]")
"""Where a text stands in a line of ours."""

UNSAFE_IN_TEXT: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_TURNING}{_NO_LETTERS}]")
"""Where a text has lines of its own: tabs and ends of lines stay."""


def safe_line(text: str) -> str:
    """Put U+FFFD in the place of each letter that is unsafe in a line."""
    return UNSAFE_IN_LINE.sub("\N{REPLACEMENT CHARACTER}", text)


def safe_text(text: str) -> str:
    """Put U+FFFD in the place of each letter that is unsafe in a text, whose tabs and ends of lines stay."""
    return UNSAFE_IN_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
