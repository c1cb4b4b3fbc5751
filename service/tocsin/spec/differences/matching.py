"""What two sequences have in common, in order, by an amount of work that grows with their length and no faster.

First what both have exactly once stands fast, as far as its order is the same (Bram Cohen's patience diff): people see
a text change around what is particular to it. Between these anchors the same is tried again, and where there is none,
the shortest way from one to the other is looked for (Myers, "An O(ND) Difference Algorithm and Its Variations", 1986).
Where that takes too long, the nth of what both have equally often is held for the nth; where all of it together takes
too long, the rest has nothing in common.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_EDITS = 256


class Common(NamedTuple):
    """So many items from place `i` of the one sequence are those from place `j` of the other."""

    i: int
    j: int
    length: int


class Work:
    """How many steps may still be made; about three million take a second."""

    def __init__(self, steps: int) -> None:
        self.left = steps


class _Part(NamedTuple):
    """The items i to i_end of the one sequence, and j to j_end of the other, that are still to be matched."""

    i: int
    i_end: int
    j: int
    j_end: int


class _TooMuch(Exception):
    """The work is more than was allowed; never leaves this file."""


def find_common(before: Sequence[int], latest: Sequence[int], work: Work) -> list[Common]:
    """Find what two sequences have in common: runs in order, that neither overlap nor touch in both.

    Takes its steps from `work`. Without any left, it looks at each item a few times and no more.
    """
    return _Matching(before, latest, work).run()


class _Matching:
    """One pair of sequences being matched."""

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
        """Take off what both begin and end with."""
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
        """Give places of what both have equally often, at most so often, as far as its order is the same."""
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
        """Note the anchors; give what lies between them."""
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
        """Find what stays on the shortest way from the one to the other; raises _TooMuch."""
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
    """Follow a shortest way back to its beginning, and give its runs of what stays."""
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
    """Give the most pairs whose second numbers rise as their first ones do."""
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
    """Join runs that follow one another in both."""
    joined: list[Common] = []
    for run in runs:
        if joined and joined[-1].i + joined[-1].length == run.i and joined[-1].j + joined[-1].length == run.j:
            joined[-1] = Common(joined[-1].i, joined[-1].j, joined[-1].length + run.length)
        else:
            joined.append(run)
    return joined
