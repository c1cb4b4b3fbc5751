"""How words are compared, whatever their language: without case, accents and punctuation."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 8000
"""Letters of a text that are compared; what is longer is no page of these kinds."""

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\ufeff]+")
_ACCENTS = re.compile("[\u0300-\u036f\u3099\u309a]+")
_NO_WORD = re.compile(r"[\W_]+")
# Dashes of all kinds.
_PARTS = re.compile(r"\s[-~/]+\s|[|»«·•:|\u2013\u2014\n]+|[.!?…](?=\s)|[。\uff01\uff1f\uff1a]")
_LETTERS_A_WORD = 4
# From here on, scripts write words without spaces between them, or with endings.
_UNSPACED = "\u0e00"
# What stands before or behind what such a page says, and says nothing itself.
_NOISE_WORDS = (
    "http https error errors code status oops ooops whoops ups uups hoppla sorry uh oh ouch hmm fehler fehlercode "
    "fehlermeldung erreur errore erro fout foutmelding blad ошибка hata エラー 错误 錯誤 오류 에러 خطا خطأ "
    "400 401 403 404 405 410 429 451 500 502 503 504 "
)
_NOISE = frozenset(_NOISE_WORDS.split())


def fold_words(text: str) -> str:
    """Give a text's words in lower case without accents and punctuation, one space apart; at most LONGEST letters."""
    text = text[:LONGEST]
    if not text.isascii():
        text = unicodedata.normalize("NFKD", _INVISIBLE.sub("", text)).casefold()
        text = unicodedata.normalize("NFKC", _ACCENTS.sub("", text))[:LONGEST]
    return _NO_WORD.sub(" ", text.casefold()).strip()


def split_parts(title: str) -> list[str]:
    """Split a title where people put a dash, a bar or a full stop; its parts are folded, and without error numbers."""
    parts = (_without_noise(fold_words(part)) for part in _PARTS.split(title[:400]))
    return [part for part in parts if part]


def _without_noise(folded: str) -> str:
    words = folded.split()
    start, end = 0, len(words)
    while start < end and words[start] in _NOISE:
        start += 1
    while end > start and words[end - 1] in _NOISE:
        end -= 1
    return " ".join(words[start:end])


class Phrases:
    """Phrases of many languages, one language a line, after its code; `|` between them."""

    def __init__(self, table: str) -> None:
        lines = (line.partition(":")[2] for line in table.strip().splitlines())
        self.phrases = tuple(dict.fromkeys(fold_words(phrase) for line in lines for phrase in line.split("|")))
        self._whole = frozenset(self.phrases)
        self._needles = tuple(p if max(p) >= _UNSPACED else f" {p} " for p in self.phrases)

    def opens(self, parts: Iterable[str], *, spare: int = 0) -> str | None:
        """Give the first part that is one of the phrases, perhaps with a few words after it; None if there is none.

        parts  as `split_parts` gives them
        spare  how many words may follow
        """
        for part in parts:
            if part in self._whole:
                return part
            if spare:
                for phrase in self.phrases:
                    if part.startswith(phrase) and _is_rest_short(part, len(phrase), spare):
                        return part
        return None

    def found_in(self, folded: str) -> list[str]:
        """Give those of the phrases that stand in a folded text."""
        spaced = f" {folded} "
        return [phrase for phrase, needle in zip(self.phrases, self._needles, strict=True) if needle in spaced]


def _is_rest_short(part: str, end: int, spare: int) -> bool:
    rest = part[end:]
    if rest[0] != " " and rest[0] < _UNSPACED:
        return False
    return len(rest.split()) <= spare and len(rest) <= spare * _LETTERS_A_WORD * 4
