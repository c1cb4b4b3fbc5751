"""Which items are the same: by type, global id and the values of each name, whatever the order of names (MD-16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tocsin.spec.microdata.values import Item

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping, Sequence

    from tocsin.spec.microdata.values import Value

    Said: TypeAlias = Mapping[str, Hashable]
    Values: TypeAlias = Mapping[str, Sequence[Value]]


class Sameness:
    """Numbers items, of several pages too, so that the same ones have the same number.

    with_identity  their types and global ids count; else only what they say, and what those within them say

    Texts are the same if people see the same: how much white space is between words is no difference. Each item is
    looked at once, however many lead to it. Where one leads back to one that it is a part of, that one counts there by
    its texts alone; so two items that are the same can have two numbers, but only in such circles.
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
        """Give the values of each name of an item, in tree order; the names in that of the alphabet."""
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
        """The same, of what items say alone."""
        if self._contents is None:
            self._contents = Sameness(with_identity=False)
        return self._contents

    def said(self, item: Item) -> Said:
        """Give for each name of an item what stands for its values: the same for the same ones."""
        self.number(item)
        return self._said[item]

    def number(self, item: Item) -> int:
        """Give an item its number."""
        if item not in self._numbers:
            self._number_all(item)
        return self._numbers[item]

    def is_same(self, one: Value, other: Value) -> bool:
        """Say whether two values are: two equal texts, or two items that are the same."""
        if isinstance(one, Item):
            return isinstance(other, Item) and self.number(one) == self.number(other)
        return one == other or (not isinstance(other, Item) and self._fold(one) == self._fold(other))

    def _fold(self, text: str) -> str:
        # Kept: a long text that many items share is compared for each of them.
        known = self._folded.get(text)
        if known is None:
            known = self._folded[text] = " ".join(text.split())
        return known

    def _number_all(self, start: Item) -> None:
        """Number an item and all that it leads to, the innermost first."""
        # No recursion: a page may nest its items as deep as it likes.
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
