"""Lists of words as they are written in the source: many to a line."""

from __future__ import annotations


def to_words(text: str) -> frozenset[str]:
    """Give the words of a list, divided by white space."""
    return frozenset(text.split())


def to_phrases(text: str) -> frozenset[str]:
    """Give the phrases of a list, divided by `|`."""
    return frozenset(" ".join(phrase.split()) for phrase in text.split("|"))
