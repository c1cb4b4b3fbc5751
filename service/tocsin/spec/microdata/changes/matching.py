"""Which items of two readings of a page are the same item: equal ones first, then those that are alike."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

from tocsin.spec.html.microsyntax import split_tokens
from tocsin.spec.microdata.reading.packing import SHORTENED
from tocsin.spec.microdata.values import Item, Microdata, Value

Said: TypeAlias = Mapping[str, Hashable]
Values: TypeAlias = Mapping[str, Sequence[Value]]
_Key: TypeAlias = Callable[["Placed"], Hashable | None]

# Names of properties by which people know an item, in this order.
LABELS: Final = ("name", "summary", "fn", "title", "headline")
# A label is for a line of an alert.
_LONGEST_LABEL: Final = 200
# Two items are alike from this share of equal properties on, of the item that has more of them.
_ENOUGH: Final = 0.5


class Sameness:
    """Numbers the items of one or several pages, so that equal items have equal numbers (MD-16).

    with_identity  types and global ids count; else only properties, and those of items within

    Runs of white space are equal. Each item is looked at once. An item that leads back to one around it counts that one
    by its texts alone, so equal items may have two numbers, but only in such circles.
    """

    def __init__(self, *, with_identity: bool = True) -> None:
        self._with_identity = with_identity
        self._contents: Sameness | None = None
        self._numbers: dict[Item, int] = {}
        self._alone: dict[Item, int] = {}
        self._folded: dict[str, str] = {}
        self._known: dict[Hashable, int] = {}
        self._values: dict[Item, Values] = {}
        self._said: dict[Item, Said] = {}

    def values(self, item: Item) -> Values:
        """Return the values of an item by name, in tree order; the names in alphabetical order."""
        known = self._values.get(item)
        if known is None:
            found: dict[str, list[Value]] = {}
            for each in item.properties:
                for name in each.names:
                    found.setdefault(name, []).append(each.value)
            known = self._values[item] = {name: found[name] for name in sorted(found)}
        return known

    @property
    def contents(self) -> Sameness:
        """Another one of these, without types and global ids."""
        if self._contents is None:
            self._contents = Sameness(with_identity=False)
        return self._contents

    def said(self, item: Item) -> Said:
        """Return by name a key of an item's values; equal values have equal keys."""
        self.number(item)
        return self._said[item]

    def number(self, item: Item) -> int:
        """Return the number of an item."""
        if item not in self._numbers:
            self._number_all(item)
        return self._numbers[item]

    def is_same(self, one: Value, other: Value) -> bool:
        """Say whether two values are equal texts, or equal items."""
        if isinstance(one, Item):
            return isinstance(other, Item) and self.number(one) == self.number(other)
        return one == other or (not isinstance(other, Item) and self._fold(one) == self._fold(other))

    def _fold(self, text: str) -> str:
        # Cached: a long text that many items share is compared for each of them.
        known = self._folded.get(text)
        if known is None:
            known = self._folded[text] = " ".join(text.split())
        return known

    def _number_all(self, start: Item) -> None:
        """Number an item and all items within it, the innermost first."""
        # No recursion: a page may nest its items to any depth.
        open_ = {start: self._inner(start)}
        while open_:
            item = next(reversed(open_))
            for inner in open_[item]:
                if inner not in open_ and inner not in self._numbers:
                    open_[inner] = self._inner(inner)
                    break
            else:
                del open_[item]
                self._numbers[item] = self._number(item)

    def _number(self, item: Item) -> int:
        said = self._said[item] = {
            name: tuple([self._key(value) if isinstance(value, Item) else " ".join(value.split()) for value in values])
            for name, values in self.values(item).items()
        }
        return self._intern((*self._identity(item), *said.items()))

    def _key(self, item: Item) -> Hashable:
        number = self._numbers.get(item)
        return (self._number_alone(item), "above") if number is None else number

    def _number_alone(self, item: Item) -> int:
        known = self._alone.get(item)
        if known is None:
            texts = [
                (name, *[" ".join(value.split()) for value in values if not isinstance(value, Item)])
                for name, values in self.values(item).items()
            ]
            known = self._alone[item] = self._intern((*self._identity(item), *texts))
        return known

    def _identity(self, item: Item) -> tuple[Hashable, ...]:
        return (item.types, item.id) if self._with_identity else ()

    def _intern(self, key: Hashable) -> int:
        return self._known.setdefault(key, len(self._known))

    def _inner(self, item: Item) -> Iterator[Item]:
        return (value for values in self.values(item).values() for value in values if isinstance(value, Item))


class Side(NamedTuple):
    """All items of a reading, and those that have no pair yet."""

    items: Sequence[Placed]
    left: Collection[Placed]


def find_alike(before: Side, latest: Side, sameness: Sameness) -> list[tuple[Placed, Placed]]:
    """Pair items of one type without a global id that are alike: the most alike first, and among these the nearest.

    Half of their properties are equal, and at least one of those no other item of their page has.
    """
    was, now = _said(before, sameness), _said(latest, sameness)
    left, left_now = set(before.left), set(latest.left)
    owners = _owners(was)
    shared = [(owners.get(key), other) for key, other in _owners(now).items()]
    pairs = {(one, other) for one, other in shared if one in left and other in left_now}
    alike = [(_likeness(was[one], now[other]), one, other) for one, other in pairs]
    found: list[tuple[Placed, Placed]] = []
    for likeness, one, other in sorted(alike, key=_rank):
        if likeness >= _ENOUGH and one in left and other in left_now:
            left.remove(one)
            left_now.remove(other)
            found.append((one, other))
    return found


def _rank(alike: tuple[float, Placed, Placed]) -> tuple[float, int, int]:
    likeness, one, other = alike
    return -likeness, abs(one.place - other.place), other.place


def _said(side: Side, sameness: Sameness) -> dict[Placed, Said]:
    return {one: sameness.said(one.item) for one in side.items if one.item.id is None}


def _owners(said: Mapping[Placed, Said]) -> dict[Hashable, Placed | None]:
    """Return the item that has a property; None if several items of a type have it."""
    owners: dict[Hashable, Placed | None] = {}
    for one, properties in said.items():
        types = " ".join(one.item.types)  # Once per item, since types may be long.
        for each in properties.items():
            key = types, *each
            owners[key] = None if key in owners else one
    return owners


def _likeness(was: Said, now: Said) -> float:
    fewer, more = sorted((was, now), key=len)
    return sum(more.get(name) == said for name, said in fewer.items()) / len(more)


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
    lacks_some_before, lacks_some_latest  that side may have only the first of its properties
    """

    before: Item
    latest: Item
    place: int
    position: int
    lacks_some_before: bool
    lacks_some_latest: bool


class Matches(NamedTuple):
    """Pairs of the same item, and the items without a pair on either side, in order."""

    pairs: list[Pair]
    added: list[Placed]
    removed: list[Placed]


def label_of(item: Item) -> str | None:
    """Return the text by which people know an item, in one line of at most 200 letters; None without one."""
    return _label_in({name: [each.value for each in item.named(name)] for name in LABELS})


def _label_in(values: Values) -> str | None:
    for name in LABELS:
        for value in values.get(name, ()):
            if isinstance(value, str) and (words := split_tokens(value)):
                label = " ".join(words)
                return label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…"
    return None


def match_items(before: Microdata, latest: Microdata, sameness: Sameness) -> Matches:
    """Match the top-level items of two readings.

    Takes time in proportion to the number of values.
    """
    matching = _ItemMatching(before, latest, sameness)
    contents = sameness.contents
    # Equal items first, so that one that is inserted above the others is added.
    matching.match(lambda one: sameness.number(one.item))
    # Then by global id, with the label first: several items may share an id.
    matching.match(_only(with_id=True, key=matching.label_key))
    matching.match(_only(with_id=True, key=_key))
    matching.match(_only(with_id=True, key=lambda one: one.item.id))
    # A global id that begins with the page's address moves with the page.
    matching.match(_from(before.address), _from(latest.address))
    matching.match(_only(with_id=False, key=matching.name_key))
    # An item that got or lost its global id keeps its label, or all of its content; one of another type its content.
    for key in (lambda one: contents.number(one.item) if matching.label(one) else None, matching.name_key):
        matching.match(_only(with_id=False, key=key), key)
        matching.match(key, _only(with_id=False, key=key))
    matching.match_alike()
    # The rest by type and position between matched neighbours: what is left over at the end of a list is not what was
    # removed from its top.
    matching.forget_the_end()
    matching.match_neighbours()
    matching.forget_the_end()
    # An item that is within another one on the other side only has moved.
    matching.match_moved(lambda one: sameness.number(one.item), _only(with_id=True, key=_key))
    return matching.matches()


def _key(one: Placed) -> Hashable:
    return one.item.types, one.item.id


def _only(key: _Key, *, with_id: bool) -> _Key:
    """Limit a key to items with, or to items without a global id."""
    return lambda one: key(one) if (one.item.id is not None) is with_id else None


def _from(address: str | None) -> _Key:
    """Return a key of the type and the global id, relative to the page's address."""

    def key(one: Placed) -> Hashable | None:
        id_ = one.item.id
        if not (id_ and address and id_.startswith(address)):
            return None
        rest = id_[len(address) :]
        # /ab does not belong to /a.
        return (one.item.types, rest) if address.endswith("/") or rest[:1] in {"", "/", "?", "#"} else None

    return key


def _placed(data: Microdata) -> list[Placed]:
    counts: dict[Hashable, int] = {}
    placed: list[Placed] = []
    for place, item in enumerate(data.items):
        position = counts[item.types] = counts.get(item.types, 0) + 1
        placed.append(Placed(item, place, position))
    return placed


def _lacks_some(data: Microdata) -> bool:
    """Say whether the page has more items than these; then these are the first, and the last may be partial."""
    return data.is_cut and any(said != SHORTENED for said in data.problems)


def _next_to(placed: Iterable[Placed], known: Mapping[int, int]) -> dict[int, Hashable]:
    """Return by place the type of each item and the last matched item of that type before it.

    known  the numbers of matched items, by place
    """
    last: dict[Hashable, int] = {}
    found: dict[int, Hashable] = {}
    for one in placed:
        found[one.place] = one.item.types, last.get(one.item.types)
        if one.place in known:
            last[one.item.types] = known[one.place]
    return found


def _within(side: Sequence[Placed], sameness: Sameness) -> Iterator[Placed]:
    """Yield the items within these, each once, with the place and position of the outermost item."""
    seen = {outermost.item for outermost in side}
    for outermost in side:
        ahead = [outermost.item]
        while ahead:
            for value in chain.from_iterable(sameness.values(ahead.pop()).values()):
                if isinstance(value, Item) and value not in seen:
                    seen.add(value)
                    ahead.append(value)
                    yield outermost._replace(item=value)


def _moved(
    left: Iterable[Placed], was: Iterable[Placed], now: Iterable[Placed], key: _Key
) -> list[tuple[Placed, Placed]]:
    """Pair the remaining items of one side with equal ones that are within another item on the other side only.

    was, now  the items within others on their own side, and on the other side
    """
    stays = Counter(map(key, was))
    moved: dict[Hashable, deque[Placed]] = {}
    for one in now:
        if stays[key(one)] > 0:
            stays[key(one)] -= 1
        else:
            moved.setdefault(key(one), deque()).append(one)
    moved.pop(None, None)
    return [(one, same.popleft()) for one in left if (same := moved.get(key(one)))]


def _without(placed: Iterable[Placed], pairs: Iterable[tuple[Placed, Placed]], side: int) -> list[Placed]:
    """Leave out the items on one side of these pairs."""
    paired = {pair[side].item for pair in pairs}
    return [one for one in placed if one.item not in paired]


class _ItemMatching:
    """The items of two readings without a pair, and the pairs so far."""

    def __init__(self, before: Microdata, latest: Microdata, sameness: Sameness) -> None:
        self._sameness = sameness
        self._all = self._before, self._latest = _placed(before), _placed(latest)
        self._lacks = _lacks_some(before), _lacks_some(latest)
        self._pairs: list[tuple[Placed, Placed]] = []
        self._repeated: Collection[Hashable] | None = None

    def match(self, key: _Key, key_of_latest: _Key | None = None) -> None:
        """Match items of the same key, in order; None is no key."""
        if not (self._before and self._latest):
            return
        waiting: dict[Hashable, deque[Placed]] = {}
        for one in self._before:
            waiting.setdefault(key(one), deque()).append(one)
        waiting.pop(None, None)
        key_of_latest = key_of_latest or key
        self._take(
            [(same.popleft(), other) for other in self._latest if (same := waiting.get(key_of_latest(other)))],
        )

    def match_alike(self) -> None:
        """Match items that are alike."""
        if self._before and self._latest:
            sides = Side(self._all[0], self._before), Side(self._all[1], self._latest)
            self._take(find_alike(*sides, self._sameness))

    def match_neighbours(self) -> None:
        """Match items without a global id that follow, or precede, the same item of their type."""
        was = {one.place: other.place for one, other in self._pairs}
        now = {other.place: other.place for _, other in self._pairs}
        for step in (1, -1):
            self._match_in_order(_next_to(self._all[0][::step], was), _next_to(self._all[1][::step], now))

    def _match_in_order(self, was: Mapping[int, Hashable], now: Mapping[int, Hashable]) -> None:
        """Match items between the same neighbours, those of the same label first."""

        def of(places: Mapping[int, Hashable], label: Callable[[Placed], str | None]) -> _Key:
            return _only(lambda one: (places[one.place], label(one)), with_id=False)

        for label in (self.label, lambda _one: None):
            self.match(of(was, label), of(now, label))

    def match_moved(self, *keys: _Key) -> None:
        """Match items of the same key of which one is within another item, by one key after the other."""
        if not (self._before or self._latest):
            return
        was, now = (list(_within(side, self._sameness)) for side in self._all)
        for key in keys:
            into, out_of = _moved(self._before, was, now, key), _moved(self._latest, now, was, key)
            self._pairs += [(one, other._replace(position=one.position)) for one, other in into]
            self._pairs += [(other, one) for one, other in out_of]
            self._before, was = _without(self._before, into, 0), _without(was, out_of, 1)
            self._latest, now = _without(self._latest, out_of, 0), _without(now, into, 1)

    def label(self, one: Placed) -> str | None:
        """Return the label of an item."""
        return _label_in(self._sameness.values(one.item))

    def label_key(self, one: Placed) -> Hashable | None:
        """Return type, global id and label as a key."""
        label = self.label(one)
        return (one.item.types, one.item.id, label) if label is not None else None

    def name_key(self, one: Placed) -> Hashable | None:
        """Return type and label as a key, if no other item has them."""
        label = self.label(one)
        key = one.item.types, label
        return key if label is not None and key not in self._names_of_many() else None

    def _names_of_many(self) -> Collection[Hashable]:
        if self._repeated is None:
            counts = [Counter((one.item.types, self.label(one)) for one in side) for side in self._all]
            self._repeated = {name for count in counts for name, times in count.items() if times > 1}
        return self._repeated

    def _take(self, pairs: Sequence[tuple[Placed, Placed]]) -> None:
        self._pairs += pairs
        was, now = {one.place for one, _ in pairs}, {other.place for _, other in pairs}
        self._before = [one for one in self._before if one.place not in was]
        self._latest = [other for other in self._latest if other.place not in now]

    def forget_the_end(self) -> None:
        """Leave out items after all matches if the other side was cut: they may still be there."""
        if not self._pairs:
            return
        if self._lacks[1]:
            last = max(one.place for one, _ in self._pairs)
            self._before = [one for one in self._before if one.place < last]
        if self._lacks[0]:
            last = max(other.place for _, other in self._pairs)
            self._latest = [other for other in self._latest if other.place < last]

    def matches(self) -> Matches:
        """Return the pairs, and the items without one."""
        ends = [len(side) - 1 for side in self._all]
        pairs = [
            Pair(
                one.item,
                other.item,
                other.place,
                other.position,
                self._lacks[0] and one.place == ends[0],
                self._lacks[1] and other.place == ends[1],
            )
            for one, other in self._pairs
        ]
        return Matches(pairs, self._latest, self._before)
