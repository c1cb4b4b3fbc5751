"""The engine's claim of its shards, renewed while it works."""

from __future__ import annotations

from datetime import timedelta

from tocsin.errors import StaleClaim, StoreError, StoreLost
from tocsin.events import Happening
from tocsin.model import SHARDS, Claim
from tocsin.ports import Clock, Telemetry, WorkStore

# How often the store's files are checked: writes to a deleted file are lost.
LOOK_S = 0.25


class CommitHealth:
    """Whether the store accepts writes of the engine: the lease, results, renderings."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failing: dict[str, tuple[float, str]] = {}

    def failed(self, part: str, error: StoreError) -> None:
        """Note a failed write of this part, which is tried again."""
        since_s, _ = self._failing.get(part, (self._clock.monotonic(), ""))
        self._failing[part] = since_s, error.why

    def succeeded(self, part: str) -> None:
        """Note a successful write of this part."""
        if self._failing:
            self._failing.pop(part, None)

    def unwritten(self) -> tuple[float, str]:
        """Return the seconds since the first write that still fails, and the reason; (0, "") if none does."""
        if not self._failing:
            return 0.0, ""
        since_s, why = min(self._failing.values())
        return self._clock.monotonic() - since_s, why


class Lease:
    """Holds the claim; if another holder takes it, it is claimed again as soon as that lease ends.

    holder   unique per process: two of one name would take the claim from each other in turn
    commits  whether writes under the claim succeed
    """

    def __init__(self, store: WorkStore, holder: str, length: timedelta, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._holder, self._length = store, holder, length
        self._clock, self._telemetry = clock, telemetry
        self._claim: Claim | None = None
        self.commits = CommitHealth(clock)

    @property
    def claim(self) -> Claim:
        """The claim in force; call `take` first."""
        if self._claim is None:
            raise StaleClaim("no claim was taken yet")
        return self._claim

    @property
    def is_held(self) -> bool:
        """Whether a claim was taken and is still held."""
        return self._claim is not None

    async def take(self) -> None:
        """Claim all shards, after waiting for another holder's lease to end."""
        told = False
        while True:
            self._claim = await self._store.claim(range(SHARDS), self._clock.now(), self._length, self._holder)
            if self._claim is not None:
                return
            if not told:
                self._telemetry.emit(Happening("claim.waits", "warning", {"lease_s": self._length.total_seconds()}))
                told = True
            await self._clock.sleep(self._length.total_seconds() / 5)

    async def keep(self) -> None:
        """Renew the lease at a third of its length, and check the store's files in between, until cancelled.

        Raises StoreLost: an engine whose store was removed or replaced has to end.
        """
        length_s = self._length.total_seconds()
        renew_s = self._clock.monotonic() + length_s / 3
        while True:
            await self._clock.sleep(min(max(renew_s - self._clock.monotonic(), 0), LOOK_S))
            try:
                await self._look()
                if self._clock.monotonic() < renew_s:
                    continue
                renew_s = self._clock.monotonic() + length_s / 3
                self._claim = await self._store.renew(self.claim, self._clock.now(), self._length)
                self.commits.succeeded("lease")
            except StaleClaim:
                await self.take()
            except StoreLost:
                raise
            except StoreError as exc:
                self.commits.failed("lease", exc)
                self._telemetry.emit(Happening("claim.unrenewed", "error", {"error": str(exc)}))

    async def _look(self) -> None:
        if await self._store.keep_place():
            told = {"mend": "leave the file beside the store, also where no service runs; it was made anew"}
            self._telemetry.emit(Happening("store.lock_removed", "warning", told))
