"""How many requests are under way together, of the whole engine or of one fetcher process."""

from __future__ import annotations

import asyncio
from collections import deque


class InFlight:
    """Bounds the requests under way; who finds no room waits, first come, first served.

    most  so many at one time
    free  so many more may begin now
    A semaphore that costs nothing but a subtraction where there is room, as there nearly always is.
    """

    __slots__ = ("_waiting", "free", "most")

    def __init__(self, most: int) -> None:
        self.most = self.free = most
        self._waiting: deque[asyncio.Future[None]] = deque()

    def take_at_once(self) -> bool:
        """Take a place if there is one; `give_back` must follow."""
        if self.free:
            self.free -= 1
            return True
        return False

    async def take(self) -> None:
        """Wait for a place and take it; `give_back` must follow."""
        if self.take_at_once():
            return
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        try:
            await place
        except asyncio.CancelledError:
            if not place.cancelled():
                # It was handed over, and nobody is there any more to take it.
                self.give_back()
            raise

    def give_back(self) -> None:
        """Hand a place over to who has waited longest, or leave it free."""
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                return
        self.free += 1
