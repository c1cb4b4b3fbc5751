"""Bounds of one process: requests under way, and pages in hand."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

# Pages in hand per request slot: most of them wait for their turn at a host.
PAGES_A_REQUEST: Final = 4
# Least number of pages that a late process has in hand.
FEWEST_PAGES: Final = 32
# Longest acceptable wait of work that is ready.
LATE_S: Final = 0.5


class RequestSlots:
    """A semaphore for requests with two priorities; a free slot costs no more than a subtraction.

    most  number of slots
    free  slots that are free
    """

    __slots__ = ("_urgent", "_usual", "free", "most")

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._usual: deque[asyncio.Future[None]] = deque()

    @property
    def taken(self) -> int:
        """Slots that are taken."""
        return self.most - self.free

    def take_at_once(self) -> bool:
        """Take a slot if one is free; `give_back` must follow."""
        if self.free:
            self.free -= 1
            return True
        return False

    async def take(self, *, urgent: bool = False) -> None:
        """Wait for a slot and take it; `give_back` must follow.

        urgent  goes first, as renderings do: they are few, and each has an alert waiting
        """
        if self.take_at_once():
            return
        place = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._usual).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                # The slot was handed over just before the cancellation.
                self.give_back()
            raise

    def give_back(self) -> None:
        """Hand the slot to the first waiter, urgent ones first, or free it."""
        while waiting := self._urgent or self._usual:
            place = waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1


class PageAllowance:
    """Limit of the pages that a process has in hand; it shrinks while its loop is late.

    most   the limit of a process that is not late
    pages  the current limit
    """

    # A process short of CPU makes no more checks by having more pages in hand: these only delay its renderings and
    # everything else in the same loop.

    __slots__ = ("_fewest", "_most", "pages")

    def __init__(self, most: int) -> None:
        self._most = self.pages = most
        self._fewest = min(most, FEWEST_PAGES)

    def adapt(self, lag_s: float, in_hand: int) -> None:
        """Adapt the limit to the latest lag; called once a second.

        in_hand  pages that the process has
        """
        if lag_s > LATE_S:
            fewer = int(min(self.pages, in_hand) * max(LATE_S / lag_s, 0.5))
            self.pages = max(fewer, self._fewest)
        elif lag_s < LATE_S / 2:
            self.pages = min(self.pages + max(self.pages // 4, 8), self._most)
