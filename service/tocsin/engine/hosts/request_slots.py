"""How many requests are under way together, and how many pages are in hand: of an engine, or of one fetcher."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

PAGES_A_REQUEST: Final = 4
"""Pages in hand for each request that may be under way: most of them wait for their hosts' turns."""
FEWEST_PAGES: Final = 32
"""The least number of pages that a late fetcher is given."""
LATE_S: Final = 0.5
"""Work that is ready may wait for so long."""


class RequestSlots:
    """Bounds the requests under way; who finds no room waits, what is urgent before all else, else first come first.

    most  so many at one time
    free  so many more may begin now
    A semaphore that costs nothing but a subtraction where there is room, as there nearly always is.
    """

    __slots__ = ("_urgent", "_usual", "free", "most")

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._usual: deque[asyncio.Future[None]] = deque()

    @property
    def taken(self) -> int:
        """How many are under way."""
        return self.most - self.free

    def take_at_once(self) -> bool:
        """Take a place if there is one; `give_back` must follow."""
        if self.free:
            self.free -= 1
            return True
        return False

    async def take(self, *, urgent: bool = False) -> None:
        """Wait for a place and take it; `give_back` must follow.

        urgent  as of a rendering: there are few of them, and an alert waits for each
        """
        if self.take_at_once():
            return
        place = asyncio.get_running_loop().create_future()
        (self._urgent if urgent else self._usual).append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                # It was handed over, and nobody is there any more to take it.
                self.give_back()
            raise

    def give_back(self) -> None:
        """Hand a place over to who has waited longest, of what is urgent first, or leave it free."""
        while waiting := self._urgent or self._usual:
            place = waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1


class PageAllowance:
    """How many pages a process may have in hand: fewer where it is late, since each of them waits for the others.

    most   pages where it is not late
    pages  the current limit
    Where the processor has less time than there is work, more pages in hand bring no more checks: they only keep
    renderings, and everything else in the same loop, waiting.
    """

    __slots__ = ("_fewest", "_most", "pages")

    def __init__(self, most: int) -> None:
        self._most = self.pages = most
        self._fewest = min(most, FEWEST_PAGES)

    def adapt(self, lag_s: float, in_hand: int) -> None:
        """Take in how long ready work waited of late; called once a second.

        in_hand  pages that it has
        """
        if lag_s > LATE_S:
            fewer = int(min(self.pages, in_hand) * max(LATE_S / lag_s, 0.5))
            self.pages = max(fewer, self._fewest)
        elif lag_s < LATE_S / 2:
            self.pages = min(self.pages + max(self.pages // 4, 8), self._most)
