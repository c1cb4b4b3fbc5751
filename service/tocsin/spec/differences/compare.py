"""Compares two texts: runs that both have, that were removed, and that were added."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct

# A difference by line, as people are shown it.


# Equal lines that are shown before and after a change.
AROUND = 3

# Shown for a line end, if that is what changed.
LINE_END = "\N{DOWNWARDS ARROW WITH CORNER LEFTWARDS}"


class DiffRow(NamedTuple):
    """A line; `kind` is None if it changed in part, as its pieces say."""

    kind: Kind | None
    pieces: tuple[tuple[Kind, str], ...]

    @property
    def text(self) -> str:
        """The whole line."""
        return "".join([text for _, text in self.pieces])


class DiffGap(NamedTuple):
    """Equal lines far from any change."""

    rows: Sequence[DiffRow]


def to_rows(difference: Difference) -> list[DiffRow]:
    """Split a difference into lines; a removed line precedes the one that replaced it."""
    rows: list[DiffRow] = []
    line: list[tuple[Kind, str]] = []
    for run in difference.runs:
        first, *others = run.text.split("\n")
        if first:
            line.append((run.kind, first))
        for text in others:
            rows.append(_row(line, run.kind))
            line = [(run.kind, text)] if text else []
    if line:
        rows.append(_row(line, line[-1][0]))
    return rows


def changed_rows(difference: Difference) -> Iterator[DiffRow | int]:
    """Yield the lines that differ, as `to_rows` splits them, and for equal lines between them their number."""
    line: list[tuple[Kind, str]] = []
    for run in difference.runs:
        text = run.text
        if run.kind == "same":
            if line:
                first, end, text = text.partition("\n")
                if first:
                    line.append(("same", first))
                if not end:
                    continue
                yield _row(line, "same")
            # Equal lines are the most: they are counted, not split.
            if equal := text.count("\n"):
                yield equal
            rest = text[text.rfind("\n") + 1 :]
            line = [("same", rest)] if rest else []
            continue
        first, *others = text.split("\n")
        if first:
            line.append((run.kind, first))
        for each in others:
            yield _row(line, run.kind)
            line = [(run.kind, each)] if each else []
    if line:
        yield _row(line, line[-1][0])


def folded(rows: Sequence[DiffRow]) -> Iterator[DiffRow | DiffGap]:
    """Yield the changed rows, those around them, and a gap for each run of others."""
    near = bytearray(len(rows))
    for place, row in enumerate(rows):
        if row.kind != "same":
            begin, end = max(place - AROUND, 0), min(place + AROUND + 1, len(rows))
            near[begin:end] = b"\1" * (end - begin)
    start = 0
    while start < len(rows):
        is_near = near[start]
        end = near.find(not is_near, start)
        end = len(rows) if end < 0 else end
        # A gap takes a line itself, so a single row is shown.
        if is_near or end - start == 1:
            yield from rows[start:end]
        else:
            yield DiffGap(rows[start:end])
        start = end


def _row(line: Sequence[tuple[Kind, str]], end: Kind) -> DiffRow:
    kinds = {kind for kind, _ in line} | {end}
    if len(kinds) == 1:
        return DiffRow(end, tuple(line))
    is_end_all = end != "same" and all(kind == "same" for kind, _ in line)
    return DiffRow(None, (*line, (end, LINE_END)) if is_end_all else tuple(line))


# Scripts without spaces between words are compared by letter, with its marks: Thai, Lao, Burmese, Khmer, Chinese,
# Japanese.
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
# All other letters, with the marks of every script, are parts of words.
_LETTER = rf"[^\s{_PUNCTUATION}{_ALONE}]"
_WORD = re.compile(
    rf"{_LETTER}++(?:['\u2019.,:]{_LETTER}++)*+|[{_ALONE}][{_MARKS}]*+|\n|[^\S\n]++|.",
    re.DOTALL,
)
_SENTENCE_END = re.compile(
    "\n|[.!?\u06d4\u0964]++[\"'\u2019\u201d\xbb)\\]]*+\\s++|[\u3002\uff01\uff1f]++[\u300d\u300f\uff09]*+\\s*+"
)

# Quotation marks, brackets and references may follow the end of a sentence.
_MOST_AFTER = 20
_ENDED = re.compile(r"[.!?\u06d4\u0964\u3002\uff01\uff1f][\"'\u2019\u201d\xbb)\]\u300d\u300f\uff09]*+\s*+\Z")


def split_lines(text: str) -> list[str]:
    """Split a text into lines, each with its end."""
    lines = text.split("\n")
    last = lines.pop()
    return [f"{line}\n" for line in lines] + ([last] if last else [])


def split_words(text: str) -> list[str]:
    """Split a text into words, spaces, line ends and single marks; in scripts without spaces, a letter is a word."""
    return _WORD.findall(text)


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, each with the white space after it; a line end also ends a sentence."""
    start = 0
    for found in _SENTENCE_END.finditer(text):
        yield text[start : found.end()]
        start = found.end()
    if start < len(text):
        yield text[start:]


def ends_sentence(text: str, end: int) -> bool:
    """Say whether a sentence ends before this place."""
    return _ENDED.search(text[max(end - _MOST_AFTER, 0) : end]) is not None


def narrow(before: str, latest: str, most: int) -> tuple[str, str, bool]:
    """Remove the lines that two texts begin and end with, and cut the rest; cheaper than a comparison.

    most  letters of each rest
    Returns both rests, and whether one of them was cut.
    """
    shorter = min(len(before), len(latest))
    same = _most(shorter, lambda length: before[:length] == latest[:length])
    start = before.rfind("\n", 0, same) + 1
    tail = _most(shorter - start, lambda length: before[len(before) - length :] == latest[len(latest) - length :])
    if not all(_is_line_start(text, len(text) - tail) for text in (before, latest)):
        begin = before.find("\n", len(before) - tail) + 1
        tail = len(before) - begin if begin else 0
    before, latest = before[start : len(before) - tail], latest[start : len(latest) - tail]
    return before[:most], latest[:most], max(len(before), len(latest)) > most


def _is_line_start(text: str, place: int) -> bool:
    return place == 0 or text[place - 1] == "\n"


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """Find the greatest number up to a limit for which a condition holds; it holds for all smaller ones, too."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


# Matching of two sequences, in time proportional to their length.
#
# Lines that both have exactly once are anchors, as far as their order agrees (Bram Cohen's patience diff): people see a
# text change around its distinctive lines. Between anchors the same is tried again. Without one, the shortest edit is
# searched (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986). If that takes too long, the nth of several
# equal lines is matched with the nth; if the whole takes too long, the rest counts as different.


# The time grows with the square of the edits; beyond this the lines count as replaced.
_MOST_EDITS = 256


class Common(NamedTuple):
    """A run of equal items, from place `i` of the first sequence and `j` of the second."""

    i: int
    j: int
    length: int


class Work:
    """The number of steps that are left; about three million take a second."""

    def __init__(self, steps: int) -> None:
        self.left = steps


class _Part(NamedTuple):
    """The items i to i_end of the first sequence, and j to j_end of the second, that are still to be matched."""

    i: int
    i_end: int
    j: int
    j_end: int


class _TooMuch(Exception):
    """The work exceeds its limit; never leaves this file."""


def find_common(before: Sequence[int], latest: Sequence[int], work: Work) -> list[Common]:
    """Find the runs that two sequences have in common, in order, joined where they touch in both.

    Takes its steps from `work`; without any left, it looks at each item only a few times.
    """
    return _SequenceMatching(before, latest, work).run()


class _SequenceMatching:
    """Matches two sequences."""

    def __init__(self, before: Sequence[int], latest: Sequence[int], work: Work) -> None:
        self._before, self._latest, self._work = before, latest, work
        self._found: list[Common] = []

    def run(self) -> list[Common]:
        waiting = [_Part(0, len(self._before), 0, len(self._latest))]
        while waiting:
            part = self._without_ends(waiting.pop())
            if part.i == part.i_end or part.j == part.j_end:
                continue
            self._work.left -= part.i_end - part.i + part.j_end - part.j
            if self._work.left < 0:
                continue
            anchors = self._anchors(part, most=1)
            if anchors:
                waiting.extend(self._between(part, anchors))
                continue
            try:
                self._found += self._shortest(part)
            except _TooMuch:
                self._found += [Common(i, j, 1) for i, j in self._anchors(part, most=len(self._before))]
        return _joined(sorted(self._found))

    def _without_ends(self, part: _Part) -> _Part:
        """Match what both begin and end with; returns the rest."""
        before, latest = self._before, self._latest
        i, i_end, j, j_end = part
        while i < i_end and j < j_end and before[i] == latest[j]:
            i += 1
            j += 1
        if i > part.i:
            self._found.append(Common(part.i, part.j, i - part.i))
        while i < i_end and j < j_end and before[i_end - 1] == latest[j_end - 1]:
            i_end -= 1
            j_end -= 1
        if i_end < part.i_end:
            self._found.append(Common(i_end, j_end, part.i_end - i_end))
        self._work.left -= i - part.i + part.i_end - i_end
        return _Part(i, i_end, j, j_end)

    def _anchors(self, part: _Part, *, most: int) -> list[tuple[int, int]]:
        """Return places of items that both have equally often, at most `most` times, as far as their order agrees."""
        mine = self._before[part.i : part.i_end]
        theirs = self._latest[part.j : part.j_end]
        counts = Counter(mine)
        wanted = {item for item, times in Counter(theirs).items() if times <= most and counts.get(item) == times}
        if not wanted:
            return []
        places: dict[int, list[int]] = {}
        for place in range(len(theirs) - 1, -1, -1):
            if theirs[place] in wanted:
                places.setdefault(theirs[place], []).append(place)
        pairs = [(place, places[item].pop()) for place, item in enumerate(mine) if item in wanted]
        return [(part.i + i, part.j + j) for i, j in _longest_rising(pairs)]

    def _between(self, part: _Part, anchors: list[tuple[int, int]]) -> list[_Part]:
        """Record the anchors; returns the parts between them."""
        parts = []
        i, j = part.i, part.j
        for anchor_i, anchor_j in anchors:
            self._found.append(Common(anchor_i, anchor_j, 1))
            if anchor_i > i and anchor_j > j:
                parts.append(_Part(i, anchor_i, j, anchor_j))
            i, j = anchor_i + 1, anchor_j + 1
        parts.append(_Part(i, part.i_end, j, part.j_end))
        return parts

    def _shortest(self, part: _Part) -> list[Common]:
        """Find the common runs of the shortest edit; raises _TooMuch."""
        before, latest = self._before, self._latest
        i0, i_end, j0, j_end = part
        reached = {1: 0}
        past: list[dict[int, int]] = []
        for edits in range(min(_MOST_EDITS, i_end - i0 + j_end - j0) + 1):
            past.append(reached.copy())
            self._work.left -= edits + 1
            for k in range(-edits, edits + 1, 2):
                is_added = k == -edits or (k != edits and reached[k - 1] < reached[k + 1])
                start = x = reached[k + 1] if is_added else reached[k - 1] + 1
                y = x - k
                while i0 + x < i_end and j0 + y < j_end and before[i0 + x] == latest[j0 + y]:
                    x += 1
                    y += 1
                self._work.left -= x - start
                reached[k] = x
                if i0 + x >= i_end and j0 + y >= j_end:
                    return _way_back(past, x, y, part)
            if self._work.left < 0:
                break
        raise _TooMuch


def _way_back(past: list[dict[int, int]], x: int, y: int, part: _Part) -> list[Common]:
    """Follow a shortest edit back to its beginning; returns its common runs."""
    found = []
    for edits in range(len(past) - 1, -1, -1):
        reached, k = past[edits], x - y
        is_added = k == -edits or (k != edits and reached[k - 1] < reached[k + 1])
        from_k = k + 1 if is_added else k - 1
        from_x = reached[from_k] if edits else 0
        from_y = from_x - from_k if edits else 0
        start = from_x if is_added or not edits else from_x + 1
        if x > start:
            found.append(Common(part.i + start, part.j + start - k, x - start))
        x, y = from_x, from_y
    return found


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence of pairs whose second numbers rise."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for place, (_, number) in enumerate(pairs):
        at = bisect_left(ends, number)
        before.append(last[at - 1] if at else -1)
        if at == len(ends):
            ends.append(number)
            last.append(place)
        else:
            ends[at], last[at] = number, place
    rising = []
    place = last[-1] if last else -1
    while place >= 0:
        rising.append(pairs[place])
        place = before[place]
    return rising[::-1]


def _joined(runs: list[Common]) -> list[Common]:
    """Join runs that are adjacent in both sequences."""
    joined: list[Common] = []
    for run in runs:
        if joined and joined[-1].i + joined[-1].length == run.i and joined[-1].j + joined[-1].length == run.j:
            joined[-1] = Common(joined[-1].i, joined[-1].j, joined[-1].length + run.length)
        else:
            joined.append(run)
    return joined


By: TypeAlias = Literal["words", "lines"]
Kind: TypeAlias = Literal["same", "removed", "added"]
_Piece: TypeAlias = "tuple[Kind, str]"

# Steps of work, beside one for each letter.
_STEPS = 300_000

# Steps for two sentences of any length.
_STEPS_OF_WORDS = 100

# Letters in all that are compared word by word.
_MOST_IN_WORDS = 2**19
# From this common share on, one line is a changed version of the other.
_ALIKE = 0.25


class TextRun(Struct, frozen=True, gc=False):
    """A piece of text that both have, that was removed, or that was added."""

    kind: Kind
    text: str


class Difference(Struct, frozen=True):
    """How a text became another one.

    by    whole lines, or also words within changed lines
    runs  in order, no two of one kind in a row, removed text before what replaced it. The same and removed runs are the
          text before; the same and added runs are the latest text
    """

    by: By
    runs: tuple[TextRun, ...] = ()

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
        """The latest text."""
        return "".join([run.text for run in self.runs if run.kind != "removed"])


def whole_lines(text: str) -> str:
    """End the last line like the others, so that a line added after it does not change it."""
    return text if text.endswith("\n") or not text else f"{text}\n"


class _Hunk(NamedTuple):
    """Text that both have, then text that was replaced by other text."""

    same: str
    removed: str
    added: str


def compare_texts(before: str, latest: str, *, by: By) -> Difference:
    """Compare two texts whose blocks are lines.

    Lines first; by words, replaced lines are then compared by sentence, and replaced sentences by word (by letter in
    scripts without spaces). The time is proportional to the length. Beyond `_MOST_IN_WORDS` letters, replaced sentences
    are shown as a whole.
    """
    if before == latest:
        return Difference(by, (TextRun("same", before),) if before else ())
    return Difference(by, tuple(_folded(_Comparison(len(before) + len(latest)).run(before, latest, by))))


class _Comparison:
    """One comparison, with its limits of work."""

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
    """Let an added or removed line have its own end, instead of the end of the line before."""
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
    """Yield the pieces; an equal piece that is small beside the changes around it counts as changed."""
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
    """Say whether an equal piece is too small beside the changes around it to be worth showing.

    changed  letters of the smaller change
    """
    return bool(changed) and "\n" not in same and 2 * _weight(same) <= changed


def _weight(text: str) -> int:
    """Count letters and digits."""
    return sum(map(str.isalnum, text))


def _folded(pieces: Iterable[_Piece]) -> Iterator[TextRun]:
    """Join the pieces between two equal runs into one run of each kind; empty ones are dropped."""
    held: dict[Kind, list[str]] = {"same": [], "removed": [], "added": []}
    for kind, text in pieces:
        if not text:
            continue
        if kind == "same" and (held["removed"] or held["added"]):
            yield from _flushed(held)
        held[kind].append(text)
    yield from _flushed(held)


def _flushed(held: dict[Kind, list[str]]) -> Iterator[TextRun]:
    for kind, texts in held.items():
        if texts:
            yield TextRun(kind, "".join(texts))
            texts.clear()
