"""Taking over what feeds and sitemaps on the watch list say of other pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from tocsin.ports import Clock, SignalStore, Telemetry

LOOK_S = 2.0


class Hearsay:
    """Takes over listings that checks have read, beside the writing of results: they may name tens of thousands."""

    def __init__(self, store: SignalStore, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._clock, self._telemetry = store, clock, telemetry

    async def run(self) -> None:
        """Look every two seconds, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("listings.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> int:
        """Take over what there is; returns of how many pages it was news."""
        pages = await self._store.take_listings(self._clock.now())
        if pages:
            self._telemetry.emit(Happening("listings.read", "info", {"pages": pages}))
        return pages
