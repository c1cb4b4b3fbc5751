"""How a page's items differ from those before: added, removed, and property by property (MD-16, MD-19)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from tocsin.spec.microdata.changes.matching import Sameness, match_items
from tocsin.spec.microdata.values import Item

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.spec.microdata.changes.matching import Pair
    from tocsin.spec.microdata.values import Microdata, Value

    Kind: TypeAlias = Literal["added", "removed", "changed"]

_MOST_CHANGES: Final = 1_000
_MOST_COMPARED: Final = 200_000
"""Values, of both sides, of items that differ: what many items share is compared for each of them."""

_DEEPEST: Final = 32
"""Items within items that are compared property by property; deeper ones are told whole."""


class Step(NamedTuple):
    """An item that is a value of another one, on the way to what differs, as it is now.

    position  its number among the values of the name that leads to it, from 1; None where it is the only one
    """

    item: Item
    position: int | None


@dataclass(frozen=True, slots=True)
class Change:
    """One difference.

    item      the top-level item that was added, was removed (as it was before), or holds the difference (as it is now)
    position  its number among the top-level items of its type, from 1
    within    the names that lead from it to the item whose property changed; () for its own
    path      the item that each of these names leads to
    property  the name whose values differ, or `itemtype` or `itemid`; None for an item that was added or removed
    previous  all values of the name that it had, in order, and
    latest    has
    alike     so many values are the same at the beginning of both, and so many at the end
    """

    change: Kind
    item: Item
    position: int
    within: tuple[str, ...] = ()
    property: str | None = None
    previous: tuple[Value, ...] = ()
    latest: tuple[Value, ...] = ()
    alike: tuple[int, int] = (0, 0)
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Changes:
    """All that differs between the items of two readings of a page.

    added, removed, changed  numbers of top-level items
    changes  in the order of the latest items, and of names; then those removed
    is_cut   more may differ than is told here: a side has not all of the page's items, or too much differs
    """

    added: int
    removed: int
    changed: int
    changes: tuple[Change, ...]
    is_cut: bool = False

    def __bool__(self) -> bool:
        """Say whether anything differs."""
        return bool(self.added or self.removed or self.changed)


def compare_items(before: Microdata, latest: Microdata) -> Changes:
    """Say how the latest items of a page differ from those before.

    Which item was which, `matching` says. Neither the order of items nor that of names is a difference, nor is white
    space; the order of the values of a name is. Where the values of a name differ only within items that stand in the
    same place, and have the same type and no different ids, those items are compared property by property; else all
    values of the name are told, items among them whole. Another type is told as `itemtype`, and a global id that came
    or went as `itemid`. Where a side has not all of the page's items, what only it lacks at its end is no difference.
    """
    sameness = Sameness()
    matches = match_items(before, latest, sameness)
    comparing = _Comparing(sameness)
    found: list[tuple[int, list[Change]]] = []
    changed = 0
    for pair in matches.pairs:
        if sameness.number(pair.before) == sameness.number(pair.latest):
            continue
        differences = comparing.compare(pair)
        if differences or comparing.is_exhausted:
            changed += 1
            found.append((pair.place, differences))
    found += [(one.place, [Change("added", one.item, one.position)]) for one in matches.added]
    changes = [change for _, each in sorted(found, key=lambda one: one[0]) for change in each]
    changes += [Change("removed", one.item, one.position) for one in matches.removed]
    is_cut = before.is_cut or latest.is_cut or comparing.is_exhausted or len(changes) > _MOST_CHANGES
    return Changes(len(matches.added), len(matches.removed), changed, tuple(changes[:_MOST_CHANGES]), is_cut)


@dataclass(slots=True)
class _Comparing:
    """Compares pairs of items, as long as it takes no more than there is time for."""

    sameness: Sameness
    compared: int = 0
    told: int = 0
    reached: set[tuple[Item, Item]] = field(default_factory=set)

    @property
    def is_exhausted(self) -> bool:
        return self.compared >= _MOST_COMPARED or self.told >= _MOST_CHANGES

    def compare(self, pair: Pair) -> list[Change]:
        """Find what differs in two top-level items, and in those that they lead to; each two once."""
        found: list[Change] = []
        # What two items share differs in each of them, but only once in one.
        self.reached = {(pair.before, pair.latest)}
        waiting: deque[tuple[Item, Item, tuple[str, ...], tuple[Step, ...]]]
        waiting = deque([(pair.before, pair.latest, (), ())])
        while waiting and not self.is_exhausted:
            was, now, within, path = waiting.popleft()
            head = pair.latest, pair.position, within
            found += [Change("changed", *head, *each, path=path) for each in _identities(was, now)]
            before, latest = self.sameness.values(was), self.sameness.values(now)
            for name in sorted(before.keys() | latest.keys()):
                previous, current = before.get(name, ()), latest.get(name, ())
                begin, end = self._alike(previous, current)
                lost, new = previous[begin : len(previous) - end], current[begin : len(current) - end]
                if not (lost or new) or (pair.lacks_some_before and not lost) or (pair.lacks_some_latest and not new):
                    continue
                inner = self._inner_pairs(lost, new) if len(within) < _DEEPEST else None
                if inner is not None:
                    for place, two in enumerate(inner, begin + 1):
                        if self._reaches(*two):
                            step = Step(two[1], place if len(current) > 1 else None)
                            waiting.append((*two, (*within, name), (*path, step)))
                    continue
                found.append(Change("changed", *head, name, tuple(previous), tuple(current), (begin, end), path))
        self.told += len(found)
        return found

    def _alike(self, was: Sequence[Value], now: Sequence[Value]) -> tuple[int, int]:
        """Count the values that two lists begin with, and those of the rest that they end with."""
        self.compared += len(was) + len(now)
        if was == now:
            return len(was), 0
        is_same, most = self.sameness.is_same, min(len(was), len(now))
        begin = next((place for place in range(most) if not is_same(was[place], now[place])), most)
        most -= begin
        end = next((place for place in range(most) if not is_same(was[-1 - place], now[-1 - place])), most)
        return begin, end

    def _reaches(self, was: Item, now: Item) -> bool:
        """Say whether two items are to be compared: they differ, and nothing led to both of them before."""
        if (was, now) in self.reached or self.sameness.is_same(was, now):
            return False
        self.reached.add((was, now))
        return True

    def _inner_pairs(self, was: Sequence[Value], now: Sequence[Value]) -> list[tuple[Item, Item]] | None:
        """Pair the values of two lists; None where they differ in more than what is within their items."""
        if len(was) != len(now):
            return None
        pairs: list[tuple[Item, Item]] = []
        for one, other in zip(was, now, strict=True):
            if not (isinstance(one, Item) and isinstance(other, Item) and self._may_be_one(one, other)):
                return None
            pairs.append((one, other))
        return pairs

    def _may_be_one(self, was: Item, now: Item) -> bool:
        """Say whether two items that stand in one place may be the same one."""
        if was.id != now.id and None not in (was.id, now.id):
            return False
        return was.types == now.types or self.sameness.contents.is_same(was, now)


def _identities(was: Item, now: Item) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Give what else than properties differs in two items, by the attributes that say it."""
    if was.types != now.types:
        yield "itemtype", _one_or_none(was.type), _one_or_none(now.type)
    if was.id != now.id:
        yield "itemid", _one_or_none(was.id), _one_or_none(now.id)


def _one_or_none(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)
