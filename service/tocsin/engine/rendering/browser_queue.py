"""Visits in the browser: renderings first, then checks, the oldest first, within the limit of renderings (T55).

A page that ends the whole browser twice is set aside for an hour, so that it does not take the others along for ever.
"""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from tocsin.engine.hosts.crash_suspects import CrashSuspects
from tocsin.engine.hosts.process_limits import RequestSlots
from tocsin.engine.visiting.visit import contained
from tocsin.errors import BrowserLost, FetchError, FetchRefused, Postponed, ProcessError, SettingsError
from tocsin.events import Happening
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence

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


class BrowserSuspects:
    """Pages that end the whole browser, all slots of it.

    A suspect waits until it may be tried; a page with two strikes is refused. A page without an id, which is looked at
    before it is watched or on trial, is neither refused nor remembered.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock, self._found = clock, CrashSuspects(clock)
        # Why each page that is set aside ended its browser.
        self._why: dict[int, str] = {}
        self._trying, self._changed = 0, asyncio.Event()
        self._counted: Sequence[int] = ()

    @asynccontextmanager
    async def trying(self, page_id: int, url: str) -> AsyncIterator[None]:
        """Let a page be tried inside, of suspects only a few at a time. Raises FetchRefused if it is set aside."""
        self._refuse(page_id, url)
        while is_suspect := page_id in self._found:
            if self._found.room(self._trying):
                break
            self._changed.clear()
            await self._changed.wait()
            self._refuse(page_id, url)
        self._trying += is_suspect
        try:
            yield
        finally:
            self._trying -= is_suspect
            self._changed.set()

    def cleared(self, page_id: int) -> None:
        """Note that a page came back."""
        self._found.cleared(page_id)
        self._changed.set()

    def failed(self, page_id: int, error: FetchError) -> None:
        """Note that a visit failed; raises FetchRefused where its page is set aside for that."""
        if isinstance(error, BrowserLost):
            # Each of the pages in hand tells of the same end.
            if error.suspects and error.suspects is not self._counted:
                self._counted = error.suspects
                self._set_aside(self._found.has_killed(None, error.suspects), error.detail)
                self._found.cleared(0)
        else:
            # Its own slot's browser at most was ended: tried again as often as after any failure (T58).
            self.cleared(page_id)
        self._refuse(page_id, error.url)

    def give_another_try(self, page_id: int) -> None:
        """Let a page that is set aside be tried once more: the user wants it."""
        self._found.give_another_try(page_id)

    def _set_aside(self, page_id: int | None, why: str) -> None:
        if page_id is not None:
            self._why[page_id] = why
        self._changed.set()

    def _refuse(self, page_id: int, url: str) -> None:
        left_s = self._found.aside_for_s(page_id)
        if not left_s:
            self._why.pop(page_id, None)
            return
        until = datetime.fromtimestamp(self._clock.now() / 1_000_000 + left_s, UTC)
        said = f"set aside until {until:%Y-%m-%d %H:%M} UTC, since all browsers ended twice on it: {self._why[page_id]}"
        raise FetchRefused(url, FailureKind.SET_ASIDE, said)


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
        self._suspects = BrowserSuspects(clock)
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
        async with self._suspects.trying(visit.page_id, visit.url):
            return await self._visit_in_turn(visit, admit, is_urgent=is_urgent)

    def give_another_try(self, page_id: int) -> None:
        """Visit a page once more that is set aside since it ended the whole browser: the user wants it."""
        self._suspects.give_another_try(page_id)

    async def _visit_in_turn(self, visit: BrowserVisit, admit: Admission, *, is_urgent: bool) -> VisitedPage:
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
            self._suspects.failed(visit.page_id, exc)
            raise
        else:
            result = "read"
            self._suspects.cleared(visit.page_id)
            return page
        finally:
            took_ms = round((self._clock.monotonic() - began_s) * 1000)
            values = {"url": visit.url, "result": result, "took_ms": took_ms, "waited_ms": round(waited_s * 1000)}
            self._telemetry.emit(Happening("browser.visited", "debug", values))
