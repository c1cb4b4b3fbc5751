"""Forgetting what is past its retention, in small batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.ports import Clock, StoreCare, Telemetry

EVERY_S = 3600.0
BATCH_ROWS = 500
_BREATH_S = 0.05


class Pruning:
    """Prunes history, alerts and answered questions once an hour (T71).

    history  how long they are kept
    """

    def __init__(self, store: StoreCare, history: timedelta, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._history = store, history
        self._clock, self._telemetry = clock, telemetry

    async def run(self) -> None:
        """Prune every hour, until cancelled."""
        while True:
            try:
                await self.prune()
            except StoreError as exc:
                self._telemetry.emit(Happening("pruning.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(EVERY_S)

    async def prune(self) -> int:
        """Forget what is past its retention; returns how many rows that were."""
        forgotten = 0
        while batch := await self._store.prune(self._clock.now(), history=self._history, limit=BATCH_ROWS):
            forgotten += batch
            # The writer of states comes first.
            await self._clock.sleep(_BREATH_S)
        if forgotten:
            self._telemetry.emit(Happening("store.pruned", "info", {"rows": forgotten}))
        return forgotten
