"""Errors and reasons in another language than English.

The code writes them in English where they arise, and the store and events keep them so. Another language has tables of
them by the English sentence, in which `{}` stands for a value; what has no row stays in English.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

from msgspec import Struct

# Errors; why a page is due; how a change was decided; why a route takes an alert; what a channel's setting means; what
# tells a page that is served in place of the wanted one.
SentenceKind: TypeAlias = Literal["errors", "due", "trace", "routing", "hints", "evidence"]

_FOLDER: Final = Path(__file__).parent
_VALUE: Final = "{}"
# An error is a place, the fault and the mend: they are told one by one where there is no row for the whole.
_JOINT: Final = re.compile(r"; |: ")
_QUOTES: Final = ('"', "'", "`")
_DEEPEST: Final = 8
_LONGEST: Final = 4000


def _is_typed(text: str) -> bool:
    """Whether this is what a user typed, which is in quotation marks."""
    return text.startswith(_QUOTES) and text.endswith(text[0])


class _Row(Struct, frozen=True):
    """A sentence with values: the texts around them in English, and all of it in the other language."""

    around: tuple[str, ...]
    said: str

    def values_in(self, text: str) -> list[str] | None:
        """Find the values of this sentence in a text; None if the text is another one."""
        first, *between, last = self.around
        if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
            return None
        at, end, values = len(first), len(text) - len(last), []
        for each in between:
            found = text.find(each, at, end)
            if found < 0:
                return None
            values.append(text[at:found])
            at = found + len(each)
        values.append(text[at:end])
        # "{} is no key" is said behind the place, and not about it.
        return None if not first and _JOINT.search(values[0]) and not _is_typed(values[0]) else values


class Sentences:
    """The sentences of one kind in one language; `{1}` in them is the second value of the English, `{}` the next."""

    def __init__(self, table: Mapping[str, str]) -> None:
        self._whole = {english: said for english, said in table.items() if _VALUE not in english}
        rows = (_Row(tuple(english.split(_VALUE)), said) for english, said in table.items() if _VALUE in english)
        # Of several that fit, one that begins with its own text, and has the most of it, says the most.
        self._rows = sorted(rows, key=lambda row: (not row.around[0], -sum(map(len, row.around))))

    def retell(self, text: str) -> str:
        """Say an English sentence in this language; one that is not known stays as it is."""
        return "\n".join(self._retell(line, _DEEPEST) if len(line) <= _LONGEST else line for line in text.split("\n"))

    def _retell(self, text: str, depth: int) -> str:
        if (said := self._whole.get(text)) is not None:
            return said
        if not depth or _is_typed(text):
            return text
        for row in self._rows:
            if (values := row.values_in(text)) is not None:
                return row.said.format(*self._all(values, depth))
        if not (joints := list(_JOINT.finditer(text))):
            return text
        known = (each for each in joints if text[: each.start()] in self._whole)
        joint = next(known, joints[0])
        return joint[0].join(self._all((text[: joint.start()], text[joint.end() :]), depth))

    def _all(self, texts: Iterable[str], depth: int) -> list[str]:
        return [self._retell(each, depth - 1) for each in texts]


@cache
def sentences_of(language: str, kind: SentenceKind) -> Sentences:
    """Read the sentences of a kind in a language, once; English has none, since the code writes it."""
    file = _FOLDER / f"sentences.{language}.toml"
    return Sentences(tomllib.loads(file.read_text("utf-8"))[kind] if file.exists() else {})
