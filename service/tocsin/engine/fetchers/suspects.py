"""Which page it was that killed a fetcher process: strikes, and suspects that are tried a few at a time. Pure."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.ports import Clock

STRIKES = 2
"""So many fetchers a page may kill before it is set aside."""
SET_ASIDE_S = 3600.0
"""For so long it is not even tried again; then one more fetcher is risked."""
_MOST_SUSPECTS_AT_ONCE = 64
_MOST_STRUCK = 10_000


class CrashSuspects:
    """Finds the page that kills.

    A fetcher that dies says which page it was at, and that one has a strike. Where it says none, every page that it had
    in hand is a suspect. Suspects are given to a fetcher few at a time: first one, then one more for each that came
    back; once a fetcher has died of them again, one at a time. A page that came back has no strikes any more: somebody
    else may end a fetcher, too, and whichever page it was at then is none the worse for it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._strikes: OrderedDict[int, int] = OrderedDict()
        self._aside_until_s: OrderedDict[int, float] = OrderedDict()
        self._suspects: set[int] = set()
        self._at_once, self._is_wary = 1, False

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._suspects)

    @property
    def want_to_know(self) -> bool:
        """Whether anything is changed by a page's coming back."""
        return bool(self._strikes or self._suspects)

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._suspects

    def has_killed(self, named: int | None, in_hand: Collection[int]) -> int | None:
        """Say that a fetcher died; returns the page that is set aside for it, if one is.

        named    the page that it was working on, as far as it said so
        in_hand  all pages that it had been given
        """
        if named is not None:
            return self._strike(named)
        suspected = [page_id for page_id in in_hand if page_id in self._suspects]
        self._is_wary = self._is_wary or bool(self._suspects)
        self._at_once = 1
        # Whoever was there beside the only suspect could have done it as well: each is tried apart from the other.
        self._suspects.update(in_hand)
        if len(suspected) == 1:
            return self._strike(suspected[0])
        return self._strike(next(iter(in_hand))) if len(in_hand) == 1 else None

    def cleared(self, page_id: int) -> None:
        """Say that a page came back."""
        self._strikes.pop(page_id, None)
        if page_id not in self._suspects:
            return
        self._suspects.discard(page_id)
        if not self._suspects:
            self._at_once, self._is_wary = 1, False
        elif not self._is_wary:
            self._at_once = min(self._at_once + 1, _MOST_SUSPECTS_AT_ONCE)

    def room(self, in_hand: int) -> int:
        """Tell how many more suspects a fetcher may be given that has so many of them."""
        return max(self._at_once - in_hand, 0)

    def is_set_aside(self, page_id: int) -> bool:
        """Say whether a page has killed so often that it is not tried."""
        until_s = self._aside_until_s.get(page_id)
        if until_s is None:
            return False
        if until_s > self._clock.monotonic():
            return True
        del self._aside_until_s[page_id]
        return False

    def give_another_try(self, page_id: int) -> None:
        """Try a page that was set aside: the user wants it to be."""
        self._aside_until_s.pop(page_id, None)

    def _strike(self, page_id: int) -> int | None:
        self._suspects.discard(page_id)
        strikes = self._strikes.pop(page_id, 0) + 1
        self._strikes[page_id] = min(strikes, STRIKES - 1)
        if len(self._strikes) > _MOST_STRUCK:
            self._strikes.popitem(last=False)
        if strikes < STRIKES:
            # It is tried once more, alone among the suspects: whatever dies with it then has died of it.
            self._suspects.add(page_id)
            return None
        self._aside_until_s[page_id] = self._clock.monotonic() + SET_ASIDE_S
        if len(self._aside_until_s) > _MOST_STRUCK:
            self._aside_until_s.popitem(last=False)
        return page_id
