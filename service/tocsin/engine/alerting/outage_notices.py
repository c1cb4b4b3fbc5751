"""Our own outage as the rest of the engine sees it: told once, its questions taken back, its end told once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import FailureKind

if TYPE_CHECKING:
    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.judging.events import Alerts
    from tocsin.model import Instant
    from tocsin.ports import Clock, Store, Telemetry

LOOK_S = 1.0
_RETRY_US = 60_000_000


class Uplink:
    """Turns what the outage watch sees into alerts, once each."""

    def __init__(
        self, store: Store, lease: Lease, outage: OutageWatch, alerts: Alerts, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._store, self._lease, self._outage = store, lease, outage
        self._alerts, self._clock, self._telemetry = alerts, clock, telemetry
        self._told_of: Instant | None = None

    async def resume(self) -> None:
        """Go on with an outage that was told of before a restart, so that its end is told too."""
        await self.recall()
        if self._told_of is not None:
            self._outage.resume(self._told_of)

    async def recall(self) -> None:
        """Know of an outage that was told of, but ask everybody all the same: a one-shot check waits for no probe."""
        self._told_of = await self._store.open_outage()

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("uplink.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> None:
        """Tell of a beginning or an end that was not told of."""
        began_at, now = self._outage.began_at, self._clock.now()
        if began_at is not None and self._told_of is None:
            causes = [FailureKind.DNS, FailureKind.CONNECT]
            taken_back = await self._store.withdraw_questions(self._lease.claim, causes, now, now + _RETRY_US)
            await self._store.write_alert(self._alerts.outage_began_event(began_at, now))
            self._telemetry.emit(Happening("outage.began", "error", {"questions_taken_back": taken_back}))
            self._told_of = began_at
        elif began_at is None and self._told_of is not None and self._outage.has_answered:
            await self._store.write_alert(self._alerts.outage_ended_event(self._told_of, now))
            lasted_s = (now - self._told_of) // 1_000_000
            self._telemetry.emit(Happening("outage.ended", "warning", {"lasted_s": lasted_s}))
            self._told_of = None
