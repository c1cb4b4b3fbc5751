"""Visits in the browser: renderings first, then checks, the oldest first, within the limit of renderings (T55)."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.visiting.visit import contained
from tocsin.errors import FetchError, Postponed, ProcessError, SettingsError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from tocsin.ports import Clock, Telemetry
    from tocsin.ports.browser import Admission, Browser, BrowserVisit, VisitedPage

# Checks that wait, for each slot: some twenty seconds of work. More are put off, or they would fill the pages in hand.
MOST_WAITING: Final = 32
# Of one visit, roughly; and the shortest pause of a check that is put off.
_VISIT_S: Final = 1.0
_LEAST_PAUSE_S: Final = 30.0


class CheckPlaces:
    """Slots of the render limit that checks in the browser hold: a check is the equivalent processing of T55.

    limit   slots of renderings and checks together
    taken   by checks
    """

    def __init__(self, limit: int = 1) -> None:
        self.limit, self.taken = limit, 0
        self._rendering, self._are_renderings_waiting, self._ahead = 0, False, 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.on_freed: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def owed(self) -> int:
        """Slots that renderings must leave to checks: one, after as many renderings as there are slots."""
        return int(bool(self._waiting) and self._ahead >= self.limit and not self.taken)

    def note(self, *, limit: int, rendering: int, are_waiting: bool, started: int = 0) -> None:
        """Take note of the renderings: the limit, those under way, whether more wait for a slot, those just begun."""
        self.limit, self._rendering, self._are_renderings_waiting = limit, rendering, are_waiting
        self._ahead = self._ahead + started if self._waiting else 0
        self._hand_out()

    async def take(self) -> None:
        """Wait for a slot and take it; `give_back` must follow."""
        place = asyncio.get_running_loop().create_future()
        self._waiting.append(place)
        self._hand_out()
        try:
            await place
        except asyncio.CancelledError:
            if place in self._waiting:
                self._waiting.remove(place)
            elif not place.cancelled():
                self.give_back()
            raise

    def give_back(self) -> None:
        """Free a slot: for a rendering that waits, else for the next check."""
        self.taken -= 1
        self._hand_out()
        self.on_freed()

    def _hand_out(self) -> None:
        while self._waiting and self._rendering + self.taken < self.limit:
            if self._are_renderings_waiting and not self.owed:
                return
            place = self._waiting.popleft()
            if not place.done():
                self.taken, self._ahead = self.taken + 1, 0
                place.set_result(None)


class BrowserQueue:
    """Implements `browsing.BrowserVisits` with one browser, which is opened when a page needs it.

    open_browser  makes it; its tasks are of the group that it is given
    slots         of it
    is_patient    checks wait for any time, instead of being put off
    places        of checks among the slots of renderings
    """

    def __init__(
        self,
        open_browser: Callable[[asyncio.TaskGroup], Browser],
        slots: int,
        clock: Clock,
        telemetry: Telemetry,
        *,
        is_patient: bool = False,
    ) -> None:
        self._open, self._clock, self._telemetry = open_browser, clock, telemetry
        self._slots, self._most_waiting = RequestSlots(slots), None if is_patient else MOST_WAITING * slots
        self.places = CheckPlaces()
        self._browser: Browser | None = None
        self._group: asyncio.TaskGroup

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let the browser be used inside; end it afterwards."""
        async with asyncio.TaskGroup() as self._group:
            try:
                yield
            finally:
                if self._browser is not None:
                    await self._browser.close()

    async def visit(self, visit: BrowserVisit, admit: Admission, *, is_urgent: bool) -> VisitedPage:
        """Visit a page once there is a slot for it; see `browsing.BrowserVisits`."""
        began_s = self._clock.monotonic()
        if is_urgent:
            return await self._visit_in_slot(visit, admit, began_s, is_urgent=True)
        if self._most_waiting is not None and len(self.places) >= self._most_waiting:
            pause_s = max(len(self.places) * _VISIT_S / self._slots.most, _LEAST_PAUSE_S)
            raise Postponed(self._clock.now() + round(pause_s * 1_000_000), 0, "other pages wait for the browser")
        await self.places.take()
        try:
            return await self._visit_in_slot(visit, admit, began_s, is_urgent=False)
        finally:
            self.places.give_back()

    async def _visit_in_slot(
        self, visit: BrowserVisit, admit: Admission, began_s: float, *, is_urgent: bool
    ) -> VisitedPage:
        await self._slots.take(urgent=is_urgent)
        waited_s = self._clock.monotonic() - began_s
        try:
            with contained(None, visit.url, self._telemetry):
                await admit(visit.url)
                return await self._visit(visit, admit, waited_s)
        finally:
            self._slots.give_back()

    async def _visit(self, visit: BrowserVisit, admit: Admission, waited_s: float) -> VisitedPage:
        """Visit an admitted page; what became of it is counted."""
        began_s, result = self._clock.monotonic(), "withheld"
        try:
            self._browser = self._browser or self._open(self._group)
            page = await self._browser.visit(visit, admit)
        except ProcessError as exc:
            result = "missing"
            # No failure of the page: it is held until the machine or its settings are mended.
            raise SettingsError(f"{visit.url}: cannot be read in a browser: {exc}") from exc
        except FetchError as exc:
            result = str(exc.kind)
            raise
        else:
            result = "read"
            return page
        finally:
            took_ms = round((self._clock.monotonic() - began_s) * 1000)
            values = {"url": visit.url, "result": result, "took_ms": took_ms, "waited_ms": round(waited_s * 1000)}
            self._telemetry.emit(Happening("browser.visited", "debug", values))
