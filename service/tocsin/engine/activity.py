"""What happened in the last days, five minutes each: noted in the store, so that it survives restarts."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from msgspec import Struct

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import ActivityRow
from tocsin.ports.figures import FigureStore

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Awaitable, Callable

    from tocsin.engine.counting import Counts
    from tocsin.model import Instant, StoreFigures
    from tocsin.ports import Clock, Telemetry

SPAN_US: Final = 300_000_000
"""What one row of activity tells of."""
LOOK_S: Final = 15.0
"""How often the store's figures are read."""
NOTE_US: Final = 60_000_000
"""How often what was counted is noted, at least: so much is lost by a kill."""
KEPT: Final = timedelta(days=90)
_PRUNE_US: Final = 3_600_000_000


class ActivityStore(FigureStore, Protocol):
    """What is needed of the store."""

    async def note_activity(self, row: ActivityRow) -> None:
        """See `ports.BrowseStore`."""

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        """See `ports.BrowseStore`."""


class _Mark(Struct, frozen=True):
    """How far the counts had come when something was last noted."""

    at: Instant
    outcomes: Counter[str]
    alerts: int = 0
    rendered: int = 0
    wire_bytes: int = 0
    saved_bytes: int = 0


class Activity:
    """Reads the store's figures now and then, and notes what was done, one row a minute at most.

    counts   what is counted since the start
    figures  as last read; None before the first time, and where the store cannot say
    alerts   published since the start, by type and outcome
    """

    def __init__(self, store: ActivityStore, counts: Counts, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._counts, self._clock, self._telemetry = store, counts, clock, telemetry
        self.figures: StoreFigures | None = None
        self.alerts: dict[tuple[str, str], int] = {}
        self._mark = self._here(clock.now())
        self._pruned_at: Instant | None = None
        self._failing = set[str]()

    async def run(self) -> None:
        """Look and note, until cancelled."""
        while True:
            await self._trying("look", self.look)
            now = self._clock.now()
            # A row is closed with its five minutes, so that nothing of them is told of the next.
            to_end_s = (SPAN_US - now % SPAN_US) / 1_000_000
            await self._clock.sleep(min(LOOK_S, to_end_s))
            now = self._clock.now()
            if now - self._mark.at >= NOTE_US or now // SPAN_US != self._mark.at // SPAN_US:
                await self._trying("note", self.note)

    async def look(self) -> None:
        """Read the store's figures."""
        after = self.figures.position if self.figures is not None else None
        found = await self._store.figures(self._clock.now(), after=after)
        for kind, number in found.alerts.items():
            self.alerts[kind] = self.alerts.get(kind, 0) + number
        self.figures = found

    async def note(self) -> None:
        """Note what was done since the last time, in the row in which that began; nothing is noted of nothing."""
        before, here = self._mark, self._here(self._clock.now())
        row = ActivityRow(
            at=before.at - before.at % SPAN_US,
            outcomes=dict(here.outcomes - before.outcomes),
            alerts=here.alerts - before.alerts,
            rendered=here.rendered - before.rendered,
            wire_bytes=here.wire_bytes - before.wire_bytes,
            saved_bytes=here.saved_bytes - before.saved_bytes,
        )
        if row != ActivityRow(row.at, {}):
            await self._store.note_activity(row)
        # What could not be written is still owed, and written with the next.
        self._mark = here
        if self._pruned_at is None or here.at - self._pruned_at >= _PRUNE_US:
            await self._store.prune_activity(here.at, keep=KEPT)
            self._pruned_at = here.at

    async def finish(self) -> None:
        """Note the rest."""
        await self._trying("look", self.look)
        await self._trying("note", self.note)

    def _here(self, now: Instant) -> _Mark:
        counts = self._counts
        return _Mark(
            at=now,
            outcomes=counts.outcomes.copy(),
            alerts=sum(self.alerts.values()),
            rendered=counts.renderings.total(),
            wire_bytes=counts.wire_bytes,
            saved_bytes=counts.saved_bytes,
        )

    async def _trying(self, name: str, step: Callable[[], Awaitable[None]]) -> None:
        """Do it; a store that cannot do this step is told of once, until it can again."""
        try:
            await step()
        except StoreError as exc:
            if name not in self._failing:
                self._telemetry.emit(Happening("activity.failed", "warning", {"step": name, "error": str(exc)}))
            self._failing.add(name)
        else:
            self._failing.discard(name)
