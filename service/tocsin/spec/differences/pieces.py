"""Texts taken apart: into lines, words and sentences. What is put together again is the text as it was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Who writes without spaces between words is compared by letter, with the marks that belong to it: Thai, Lao, Burmese,
# Khmer, Chinese, Japanese.
_ALONE = (
    "\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3031-\u312f\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_MARKS = (
    "\u0300-\u036f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u109a-\u109d\u17b4-\u17d3\u17dd\u3099\u309a\ufe00-\ufe0f"
    "\uff9e\uff9f\U000e0100-\U000e01ef"
)
_PUNCTUATION = (
    r"!-/:-@\[-\^`{-~\xa1-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\u060c\u061b\u061f\u06d4\u0964\u0965\u2000-\u200b\u200e-\u206f"
    r"\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\uff00-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
)
# What is neither space nor punctuation is of a word, marks of every script among it.
_LETTER = rf"[^\s{_PUNCTUATION}{_ALONE}]"
_WORD = re.compile(
    rf"{_LETTER}++(?:['\u2019.,:]{_LETTER}++)*+|[{_ALONE}][{_MARKS}]*+|\n|[^\S\n]++|.",
    re.DOTALL,
)
_SENTENCE_END = re.compile(
    "\n|[.!?\u06d4\u0964]++[\"'\u2019\u201d\xbb)\\]]*+\\s++|[\u3002\uff01\uff1f]++[\u300d\u300f\uff09]*+\\s*+"
)

_MOST_AFTER = 20
_ENDED = re.compile(r"[.!?\u06d4\u0964\u3002\uff01\uff1f][\"'\u2019\u201d\xbb)\]\u300d\u300f\uff09]*+\s*+\Z")


def split_lines(text: str) -> list[str]:
    """Split a text into its lines, each with its end."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def split_words(text: str) -> list[str]:
    """Split a text into words, spaces, ends of lines and single marks between them.

    Where words are not divided by spaces a letter counts as one.
    """
    return _WORD.findall(text)


def split_sentences(text: str) -> Iterator[str]:
    """Give the sentences of a text, each with what follows it up to the next one; a line's end ends one, too."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    if start < len(text):
        yield text[start:]


def ends_sentence(text: str, end: int) -> bool:
    """Tell whether what stands before this place ends as a sentence does."""
    return _ENDED.search(text[max(end - _MOST_AFTER, 0) : end]) is not None
