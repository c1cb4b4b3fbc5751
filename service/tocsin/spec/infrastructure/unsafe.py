"""Characters that are unsafe to show: they are replaced in text from elsewhere.

Text from pages, servers and files can contain any character. On a terminal, in a log and on a web page it must not move
the cursor, change the direction of the text after it, or be no text at all. Joiners (U+200C, U+200D) are harmless, and
Persian and emoji are misread without them.
"""

from __future__ import annotations

import re
from typing import Final

from tocsin.spec.html.urls import mask_user_info

# Foreign text, made safe for messages.


# A message of a library may repeat a whole page.
LONGEST: Final = 200


def one_line(what: object) -> str:
    """Give the first line of a message, cut, without control characters and without credentials in URLs."""
    # Messages of the parser continue with bytes of the page; those of libraries may repeat a proxy with its password.
    said = str(what).strip().partition("\n")[0].strip(" :.")
    masked = mask_user_info(said[: 2 * LONGEST])
    return safe_line(masked)[:LONGEST] or type(what).__name__


_TURNING = "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_NO_LETTERS = "\ufeff\ufff9-\ufffb\ufffe\uffff\ud800-\udfff"

# For a text within one of our lines.
UNSAFE_IN_LINE: Final = re.compile(f"[\x00-\x1f\x7f-\x9f{_TURNING}{_NO_LETTERS}]")

# For a text with lines of its own: tabs and line ends are kept.
UNSAFE_IN_TEXT: Final = re.compile(f"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f{_TURNING}{_NO_LETTERS}]")


def safe_line(text: str) -> str:
    """Replace each character that is unsafe in a line by U+FFFD."""
    return UNSAFE_IN_LINE.sub("\N{REPLACEMENT CHARACTER}", text)


def safe_text(text: str) -> str:
    """Replace each character that is unsafe in a text by U+FFFD; tabs and line ends are kept."""
    return UNSAFE_IN_TEXT.sub("\N{REPLACEMENT CHARACTER}", text)
