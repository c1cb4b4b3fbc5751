"""Two texts, and the runs in which they are the same, or one of them has more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from msgspec import Struct

from tocsin.spec.differences.matching import Common, Work, find_common
from tocsin.spec.differences.pieces import split_lines, split_sentences, split_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

By: TypeAlias = Literal["words", "lines"]
Kind: TypeAlias = Literal["same", "removed", "added"]
_Piece: TypeAlias = "tuple[Kind, str]"

_STEPS = 300_000
"""Of work, beside one for each letter."""

_STEPS_OF_WORDS = 100
"""What looking at two sentences costs, whatever they say."""

_MOST_IN_WORDS = 2**19
_ALIKE = 0.25
"""From this share on that two lines have in common, one is the other one changed."""


class Run(Struct, frozen=True, gc=False):
    """A piece of text that is in both, was removed, or was added."""

    kind: Kind
    text: str


class Difference(Struct, frozen=True):
    """How a text became another one.

    by    what the runs are made of: whole lines, or words within lines that were changed, too
    runs  in order: no two of a kind follow one another, what was removed stands before what came in its place. Those
          that are the same or removed are the text before, those that are the same or added the latest
    """

    by: By
    runs: tuple[Run, ...] = ()

    @property
    def is_none(self) -> bool:
        """Whether the texts are equal."""
        return all(run.kind == "same" for run in self.runs)

    @property
    def before(self) -> str:
        """The text before."""
        return "".join([run.text for run in self.runs if run.kind != "added"])

    @property
    def latest(self) -> str:
        """The text that it became."""
        return "".join([run.text for run in self.runs if run.kind != "removed"])


def whole_lines(text: str) -> str:
    """End the last line like the others, so that a line that follows it is no change of it."""
    return text if text.endswith("\n") or not text else f"{text}\n"


class _Hunk(NamedTuple):
    """What both have, and then what one of them has in the place of what the other one has."""

    same: str
    removed: str
    added: str


def compare_texts(before: str, latest: str, *, by: By) -> Difference:
    """Compare two texts whose blocks are lines.

    Lines first; by words, lines that stand for others are compared by their sentences, and sentences that stand for
    others by their words (by letter where words are not divided by spaces).
    The time grows with the length and no faster, whatever the texts are: see `matching` for what gives way. Where more
    than `_MOST_IN_WORDS` letters of sentences were replaced, the rest of them is shown as replaced whole.
    """
    if before == latest:
        return Difference(by, (Run("same", before),) if before else ())
    return Difference(by, tuple(_folded(_Comparison(len(before) + len(latest)).run(before, latest, by))))


class _Comparison:
    """One comparison, with the work that it may still do."""

    def __init__(self, letters: int) -> None:
        self._work = Work(_STEPS + letters)
        self._words_left = _MOST_IN_WORDS

    def run(self, before: str, latest: str, by: By) -> Iterator[_Piece]:
        for same, removed, added in self._hunks(split_lines(before), split_lines(latest)):
            yield "same", same
            if by == "words" and removed and added and self._work.left > 0:
                yield from self._by_sentences(removed, added)
            else:
                yield from _replaced(removed, added)

    def _by_sentences(self, removed: str, added: str) -> Iterator[_Piece]:
        for hunk in self._hunks(list(split_sentences(removed)), list(split_sentences(added))):
            yield "same", hunk.same
            yield from self._by_words(hunk.removed, hunk.added)

    def _by_words(self, removed: str, added: str) -> Iterator[_Piece]:
        letters = len(removed) + len(added)
        if not removed or not added or letters > self._words_left or self._work.left <= 0:
            return _replaced(removed, added)
        self._words_left -= letters
        self._work.left -= _STEPS_OF_WORDS
        hunks = list(self._hunks(split_words(removed), split_words(added)))
        alike = sum(_weight(hunk.same) for hunk in hunks)
        if alike < _ALIKE * max(_weight(removed), _weight(added)):
            return _replaced(removed, added)
        return _without_crumbs(_aligned(hunks))

    def _hunks(self, before: Sequence[str], latest: Sequence[str]) -> Iterator[_Hunk]:
        numbers: dict[str, int] = {}
        common = find_common(
            [numbers.setdefault(piece, len(numbers)) for piece in before],
            [numbers.setdefault(piece, len(numbers)) for piece in latest],
            self._work,
        )
        return _between(before, latest, common)


def _between(before: Sequence[str], latest: Sequence[str], common: Iterable[Common]) -> Iterator[_Hunk]:
    same = ""
    i = j = 0
    for run in common:
        yield _Hunk(same, "".join(before[i : run.i]), "".join(latest[j : run.j]))
        i, j = run.i + run.length, run.j + run.length
        same = "".join(before[run.i : i])
    yield _Hunk(same, "".join(before[i:]), "".join(latest[j:]))


def _aligned(hunks: list[_Hunk]) -> list[_Hunk]:
    """Let what came or went as a line be that line with its own end, not the end before it and the line without its."""
    for place in range(len(hunks) - 1):
        same, removed, added = hunks[place]
        alone = removed or added
        head = alone[: alone.find("\n") + 1]
        after = hunks[place + 1]
        if head and not (removed and added) and not same.endswith("\n") and after.same.startswith(head):
            turned = alone[len(head) :] + head
            hunks[place] = _Hunk(same + head, turned if removed else "", turned if added else "")
            hunks[place + 1] = after._replace(same=after.same[len(head) :])
    return hunks


def _replaced(removed: str, added: str) -> Iterator[_Piece]:
    yield "removed", removed
    yield "added", added


def _without_crumbs(hunks: Iterable[_Hunk]) -> Iterator[_Piece]:
    """Give what changed; what is easier read as part of the changes that it lies between counts as changed."""
    last = 0
    for hunk in hunks:
        same, was, now = hunk
        weight = max(_weight(was), _weight(now))
        if _is_crumb(same, min(last, weight)):
            yield from _replaced(same, same)
            last += weight
        else:
            yield "same", same
            last = weight
        yield from _replaced(was, now)


def _is_crumb(same: str, changed: int) -> bool:
    """Tell whether so little is the same between two changes, with so many letters at least, that it tells nothing."""
    return bool(changed) and "\n" not in same and 2 * _weight(same) <= changed


def _weight(text: str) -> int:
    """Count letters and digits."""
    return sum(map(str.isalnum, text))


def _folded(pieces: Iterable[_Piece]) -> Iterator[Run]:
    """Put what changed between two runs that are the same into one of each kind; empty ones vanish."""
    held: dict[Kind, list[str]] = {"same": [], "removed": [], "added": []}
    for kind, text in pieces:
        if not text:
            continue
        if kind == "same" and (held["removed"] or held["added"]):
            yield from _flushed(held)
        held[kind].append(text)
    yield from _flushed(held)


def _flushed(held: dict[Kind, list[str]]) -> Iterator[Run]:
    for kind, texts in held.items():
        if texts:
            yield Run(kind, "".join(texts))
            texts.clear()
