"""What may take so many bytes in memory: what was not asked for the longest goes first. Pure."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")

_OF_AN_ENTRY = 256
"""What a small entry takes besides its own bytes."""


class Shelf(Generic[Key, Value]):
    """Values that can be had anew, as many as there is room for."""

    def __init__(self, most_bytes: int) -> None:
        self._most, self._used = most_bytes, 0
        self._values: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    @property
    def used(self) -> int:
        """How many bytes are taken; never more than `most_bytes`."""
        return self._used

    def __contains__(self, key: Key) -> bool:
        """Say whether a value is there; it goes no later for that."""
        return key in self._values

    def get(self, key: Key) -> Value | None:
        """Give a value, which is then the last to go."""
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value of so many bytes instead of what was there; one that has no room at all is not kept."""
        self.drop(key)
        size += _OF_AN_ENTRY
        if size > self._most:
            return
        while self._used + size > self._most:
            self.drop(next(iter(self._values)))
        self._values[key] = (value, size)
        self._used += size

    def drop(self, key: Key) -> None:
        """Forget a value, if it is there."""
        found = self._values.pop(key, None)
        if found is not None:
            self._used -= found[1]
