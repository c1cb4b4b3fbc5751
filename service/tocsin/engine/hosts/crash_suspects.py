"""Finding the page that ended a process, a fetcher or the browser, by strikes and suspects. Pure."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.ports import Clock

# Processes that a page ends until it is set aside.
STRIKES = 2
# Time until a page that was set aside is tried again, at the risk of one more process.
SET_ASIDE_S = 3600.0
# All of these are suspects again when their process dies.
_MOST_SUSPECTS_AT_ONCE = 64
# Bounds the memory for strikes; the oldest are forgotten first.
_MOST_STRUCK = 10_000


class CrashSuspects:
    """Finds the page that kills processes: fetchers, or browsers.

    A dying process names the page that it was reading, which gets a strike. If it names none, all of its pages are
    suspects. Suspects are tried few at a time: first one, then one more for each that came back; one at a time after
    another death among them. A page that came back loses its strikes, since processes can be killed from outside.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._strikes: OrderedDict[int, int] = OrderedDict()
        self._aside_until_s: OrderedDict[int, float] = OrderedDict()
        self._suspects: set[int] = set()
        self._at_once, self._is_wary = 1, False

    def __bool__(self) -> bool:
        """Whether there are suspects."""
        return bool(self._suspects)

    @property
    def want_to_know(self) -> bool:
        """Whether `cleared` has an effect for any page."""
        return bool(self._strikes or self._suspects)

    def __contains__(self, page_id: int) -> bool:
        return page_id in self._suspects

    def has_killed(self, named: int | None, in_hand: Collection[int]) -> int | None:
        """Note the death of a process; returns the page that is set aside for it, if any.

        named    the page that it was reading, if it named one
        in_hand  all of its pages
        """
        if named is not None:
            return self._strike(named)
        suspected = [page_id for page_id in in_hand if page_id in self._suspects]
        self._is_wary = self._is_wary or bool(self._suspects)
        self._at_once = 1
        # A page beside the only suspect may be the killer as well: they are tried separately.
        self._suspects.update(in_hand)
        if len(suspected) == 1:
            return self._strike(suspected[0])
        return self._strike(next(iter(in_hand))) if len(in_hand) == 1 else None

    def cleared(self, page_id: int) -> None:
        """Note that a page came back."""
        self._strikes.pop(page_id, None)
        if page_id not in self._suspects:
            return
        self._suspects.discard(page_id)
        if not self._suspects:
            self._at_once, self._is_wary = 1, False
        elif not self._is_wary:
            self._at_once = min(self._at_once + 1, _MOST_SUSPECTS_AT_ONCE)

    def room(self, in_hand: int) -> int:
        """Return how many more suspects can be tried beside this many."""
        return max(self._at_once - in_hand, 0)

    def is_set_aside(self, page_id: int) -> bool:
        """Tell whether a page is set aside because it killed too often."""
        return self.aside_for_s(page_id) > 0

    def aside_for_s(self, page_id: int) -> float:
        """Return for how long a page is still set aside, 0 if it is not."""
        until_s = self._aside_until_s.get(page_id)
        if until_s is None:
            return 0.0
        left_s = until_s - self._clock.monotonic()
        if left_s > 0:
            return left_s
        del self._aside_until_s[page_id]
        return 0.0

    def give_another_try(self, page_id: int) -> None:
        """Try a page again that was set aside: the user wants it."""
        self._aside_until_s.pop(page_id, None)

    def _strike(self, page_id: int) -> int | None:
        self._suspects.discard(page_id)
        strikes = self._strikes.pop(page_id, 0) + 1
        self._strikes[page_id] = min(strikes, STRIKES - 1)
        if len(self._strikes) > _MOST_STRUCK:
            self._strikes.popitem(last=False)
        if strikes < STRIKES:
            # It is tried once more as the only suspect: if that process dies, this page killed it.
            self._suspects.add(page_id)
            return None
        self._aside_until_s[page_id] = self._clock.monotonic() + SET_ASIDE_S
        if len(self._aside_until_s) > _MOST_STRUCK:
            self._aside_until_s.popitem(last=False)
        return page_id
