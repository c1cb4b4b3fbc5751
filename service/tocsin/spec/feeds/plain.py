"""Text of feeds as people read it."""

from __future__ import annotations

import re
from html import unescape

from tocsin.spec.feeds.found import LONGEST_TEXT

# What stands between them is no text; an element that is never closed goes to the end.
_HIDDEN = re.compile(r"<(script|style)\b(?:(?!</\1).)*+(?:</\1[^>]*+>?)?", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<!--(?:(?!-->).)*+(?:-->)?|</?[A-Za-z!?][^<>]*+>?", re.DOTALL)


def fold(text: str) -> str:
    """Fold the white space of a text, and cut what is too long."""
    return " ".join(text[: 4 * LONGEST_TEXT].split())[:LONGEST_TEXT]


def strip_markup(markup: str) -> str:
    """Give the text of markup, near enough to notice that it changed."""
    markup = markup[: 8 * LONGEST_TEXT]
    if "<" in markup:
        markup = _TAG.sub(" ", _HIDDEN.sub(" ", markup))
    return fold(unescape(markup) if "&" in markup else markup)
