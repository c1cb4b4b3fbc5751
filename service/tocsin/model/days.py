"""What was found of a page on each day: two bits a day."""

from __future__ import annotations

from enum import IntEnum
from typing import Final, Self

from msgspec import Struct

from tocsin.model.common import Instant

# A year of squares that begins with a whole week.
MOST_DAYS: Final = 371
_BITS: Final = 2
_ONE_DAY: Final = (1 << _BITS) - 1
_ALL: Final = (1 << _BITS * MOST_DAYS) - 1
_DAY_US: Final = 86_400_000_000


class DayMark(IntEnum):
    """The most telling of what the checks of a day found; a change tells more than a failure."""

    NOTHING = 0
    PROBLEM = 1
    MINOR = 2
    MAJOR = 3


def day_of(at: Instant) -> int:
    """Count the days from the epoch to this instant, in UTC."""
    return at // _DAY_US


class DayMarks(Struct, frozen=True, gc=False):
    """The marks of a page.

    day     the latest one that is marked, as `day_of` counts it
    packed  little-endian, the lowest bits are those of `day`, the next ones those of the day before; without zeros at
            its end, so that a page that changed once takes one byte
    """

    day: int = 0
    packed: bytes = b""

    def with_mark(self, day: int, mark: DayMark) -> Self:
        """Add what was found on a day; the same marks where that day has as telling a one already."""
        # In plain numbers: arithmetic of an enumeration takes several times as long.
        bits, latest, sign = 0, day, int(mark)
        if self.packed:
            latest = max(day, self.day)
            bits = int.from_bytes(self.packed, "little") << _BITS * min(latest - self.day, MOST_DAYS)
        place = _BITS * (latest - day)
        if bits >> place & _ONE_DAY >= sign:
            return self
        bits = (bits & ~(_ONE_DAY << place) | sign << place) & _ALL
        return type(self)(latest, bits.to_bytes((bits.bit_length() + 7) // 8, "little"))

    def until(self, day: int, count: int) -> tuple[DayMark, ...]:
        """Give the marks of this many days up to this one, the oldest first."""
        bits, ahead = int.from_bytes(self.packed, "little"), day - self.day
        return tuple(
            DayMark(bits >> _BITS * (back - ahead) & _ONE_DAY) if back >= ahead else DayMark.NOTHING
            for back in range(count - 1, -1, -1)
        )
