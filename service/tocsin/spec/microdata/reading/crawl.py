"""Which elements are the properties of which item, and what is wrong with that (text 003, MD-07, MD-12..MD-15).

The text's algorithm is quadratic and says so. Here each element has a place in tree order; the elements with properties
of each nearest item are a list in that order; and what an itemref leads to is a part of one such list.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from tocsin.spec.html.microsyntax import split_tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TypeAlias

    from tocsin.spec.html.marked import Mark, MarkedPage

    Step: TypeAlias = tuple[int, Mark, str | None, bool]
    """A mark's place, itself, its itemprop, and whether it is an item."""

NOWHERE: Final = -1
"""In place of an item: what stands in none."""


class Crawl:
    """The items of a page and their properties, as places among its marks.

    Of what it walked over it knows:

    written  of each place its itemprop as written; None for an element without one
    owners   of each place the nearest item that it stands in, or NOWHERE
    """

    def __init__(self, page: MarkedPage) -> None:
        """Begin."""
        self._page = page
        self.written: list[str | None] = []
        self.owners: list[int] = []
        self._items: set[int] = set()
        self._members: defaultdict[int, list[int]] = defaultdict(list)
        self._ends: Sequence[int] | None = None
        self._targets: Mapping[str, int] | None = None

    def walk(self) -> Iterator[Step]:
        """Look at each mark once, in tree order, and give those that are an item, or a property of the one around them.

        Who asks a mark for more does so at once: later it is in no cache of the machine, which takes twice as long.
        """
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
        """Find the elements that add properties to an item, in tree order, and count the errors (MD-12, MD-13).

        The item itself, where it holds itself, is an error and no property; that others hold it again is neither.
        """
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
                errors += 1  # it is collected as what it stands in is, too
                continue
            if target in self._items:
                if self.written[target] is not None:
                    found.append(target)
                continue
            reached[owner] = ends[target]
            siblings = self._members.get(owner, ())
            found += siblings[bisect_left(siblings, target) : bisect_right(siblings, ends[target])]
        if item in found:
            found.remove(item)
            errors += 1
        found.sort()
        return found, errors

    def _find_all(self, reference: str) -> list[int]:
        """Find what the tokens of an itemref lead to, each as often as it is named (MD-07)."""
        known = self._find_targets()
        return [known[token] for token in split_tokens(reference) if token in known]

    def _find_ends(self) -> Sequence[int]:
        """Find of each place the last one that stands in it; itself if none does."""
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
        """Give the elements with an ID, the first of several last."""
        for place in range(len(self.owners) - 1, -1, -1):
            name = self._page.marks[place].attr("id")
            if name:
                yield name, place
