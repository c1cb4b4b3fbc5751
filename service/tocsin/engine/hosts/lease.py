"""The engine's right to its shards, kept alive while it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.errors import StaleClaim, StoreError, StoreLost
from tocsin.events import Happening
from tocsin.model import SHARDS

if TYPE_CHECKING:
    from datetime import timedelta

    from tocsin.model import Claim
    from tocsin.ports import Clock, Telemetry, WorkStore

LOOK_S = 0.25
"""How often the files of the store are looked at: what is written after one of them is gone is lost."""


class CommitHealth:
    """Whether the store takes what the engine has to write: the lease, results, renderings."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failing: dict[str, tuple[float, str]] = {}

    def failed(self, part: str, error: StoreError) -> None:
        """Note that something of this part could not be written, and is tried again."""
        since_s, _ = self._failing.get(part, (self._clock.monotonic(), ""))
        self._failing[part] = since_s, error.why

    def succeeded(self, part: str) -> None:
        """Note that something of this part was written."""
        if self._failing:
            self._failing.pop(part, None)

    def unwritten(self) -> tuple[float, str]:
        """Tell how many seconds ago the first write failed that was not made good since, and why; (0, "") if none."""
        if not self._failing:
            return 0.0, ""
        since_s, why = min(self._failing.values())
        return self._clock.monotonic() - since_s, why


class Lease:
    """Holds the claim in force; a claim that another holder took is claimed anew as soon as that one's lease ends.

    holder   another name for each process: two of one name would take the claim from each other in turn
    commits  whether what is done under it can be written
    """

    def __init__(self, store: WorkStore, holder: str, length: timedelta, clock: Clock, telemetry: Telemetry) -> None:
        self._store, self._holder, self._length = store, holder, length
        self._clock, self._telemetry = clock, telemetry
        self._claim: Claim | None = None
        self.commits = CommitHealth(clock)

    @property
    def claim(self) -> Claim:
        """The claim in force; `take` comes first."""
        if self._claim is None:
            raise StaleClaim("no claim was taken yet")
        return self._claim

    @property
    def is_held(self) -> bool:
        """Whether a claim was taken, and nobody has taken it away since."""
        return self._claim is not None

    async def take(self) -> None:
        """Claim all shards, waiting for another holder's lease to end."""
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
        """Lengthen the lease at a third of its length, and look at the store's files meanwhile, until cancelled.

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
