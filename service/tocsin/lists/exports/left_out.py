"""What an export says that has no counterpart here: counted, and named once at its end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tocsin.lists.entries import LEFT_OUT, Named

if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST: Final = 40
_SHOWN: Final = 60


class LeftOut:
    """Counts keys that are left out.

    what  one of the things that the export lists, such as "watch"
    """

    def __init__(self, what: str, plural: str) -> None:
        self._what, self._plural = what, plural
        self._counts: dict[str, tuple[int, int]] = {}

    def note(self, key: str, number: int) -> None:
        """Count this key of the thing with this number; of very many different ones the rest together."""
        key = key if len(key) <= _SHOWN else key[:_SHOWN] + "…"
        if key not in self._counts and len(self._counts) >= _MOST:
            key = "other keys"
        first, times = self._counts.get(key, (number, 0))
        self._counts[key] = (first, times + 1)

    def told(self) -> Iterator[Named]:
        """Yield each key with how many things had it, and the first of them."""
        for key, (first, times) in self._counts.items():
            of = f"1 {self._what}" if times == 1 else f"{times:,} {self._plural}"
            yield Named(first, LEFT_OUT, f"{key} of {of}")
