"""How the items of a page differ from those before: added, removed, or changed by property (MD-16, MD-19)."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import msgspec

from tocsin.spec.microdata.changes.matching import Pair, Sameness, label_of, match_items
from tocsin.spec.microdata.values import Item, Microdata, Value

Kind: TypeAlias = Literal["added", "removed", "changed"]

_MOST_CHANGES: Final = 1_000
# Values of both sides, of items that differ; properties that items share are compared for each of them.
_MOST_COMPARED: Final = 200_000

# Items within items that are compared by property; deeper ones are reported as a whole.
_DEEPEST: Final = 32


class PathStep(NamedTuple):
    """An item on the path to a difference, as it is now.

    position  its number among the values of its name, from 1; None if it is the only one
    """

    item: Item
    position: int | None


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One difference.

    item      the top-level item that was added, was removed (as it was), or contains the difference (as it is now)
    position  its number among the top-level items of its type, from 1
    within    the names that lead from it to the item whose property changed; () for its own properties
    path      the item that each of these names leads to
    property  the name whose values differ, or `itemtype` or `itemid`; None if the item was added or removed
    previous  all values of the name before, in order
    latest    all values of the name now
    alike     how many values are equal at the beginning of both, and at the end
    """

    change: Kind
    item: Item
    position: int
    within: tuple[str, ...] = ()
    property: str | None = None
    previous: tuple[Value, ...] = ()
    latest: tuple[Value, ...] = ()
    alike: tuple[int, int] = (0, 0)
    path: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """All differences between the items of two readings of a page.

    added, removed, changed  numbers of top-level items
    changes  in the order of the latest items and of names; then removed items
    is_cut   there may be more differences: a side does not have all items of the page, or there are too many
    """

    added: int
    removed: int
    changed: int
    changes: tuple[ItemChange, ...]
    is_cut: bool = False

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.added or self.removed or self.changed)


def compare_items(before: Microdata, latest: Microdata) -> ItemChanges:
    """Compare the latest items of a page with those before.

    The order of items and of names is no difference, nor is white space; the order of a name's values is. Values that
    are items in the same place, of the same type and without different ids, are compared by property; otherwise all
    values of the name are reported. A changed type is reported as `itemtype`, a global id that appeared or disappeared
    as `itemid`. If a side was cut, what it lacks at its end is no difference.
    """
    sameness = Sameness()
    matches = match_items(before, latest, sameness)
    comparing = _Comparing(sameness)
    found: list[tuple[int, list[ItemChange]]] = []
    changed = 0
    for pair in matches.pairs:
        if sameness.number(pair.before) == sameness.number(pair.latest):
            continue
        differences = comparing.compare(pair)
        if differences or comparing.is_exhausted:
            changed += 1
            found.append((pair.place, differences))
    found += [(one.place, [ItemChange("added", one.item, one.position)]) for one in matches.added]
    changes = [change for _, each in sorted(found, key=lambda one: one[0]) for change in each]
    changes += [ItemChange("removed", one.item, one.position) for one in matches.removed]
    is_cut = before.is_cut or latest.is_cut or comparing.is_exhausted or len(changes) > _MOST_CHANGES
    return ItemChanges(len(matches.added), len(matches.removed), changed, tuple(changes[:_MOST_CHANGES]), is_cut)


@dataclass(slots=True)
class _Comparing:
    """Compares pairs of items, until too many values were compared, or too many differences found."""

    sameness: Sameness
    compared: int = 0
    told: int = 0
    reached: set[tuple[Item, Item]] = field(default_factory=set)

    @property
    def is_exhausted(self) -> bool:
        return self.compared >= _MOST_COMPARED or self.told >= _MOST_CHANGES

    def compare(self, pair: Pair) -> list[ItemChange]:
        """Find the differences of two top-level items and of the items within them; each pair once."""
        found: list[ItemChange] = []
        # A shared item is reported for each top-level item that has it, but once per top-level item.
        self.reached = {(pair.before, pair.latest)}
        waiting: deque[tuple[Item, Item, tuple[str, ...], tuple[PathStep, ...]]]
        waiting = deque([(pair.before, pair.latest, (), ())])
        while waiting and not self.is_exhausted:
            was, now, within, path = waiting.popleft()
            head = pair.latest, pair.position, within
            found += [ItemChange("changed", *head, *each, path=path) for each in _identities(was, now)]
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
                            step = PathStep(two[1], place if len(current) > 1 else None)
                            waiting.append((*two, (*within, name), (*path, step)))
                    continue
                found.append(ItemChange("changed", *head, name, tuple(previous), tuple(current), (begin, end), path))
        self.told += len(found)
        return found

    def _alike(self, was: Sequence[Value], now: Sequence[Value]) -> tuple[int, int]:
        """Count the equal values at the beginning of two lists, and at the end of the rest."""
        self.compared += len(was) + len(now)
        if was == now:
            return len(was), 0
        is_same, most = self.sameness.is_same, min(len(was), len(now))
        begin = next((place for place in range(most) if not is_same(was[place], now[place])), most)
        most -= begin
        end = next((place for place in range(most) if not is_same(was[-1 - place], now[-1 - place])), most)
        return begin, end

    def _reaches(self, was: Item, now: Item) -> bool:
        """Say whether two items are to be compared: they differ, and were not reached before."""
        if (was, now) in self.reached or self.sameness.is_same(was, now):
            return False
        self.reached.add((was, now))
        return True

    def _inner_pairs(self, was: Sequence[Value], now: Sequence[Value]) -> list[tuple[Item, Item]] | None:
        """Pair the values of two lists; None if they differ in more than the properties of items."""
        if len(was) != len(now):
            return None
        pairs: list[tuple[Item, Item]] = []
        for one, other in zip(was, now, strict=True):
            if not (isinstance(one, Item) and isinstance(other, Item) and self._may_be_one(one, other)):
                return None
            pairs.append((one, other))
        return pairs

    def _may_be_one(self, was: Item, now: Item) -> bool:
        """Say whether two items in the same place may be the same item."""
        if was.id != now.id and None not in (was.id, now.id):
            return False
        return was.types == now.types or self.sameness.contents.is_same(was, now)


def _identities(was: Item, now: Item) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield the attributes in which two items differ, with their values."""
    if was.types != now.types:
        yield "itemtype", _one_or_none(was.type), _one_or_none(now.type)
    if was.id != now.id:
        yield "itemid", _one_or_none(was.id), _one_or_none(now.id)


def _one_or_none(text: str | None) -> tuple[str, ...]:
    return () if text is None else (text,)


# How an event shows the changes of items, within limits; `words` puts the result in sentences.


MOST_CHANGES: Final = 100
MOST_BYTES: Final = 32 * 2**10
# Letters of one text.
LONGEST: Final = 1_000

# Of the previous and of the latest values each, so that one change does not take the room of all others.
_MOST_LETTERS: Final = 2_000

# Likewise, values within items included.
_MOST_VALUES: Final = 100

# Up to this number, all values of a property are shown; of more, the equal ones at both ends are left out.
_WHOLE: Final = 20

# Items within items that are shown.
_DEEPEST_TOLD: Final = 4

# Letters that are shown before the first difference of two long texts.
_CONTEXT: Final = 100

# Bytes around the changes, and the numbers.
_OVERHEAD: Final = 200

_Object: TypeAlias = dict[str, Any]

_encode = msgspec.json.Encoder().encode


def show_changes(changes: ItemChanges, *, since: str) -> _Object | None:
    """Return `items` of an event; None if nothing differs, and nothing was cut.

    since  when the previous items were read
    At most 100 changes, texts of at most 1,000 letters, and 32 KiB as JSON. Of a property with more than 20 values, or
    with too little room, values that are equal at the beginning and at the end of both lists are left out. `cut` says
    that something is not shown.
    """
    if not (changes or changes.is_cut):
        return None
    shown: list[_Object] = []
    room, is_cut = MOST_BYTES - _OVERHEAD, changes.is_cut or len(changes.changes) > MOST_CHANGES
    for change in changes.changes[:MOST_CHANGES]:
        told, has_more = _tell(change)
        is_cut = is_cut or has_more
        room -= (size := len(_encode(told)) + 1)
        if room < 0:
            # A later, smaller change may still fit.
            room, is_cut = room + size, True
            continue
        shown.append(told)
    return {
        "since": since,
        "added": changes.added,
        "removed": changes.removed,
        "changed": changes.changed,
        "cut": is_cut,
        "changes": shown,
    }


def _tell(change: ItemChange) -> tuple[_Object, bool]:
    """Show one change; returns also whether some of it is not shown."""
    head, way = _Telling(), _Telling()
    item = change.item
    told: _Object = {
        "change": change.change,
        "item": head.name(item, change.position),
        "within": head.list(change.within),
        "path": [way.name(step.item, step.position) for step in change.path],
        "property": head.text_or_none(change.property),
        "previous": None,
        "latest": None,
    }
    if change.change == "changed":
        told["previous"], told["latest"], is_cut = _tell_values(change)
        return told, is_cut or head.is_cut or way.is_cut
    whole = _Telling()
    told["previous" if change.change == "removed" else "latest"] = whole.item(item, _DEEPEST_TOLD)
    return told, head.is_cut or whole.is_cut


def _tell_values(change: ItemChange) -> tuple[Sequence[Any], Sequence[Any], bool]:
    """Show previous and latest values: all of them, or those between the equal ones at both ends."""
    if max(len(change.previous), len(change.latest)) <= _WHOLE:
        was, now = _Telling(), _Telling()
        shown = was.list(change.previous), now.list(change.latest)
        if not (was.is_cut or now.is_cut):
            return *shown, False
    begin, end = change.alike
    was, now = _Telling(), _Telling()
    previous, latest = _from_where_they_differ(
        change.previous[begin : len(change.previous) - end], change.latest[begin : len(change.latest) - end]
    )
    return was.list(previous), now.list(latest), bool(begin or end) or was.is_cut or now.is_cut


def _from_where_they_differ(
    previous: Sequence[Value], latest: Sequence[Value]
) -> tuple[Sequence[Value], Sequence[Value]]:
    """Let long texts begin shortly before their difference, since their beginnings may be equal."""
    pairs = [_from_where_it_differs(*two) for two in zip(previous, latest, strict=False)]
    most = len(pairs)
    return [was for was, _ in pairs] + [*previous[most:]], [now for _, now in pairs] + [*latest[most:]]


def _from_where_it_differs(was: Value, now: Value) -> tuple[Value, Value]:
    if isinstance(was, Item) or isinstance(now, Item) or max(len(was), len(now)) <= LONGEST:
        return was, now
    start = bisect_left(range(min(len(was), len(now))), x=True, key=lambda end: was[: end + 1] != now[: end + 1])
    start -= _CONTEXT
    return (f"…{was[start:]}", f"…{now[start:]}") if start > 0 else (was, now)


@dataclass(slots=True)
class _Telling:
    """Shows a part of a change, within its share of letters and values."""

    letters: int = _MOST_LETTERS
    values: int = _MOST_VALUES
    is_cut: bool = False

    def list(self, values: Sequence[Value], depth: int = _DEEPEST_TOLD) -> Sequence[Any]:
        """Show the values of a name, and of items within them down to a depth."""
        shown = []
        for value in values:
            if not self._take_one() or (isinstance(value, Item) and not depth):
                self.is_cut = True
                break
            shown.append(self.item(value, depth - 1) if isinstance(value, Item) else self.text(value))
        return shown

    def name(self, item: Item, position: int | None) -> _Object:
        """Identify an item."""
        return {
            "type": self.text_or_none(item.type),
            "id": self.text_or_none(item.id),
            "position": position,
            "label": self.text_or_none(label_of(item)),
        }

    def item(self, item: Item, depth: int) -> _Object:
        """Show an item with its properties, as JSON does (JS-02)."""
        values: dict[str, Any] = {}
        for each in item.properties:
            for name in each.names:
                values.setdefault(name, []).append(each.value)
        properties: _Object = {}
        for name, found in values.items():
            if self.values <= 0 or self.letters <= 0:
                self.is_cut = True
                break
            properties[self.text(name)] = self.list(found, depth)
        return {"type": self.text_or_none(item.type), "id": self.text_or_none(item.id), "properties": properties}

    def _take_one(self) -> bool:
        self.values -= 1
        return self.values >= 0 and self.letters > 0

    def text_or_none(self, text: str | None) -> str | None:
        """Show a text, or None."""
        return self.text(text) if text is not None else None

    def text(self, text: str) -> str:
        """Show a text, or its beginning."""
        most = min(LONGEST, max(self.letters, 1))
        self.letters -= min(len(text), most)
        if len(text) > most:
            self.is_cut = True
            return f"{text[: most - 1]}…"
        return text
