"""Which elements are the properties of which item, and what is wrong with that (text 003, MD-07, MD-12..MD-15).

The text's algorithm is quadratic and says so. This one is not: elements are numbered in tree order, the properties of
each item are a sorted list of numbers, and the descendants of an `itemref` target are a slice of such a list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from tocsin.spec.html.marked import Mark, MarkedPage
from tocsin.spec.html.microsyntax import split_tokens

Step: TypeAlias = tuple[int, Mark, str | None, bool]
"""A mark's place, the mark, its itemprop, and whether it is an item."""

# The owner of an element that is in no item.
NOWHERE: Final = -1


class Crawl:
    """The items of a page and their properties, as places among its marks.

    written  by place, the itemprop as written; None without one. Grows with `walk`.
    owners   by place, the nearest item around it, or NOWHERE. Grows with `walk`.
    """

    def __init__(self, page: MarkedPage) -> None:
        """Start before the first mark."""
        self._page = page
        self.written: list[str | None] = []
        self.owners: list[int] = []
        self._items: set[int] = set()
        self._members: defaultdict[int, list[int]] = defaultdict(list)
        self._ends: Sequence[int] | None = None
        self._targets: Mapping[str, int] | None = None

    def walk(self) -> Iterator[Step]:
        """Yield, in tree order, each mark that is an item, or a property of the item around it."""
        # Read the attributes of a mark while it is yielded: later it has left the processor's cache, which takes twice
        # as long.
        foreign, members, written, owners = self._page.foreign, self._members, self.written, self.owners
        for place, (mark, (is_item, owner)) in enumerate(
            zip(self._page.marks, self._page.lineage.owners(), strict=True)
        ):
            names = None if foreign and place in foreign else mark.attr("itemprop")
            written.append(names)
            owners.append(owner)
            if names is not None:
                members[owner].append(place)
            if is_item:
                self._items.add(place)
            if is_item or (names is not None and owner != NOWHERE):
                yield place, mark, names, is_item

    def properties(self, item: int) -> tuple[Sequence[int], int]:
        """Find the elements that add properties to an item, in tree order, and count the errors (MD-12, MD-13)."""
        own = self._members.get(item, ())
        reference = self._page.marks[item].attr("itemref") if self._page.refers else None
        if reference is None:
            return own, 0
        targets = self._find_all(reference)
        if not targets:
            return own, 0
        in_order = sorted(set(targets))
        errors = len(targets) - len(in_order)
        found = list(own)
        ends = self._find_ends()
        reached: dict[int, int] = {}  # of each owner, the last place that its targets lead to so far
        for target in in_order:
            owner = self.owners[target]
            if owner == item or target <= reached.get(owner, NOWHERE):
                errors += 1  # An element around it collects it already.
                continue
            if target in self._items:
                if self.written[target] is not None:
                    found.append(target)
                continue
            reached[owner] = ends[target]
            siblings = self._members.get(owner, ())
            found += siblings[bisect_left(siblings, target) : bisect_right(siblings, ends[target])]
        # An item that contains itself is an error, and no property; an item that others contain twice is not.
        if item in found:
            found.remove(item)
            errors += 1
        found.sort()
        return found, errors

    def _find_all(self, reference: str) -> list[int]:
        """Find the targets of an itemref, each as often as it is named (MD-07)."""
        known = self._find_targets()
        return [known[token] for token in split_tokens(reference) if token in known]

    def _find_ends(self) -> Sequence[int]:
        """Find for each place the last one within it; itself if there is none."""
        if self._ends is None:
            ends = list(range(len(self.owners)))
            above = self._page.lineage.above()
            for place in range(len(ends) - 1, -1, -1):
                outer = above[place]
                if outer >= 0 and ends[outer] < ends[place]:
                    ends[outer] = ends[place]
            self._ends = ends
        return self._ends

    def _find_targets(self) -> Mapping[str, int]:
        if self._targets is None:
            self._targets = dict(self._identified())
        return self._targets

    def _identified(self) -> Iterator[tuple[str, int]]:
        """Yield the elements with an ID, from the last to the first, so that the first of several wins."""
        for place in range(len(self.owners) - 1, -1, -1):
            name = self._page.marks[place].attr("id")
            if name:
                yield name, place
