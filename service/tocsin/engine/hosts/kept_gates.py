"""Gates that keep in the store what hosts ask for: a pause outlives the process that was told of it."""

from __future__ import annotations

import asyncio
from typing import Protocol

from tocsin.engine.hosts.gates import Gates
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import Instant
from tocsin.ports import Clock, Telemetry
from tocsin.settings import HostSettings

# Pause before a failed write is repeated.
_AGAIN_S = 2.0


class HeldHosts(Protocol):
    """The store as these gates need it."""

    async def host_gates(self, now: Instant) -> dict[str, Instant]:
        """See `ports.WorkStore`."""

    async def hold_hosts(self, held: dict[str, Instant]) -> None:
        """See `ports.WorkStore`."""


class KeptGates(Gates):
    """Gates whose holds are written as soon as they are heard of, however short, by any process.

    Results say of the host that their page is of how long it is held. But a short hold is waited for in memory before
    there is a result, and the host that asked may be one that the page was redirected to.
    """

    def __init__(self, settings: HostSettings, clock: Clock, store: HeldHosts, telemetry: Telemetry) -> None:
        super().__init__(settings, clock)
        self._store, self._telemetry = store, telemetry
        self._unwritten: dict[str, Instant] = {}
        self._heard = asyncio.Event()

    async def recall(self) -> None:
        """Leave the hosts alone that asked an earlier process, or another node, for it."""
        now = self._clock.now()
        for host, until in (await self._store.host_gates(now)).items():
            super().hold(host, self._clock.monotonic() + (until - now) / 1_000_000)

    def hold(self, host: str, until_s: float) -> bool:
        """Make no request to a host until this monotonic time; see `Gates.hold`."""
        is_longer = super().hold(host, until_s)
        if is_longer:
            self._unwritten[host] = self._clock.now() + round(self.held_s(host) * 1_000_000)
            self._heard.set()
        return is_longer

    async def keep(self) -> None:
        """Write each new hold, those of a moment together, until cancelled."""
        while True:
            await self._heard.wait()
            self._heard.clear()
            if not await self.write():
                await self._clock.sleep(_AGAIN_S)
                self._heard.set()

    async def write(self) -> bool:
        """Write the holds that are not written yet; tells whether the store took them, and keeps them if not."""
        held, self._unwritten = self._unwritten, {}
        if not held:
            return True
        try:
            await self._store.hold_hosts(held)
        except StoreError as exc:
            self._unwritten = held | self._unwritten
            self._telemetry.emit(Happening("holds.unwritten", "error", {"hosts": len(held), "error": str(exc)}))
            return False
        return True
