"""Keeping the store: what is past its retention is deleted, and new titles can be searched for; in small batches."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.model import Instant
    from tocsin.ports import Clock, Telemetry
    from tocsin.settings import SnapshotSettings

EVERY_S = 3600.0
# Interval of limiting texts: the first pass over a long list adds some hundred megabytes per minute.
ROOM_EVERY_S = 60.0

BATCH_ROWS = 500
# Texts go one after the other: other pages may have the same one.
_BATCH_TEXTS = 100
# By how much a pruning may be later than the one before it. Where the clock jumps ahead by more than the retention, an
# hour's pruning deletes a day, not everything; where the service was stopped for a month, it catches up in 30 hours.
MOST_AT_ONCE = timedelta(days=1)
# Lets the writer of results commit between two batches.
_BREATH_S = 0.05


class PrunableStore(Protocol):
    """The part of the store that pruning needs; see `ports.StoreCare` and `ports.snapshots.SnapshotStore`."""

    async def begin_pruning(self, now: Instant, *, most: timedelta) -> Instant:
        """Return the time to prune by, and note it: at most this much later than at the last pruning."""

    async def prune(self, now: Instant, *, history: timedelta, limit: int) -> int:
        """Delete older history, alerts and answered questions, at most `limit` rows; returns their number."""

    async def prune_snapshots(self, now: Instant, *, keep: timedelta, per_page: int, limit: int) -> int:
        """Delete texts by age and number, at most `limit`; returns their number."""

    async def fit_snapshots(self, *, total: int, limit: int) -> int:
        """Delete the oldest texts, at most `limit`, until all fit into `total` bytes; returns their number."""

    async def keep_titles(self) -> int:
        """Put new titles among the words of their pages; returns the number of pages."""

    async def sweep_pictures(self) -> int:
        """Remove files of pictures that no row names; returns their number."""


class Pruning:
    """Prunes history, alerts, answered questions and texts once an hour (T71); excess texts once a minute.

    Each minute it also lets searches find pages by their new titles.

    history  retention of all but texts
    texts    limits of texts
    """

    def __init__(
        self, store: PrunableStore, history: timedelta, texts: SnapshotSettings, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._store, self._history, self._texts = store, history, texts
        self._clock, self._telemetry = clock, telemetry

    async def run(self) -> None:
        """Prune every hour, until cancelled."""
        while True:
            await self._prune_or_tell(self.prune)
            await self._prune_or_tell(self._sweep)
            for _ in range(round(EVERY_S / ROOM_EVERY_S)):
                await self._clock.sleep(ROOM_EVERY_S)
                await self._prune_or_tell(partial(self._prune_by, self._make_room))
                await self._prune_or_tell(self._store.keep_titles)

    async def prune(self) -> int:
        """Delete what is past its retention; returns the number of rows."""
        now = await self._store.begin_pruning(self._clock.now(), most=MOST_AT_ONCE)
        return await self._prune_by(partial(self._prune_some, now))

    async def _prune_or_tell(self, prune: Callable[[], Awaitable[int]]) -> None:
        try:
            await prune()
        except StoreError as exc:
            self._telemetry.emit(Happening("pruning.failed", "error", {"error": str(exc)}))

    async def _prune_by(self, some: Callable[[], Awaitable[int]]) -> int:
        forgotten = 0
        while batch := await some():
            forgotten += batch
            # A pause between transactions, so that checks are written in time.
            await self._clock.sleep(_BREATH_S)
        if forgotten:
            self._telemetry.emit(Happening("store.pruned", "info", {"rows": forgotten}))
        return forgotten

    async def _prune_some(self, now: Instant) -> int:
        texts = self._texts
        if rows := await self._store.prune(now, history=self._history, limit=BATCH_ROWS):
            return rows
        if rows := await self._store.prune_snapshots(now, keep=texts.keep, per_page=texts.per_page, limit=BATCH_ROWS):
            return rows
        return await self._make_room()

    async def _make_room(self) -> int:
        return await self._store.fit_snapshots(total=self._texts.total, limit=_BATCH_TEXTS)

    async def _sweep(self) -> int:
        if swept := await self._store.sweep_pictures():
            self._telemetry.emit(Happening("pictures.swept", "info", {"files": swept}))
        return swept
