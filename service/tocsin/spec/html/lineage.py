"""What each mark of a page stands in: elements that carry microdata are marks, nodes of a parser or of a tree."""

from __future__ import annotations

from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import turbohtml

SHALLOW: Final = 64
"""Elements within each other, the innermost one included; almost all real pages have fewer."""

FEW: Final = 500
"""Marks, for which it takes longer to see whether their page is shallow."""

_TOO_DEEP: Final = ">".join(["*"] * (SHALLOW + 1))
_ITEM: Final = "[itemscope]"


class Lineage(Protocol):
    """What each mark of a page stands in; marks are named by their places in tree order."""

    @property
    def is_shallow(self) -> bool:
        """Say whether it is known that no more than SHALLOW elements stand within each other."""

    def above(self) -> Sequence[int]:
        """Give for each the place of the nearest other one that it stands in; -1 for none."""

    def owners(self) -> Iterator[tuple[bool, int]]:
        """Say for each whether it is an item, and the place of the nearest item that it stands in; -1 for none."""


class AnyLineage:
    """Of any page: each element above the marks is looked at once."""

    is_shallow = False

    def __init__(self, nodes: Sequence[Any], items: Collection[int]) -> None:
        """Begin.

        nodes  the marks, in tree order
        items  the places of those that are items
        """
        self._items = items
        self._above = _find_above(nodes)

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        return self._above

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        # Of each place the nearest item at or above it; behind the last one that of no place, which -1 means.
        inner = [-1] * (len(self._above) + 1)
        for place, outer in enumerate(self._above):
            owner = inner[outer]
            is_item = place in self._items
            inner[place] = place if is_item else owner
            yield is_item, owner


class ShallowLineage:
    """Of a shallow page where all that has an itemscope is an item: the parser looks at all that a mark stands in."""

    is_shallow = True

    def __init__(self, nodes: Sequence[turbohtml.Element]) -> None:
        """Begin with the marks, in tree order."""
        self._nodes = nodes
        self._above: Sequence[int] | None = None

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        if self._above is None:
            self._above = _find_above(self._nodes)
        return self._above

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        places: dict[turbohtml.Node | None, int] = {}
        for place, node in enumerate(self._nodes):
            nearest = node.closest(_ITEM)
            is_item = nearest is node  # the parser gives an element as the same object, as long as one holds it
            if is_item:
                places[node] = place
                nearest = None if node.parent is None else node.parent.closest(_ITEM)
            yield is_item, -1 if nearest is None else places[nearest]


class NoLineage:
    """Of a page that is not read."""

    is_shallow = True

    def above(self) -> Sequence[int]:
        """See `Lineage`."""
        return ()

    def owners(self) -> Iterator[tuple[bool, int]]:
        """See `Lineage`."""
        return repeat((False, -1), 0)


def find_lineage(document: turbohtml.Document, nodes: Sequence[turbohtml.Element], foreign: Collection[int]) -> Lineage:
    """Find what the marks of a parsed page stand in.

    foreign  the places of those that are no elements of HTML
    """
    if len(nodes) > FEW and not foreign and document.select_one(_TOO_DEEP) is None:
        return ShallowLineage(nodes)
    places = {node: place for place, node in enumerate(nodes)}
    items = {places[node] for node in document.select(_ITEM) if node in places}
    return AnyLineage(nodes, items.difference(foreign))


def _find_above(nodes: Sequence[Any]) -> list[int]:
    """Find the place of the nearest other node that each stands in, or -1."""
    places: dict[Any, int] = {None: -1}
    found: list[int] = []
    for place, node in enumerate(nodes):
        parent = node.parent
        above = places.get(parent)
        if above is None:
            path = []
            while parent not in places:
                path.append(parent)
                parent = parent.parent
            above = places[parent]
            for each in path:
                places[each] = above
        found.append(above)
        places[node] = place
    return found
