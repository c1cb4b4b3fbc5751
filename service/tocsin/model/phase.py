"""Where in its interval a page is checked: the jitter that stays with it."""

from __future__ import annotations

from typing import Final

NEIGHBOURS_BITS: Final = 4  # so many rows stand in a leaf of the store
_STEP_BITS: Final = 16
_MIX: Final = 2654435761  # Knuth's multiplicative hash: its multiples fill the interval evenly, however many there are
_ONE: Final = 1 << 32


def phase_of(page_id: int) -> float:
    """Give a page's place within any span of time, from 0 up to but not including 1; the same for ever.

    Sixteen neighbours come one after the other, each 1/65,536 of the span later: what is read and written for one of
    them is then at hand for the others. The next sixteen come far from them.
    """
    # One more: the first sixteen of a list are not at the very beginning.
    group, place = (page_id >> NEIGHBOURS_BITS) + 1, page_id & (1 << NEIGHBOURS_BITS) - 1
    return (group * _MIX + (place << 32 - _STEP_BITS) & _ONE - 1) / _ONE
