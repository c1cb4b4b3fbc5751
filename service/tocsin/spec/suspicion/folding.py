"""How words are compared, whatever their language: without case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from typing import TYPE_CHECKING

from tocsin.spec.words import split_phrases

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LONGEST = 8000
"""Letters of a text that are compared; what is longer is no page of these kinds."""

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
# What stands before or behind what such a page says, and says nothing itself.
_NUMBERS = "http https code status 400 401 403 404 405 410 429 451 500 502 503 504"
_EXCLAMATIONS = (
    "error errors oops ooops whoops ups uups hoppla sorry uh oh ouch hmm fehler fehlercode fehlermeldung erreur errore "
    "erro fout foutmelding blad ошибка hata エラー 错误 錯誤 오류 에러 خطا خطأ"
)
_NUMBER = frozenset(_NUMBERS.split())
_NOISE = frozenset([*_NUMBER, *_EXCLAMATIONS.split()])


def fold_words(text: str) -> str:
    """Give a text's words in lower case without accents and punctuation, one space apart; at most LONGEST letters."""
    text = text[:LONGEST]
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)).casefold()
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", text))[:LONGEST]
    folded = _NO_WORD.sub(" ", text.casefold().translate(_DOTLESS)).strip()
    return _CANNOT.sub("cannot", _ARE.sub(r"\1 are", _NOT.sub(r"\1 not", folded)))


def split_parts(title: str) -> list[str]:
    """Split a title where people put a dash, a bar or a full stop.

    Returns its parts folded: each as it is, and without error numbers and exclamations before and behind it.
    """
    parts: list[str] = []
    for part in _PARTS.split(title[:400]):
        folded = fold_words(part)
        words = folded.split()
        parts += [folded, _trim(words, _NUMBER), _trim(words, _NOISE)]
    return [part for part in dict.fromkeys(parts) if part]


def is_noise(title: str) -> bool:
    """Say whether a title is nothing but error numbers and exclamations."""
    return not _trim(fold_words(title[:400]).split(), _NOISE)


def _trim(words: list[str], noise: frozenset[str]) -> str:
    start, end = 0, len(words)
    while start < end and words[start] in noise:
        start += 1
    while end > start and words[end - 1] in noise:
        end -= 1
    return " ".join(words[start:end])


class Phrases:
    """Phrases of many languages.

    by_language  as `read_lists` gives them
    """

    def __init__(self, by_language: Mapping[str, str]) -> None:
        self._by_language = by_language

    @cached_property
    def _written(self) -> dict[str, str]:
        """The phrases by what they are folded."""
        phrases = (phrase for text in self._by_language.values() for phrase in split_phrases(text))
        return {fold_words(phrase): phrase for phrase in phrases}

    @cached_property
    def _needles(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (phrase if max(phrase) >= _UNSPACED else f" {phrase} ", written)
            for phrase, written in self._written.items()
        )

    def opens(self, parts: Iterable[str], *, spare: int = 0) -> str | None:
        """Give the phrase that one of the parts is, perhaps with a few words after it; None if there is none.

        parts  as `split_parts` gives them
        spare  how many words may follow
        """
        for part in parts:
            if part in self._written:
                return self._written[part]
            if spare:
                for phrase, written in self._written.items():
                    if part.startswith(phrase) and _is_rest_short(part, len(phrase), spare):
                        return written
        return None

    def found_in(self, folded: str) -> list[str]:
        """Give those of the phrases that stand in a folded text."""
        spaced = f" {folded} "
        return [written for needle, written in self._needles if needle in spaced]


def _is_rest_short(part: str, end: int, spare: int) -> bool:
    rest = part[end:]
    if rest[0] != " " and rest[0] < _UNSPACED:
        return False
    return len(rest.split()) <= spare and len(rest) <= spare * _LETTERS_OF_A_WORD
