"""Which item of a page was which before: by type and global id, then by what it is, then by its place."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.microdata.packing import SHORTENED

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from tocsin.spec.microdata.sameness import Sameness, Values
    from tocsin.spec.microdata.values import Item, Microdata

LABELS: Final = ("name", "summary", "fn", "title", "headline")
"""Names of properties by which people know an item, in this order."""

_LONGEST_LABEL: Final = 200


class Placed(NamedTuple):
    """A top-level item.

    place     among all of its page, from 0
    position  among those of its type, from 1
    """

    item: Item
    place: int
    position: int


class Pair(NamedTuple):
    """A top-level item as it was, and as it is.

    place, position  as it is, see `Placed`
    lacks_some_before, lacks_some_latest  that side may have only its first properties
    """

    before: Item
    latest: Item
    place: int
    position: int
    lacks_some_before: bool
    lacks_some_latest: bool


class Matches(NamedTuple):
    """Which items were which, and those that are left on either side, in order."""

    pairs: list[Pair]
    added: list[Placed]
    removed: list[Placed]


def label_of(item: Item) -> str | None:
    """Give the text by which people know an item, in one line, at most 200 letters; None where it has none."""
    return _label_in({name: [each.value for each in item.named(name)] for name in LABELS})


def _label_in(values: Values) -> str | None:
    for name in LABELS:
        for value in values.get(name, ()):
            if isinstance(value, str) and (words := split_tokens(value)):
                label = " ".join(words)
                return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
    return None


def match_items(before: Microdata, latest: Microdata, sameness: Sameness) -> Matches:
    """Match the top-level items of two readings: those of one type and global id, or of one type without any.

    Of several such ones first those that are equal, so that an item that is put in above the others is one that was
    added; then those of the same label; then the others in order. Takes as long as there are items, and no longer.
    """
    matching = _Matching(before, latest)
    matching.match(lambda one: sameness.number(one.item))
    matching.match(lambda one: _labelled(one.item, sameness))
    matching.forget_the_end()
    matching.match(lambda one: _key(one.item))
    matching.forget_the_end()
    return matching.matches()


def _key(item: Item) -> Hashable:
    return item.types, item.id


def _labelled(item: Item, sameness: Sameness) -> Hashable | None:
    label = _label_in(sameness.values(item))
    return (_key(item), label) if label is not None else None


def _placed(data: Microdata) -> list[Placed]:
    counts: dict[Hashable, int] = {}
    placed: list[Placed] = []
    for place, item in enumerate(data.items):
        position = counts[item.types] = counts.get(item.types, 0) + 1
        placed.append(Placed(item, place, position))
    return placed


def _lacks_some(data: Microdata) -> bool:
    """Say whether the page has more items than these: then they are the first, and the last one may not be whole."""
    return data.is_cut and any(said != SHORTENED for said in data.problems)


class _Matching:
    """The items of two readings that nobody has matched yet, and the pairs so far."""

    def __init__(self, before: Microdata, latest: Microdata) -> None:
        self._before, self._latest = _placed(before), _placed(latest)
        self._lacks = _lacks_some(before), _lacks_some(latest)
        self._ends = len(self._before) - 1, len(self._latest) - 1
        self._pairs: list[tuple[Placed, Placed]] = []

    def match(self, key: Callable[[Placed], Hashable | None]) -> None:
        """Match those of the same key, in order; those without one are left."""
        waiting: dict[Hashable, deque[Placed]] = {}
        for one in self._before:
            waiting.setdefault(key(one), deque()).append(one)
        waiting.pop(None, None)
        left: list[Placed] = []
        for other in self._latest:
            if same := waiting.get(key(other)):
                self._pairs.append((same.popleft(), other))
            else:
                left.append(other)
        matched = {one.place for one, _ in self._pairs}
        self._before = [one for one in self._before if one.place not in matched]
        self._latest = left

    def forget_the_end(self) -> None:
        """Leave out what is behind all matches where the other side has not all of its items: it may be there still."""
        if not self._pairs:
            return
        if self._lacks[1]:
            last = max(one.place for one, _ in self._pairs)
            self._before = [one for one in self._before if one.place < last]
        if self._lacks[0]:
            last = max(other.place for _, other in self._pairs)
            self._latest = [other for other in self._latest if other.place < last]

    def matches(self) -> Matches:
        """Give what was found."""
        pairs = [
            Pair(
                one.item,
                other.item,
                other.place,
                other.position,
                self._lacks[0] and one.place == self._ends[0],
                self._lacks[1] and other.place == self._ends[1],
            )
            for one, other in self._pairs
        ]
        return Matches(pairs, self._latest, self._before)
