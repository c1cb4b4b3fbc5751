"""Phrases of many languages, and how they are compared: without case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from tocsin.spec.words import read_lists, split_phrases

# Letters of a text that are compared; pages with a longer text are not of these kinds.
LONGEST = 8000

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\ufeff]+")
_ACCENTS = re.compile("[\u0300-\u036f]+")
_DOTLESS = str.maketrans("\u0131", "i")  # Turkish writes it without a dot
_NO_WORD = re.compile(r"[\W_]+")
# English says the same in one word or two; folded, the apostrophe is a space.
_NOT = re.compile(r"\b(is|are|was|were|do|does|did|has|have|had|could|would|should)n t\b")
_ARE = re.compile(r"\b(you|we|they) re\b")
_CANNOT = re.compile(r"\bcan(?: t| not)\b")
# Dashes of all kinds.
_PARTS = re.compile(r"\s[-~/]+\s|[|»«·•:|\u2013\u2014\n]+|[.!?…](?=\s)|[。\uff01\uff1f\uff1a]")
_LETTERS_OF_A_WORD = 16
# From here on, scripts write words without spaces between them, or with endings.
_UNSPACED = "\u0e00"
_LISTS = read_lists("suspicion")
_NUMBERS = frozenset(
    {"http", "https", "code", "status"}
    | {"400", "401", "403", "404", "405", "410", "429", "451", "500", "502", "503", "504"}
)
_EXCLAMATIONS = frozenset(word for text in _LISTS["exclamations"].values() for word in split_phrases(text))
# Words before or after the message of such a page that add nothing to it.
_NOISE = _NUMBERS | _EXCLAMATIONS


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, without accents and punctuation, one space apart; at most LONGEST."""
    text = text[:LONGEST]
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)).casefold()
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", text))[:LONGEST]
    folded = _NO_WORD.sub(" ", text.casefold().translate(_DOTLESS)).strip()
    return _CANNOT.sub("cannot", _ARE.sub(r"\1 are", _NOT.sub(r"\1 not", folded)))


def split_parts(title: str) -> list[str]:
    """Split a title at dashes, bars and full stops.

    Returns its parts, folded: each one as it is, and without error numbers and exclamations before and after it.
    """
    parts: list[str] = []
    for part in _PARTS.split(title[:400]):
        folded = fold_words(part)
        words = folded.split()
        parts += [folded, _trim(words, _NUMBERS), _trim(words, _NOISE)]
    return [part for part in dict.fromkeys(parts) if part]


def is_noise(title: str) -> bool:
    """Return whether a title consists of error numbers and exclamations alone."""
    return not _trim(fold_words(title[:400]).split(), _NOISE)


def _trim(words: list[str], noise: frozenset[str]) -> str:
    start, end = 0, len(words)
    while start < end and words[start] in noise:
        start += 1
    while end > start and words[end - 1] in noise:
        end -= 1
    return " ".join(words[start:end])


class Phrases:
    """A list of phrases in many languages.

    by_language  as `read_lists` returns them
    """

    def __init__(self, by_language: Mapping[str, str]) -> None:
        self._by_language = by_language

    @cached_property
    def _written(self) -> dict[str, str]:
        """Each phrase by its folded form."""
        phrases = (phrase for text in self._by_language.values() for phrase in split_phrases(text))
        return {fold_words(phrase): phrase for phrase in phrases}

    @cached_property
    def _by_letter(self) -> dict[str, list[tuple[str, str]]]:
        """The same, by their first letter."""
        found: dict[str, list[tuple[str, str]]] = {}
        for phrase, written in self._written.items():
            found.setdefault(phrase[0], []).append((phrase, written))
        return found

    @cached_property
    def _needles(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (phrase if max(phrase) >= _UNSPACED else f" {phrase} ", written)
            for phrase, written in self._written.items()
        )

    def opens(self, parts: Iterable[str], *, spare: int = 0) -> str | None:
        """Return the phrase that one of the parts is or begins with; None if there is none.

        parts  as `split_parts` returns them
        spare  the number of words that may follow the phrase
        """
        for part in parts:
            if part in self._written:
                return self._written[part]
            if spare:
                for phrase, written in self._by_letter.get(part[:1], ()):
                    if part.startswith(phrase) and _is_rest_short(part, len(phrase), spare):
                        return written
        return None

    def begins(self, folded: str) -> str | None:
        """Return the phrase that a folded text begins with; None if there is none."""
        beginning = self._by_letter.get(folded[:1], ())
        return next((written for phrase, written in beginning if folded.startswith(phrase)), None)

    def found_in(self, folded: str) -> list[str]:
        """Return the phrases that a folded text contains."""
        spaced = f" {folded} "
        return [written for needle, written in self._needles if needle in spaced]


def _is_rest_short(part: str, end: int, spare: int) -> bool:
    rest = part[end:]
    if rest[0] != " " and rest[0] < _UNSPACED:
        return False
    return len(rest.split()) <= spare and len(rest) <= spare * _LETTERS_OF_A_WORD


# The lists of `spec/words/suspicion.ini` by name; that file explains their use.
PHRASES: Final = {name: Phrases(entries) for name, entries in _LISTS.items()}
