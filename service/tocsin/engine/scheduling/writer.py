"""Writing what checks found: results in batches, one transaction each, and listings beside them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tocsin.engine.hosts.lease import Lease
from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import CheckResult, Instant
from tocsin.ports import Clock, SignalStore, Telemetry, WorkStore
from tocsin.settings import StoreSettings

# Pause before a failed batch is written again.
RETRY_S = 2.0
# Gathers a burst of results with one timer.
NAP_S = 0.02
LOOK_S = 2.0


class ResultWriter:
    """Commits results in batches of at most `batch_rows`, at most `batch_wait` after the first one.

    patient       a store that cannot be written (a full disk) is tried again; else the error is raised
    on_committed  called with each batch and the next due times of its hosts
    written       results so far
    refused       those of parts that another node had taken
    not_modified  those with a 304, which saved
    saved_bytes
    """

    def __init__(
        self,
        store: WorkStore,
        lease: Lease,
        settings: StoreSettings,
        clock: Clock,
        telemetry: Telemetry,
        *,
        patient: bool,
        on_committed: Callable[[Sequence[CheckResult], dict[int, Instant | None]], None],
    ) -> None:
        self._store, self._lease, self._clock, self._telemetry = store, lease, clock, telemetry
        self._rows, self._wait_s = settings.batch_rows, settings.batch_wait.total_seconds()
        self._patient, self._on_committed, self._retry_s = patient, on_committed, RETRY_S
        self.written = self.refused = self.not_modified = self.saved_bytes = 0
        self._most = 2 * settings.batch_rows
        self._waiting: list[CheckResult] = []
        self._is_finishing = False
        self._came, self._taken = asyncio.Event(), asyncio.Event()

    async def put(self, result: CheckResult) -> None:
        """Add a result; then wait while the store is behind."""
        self._waiting.append(result)
        if not self._came.is_set():
            self._came.set()
        if len(self._waiting) >= self._most:
            await self._room()

    async def put_all(self, results: Sequence[CheckResult]) -> None:
        """Add results; then wait while the store is behind."""
        self._waiting += results
        self._came.set()
        await self._room()

    async def finish(self) -> None:
        """Let `run` end once everything is committed."""
        self._is_finishing = True
        self._came.set()

    async def run(self) -> None:
        """Commit until `finish`."""
        while batch := await self._gather():
            await self._commit(batch)

    async def _room(self) -> None:
        while len(self._waiting) >= self._most:
            self._taken.clear()
            await self._taken.wait()

    async def _gather(self) -> list[CheckResult]:
        """Wait for results, and a little longer for more; an empty batch is the end."""
        if not self._waiting and not self._is_finishing:
            self._came.clear()
            await self._came.wait()
        deadline = self._clock.monotonic() + self._wait_s
        while len(self._waiting) < self._rows and not self._is_finishing:
            left = deadline - self._clock.monotonic()
            if left <= 0:
                break
            # Results come in bursts: a nap gathers them for less than one timer per result.
            await self._clock.sleep(min(left, NAP_S))
        batch = self._waiting[: self._rows]
        del self._waiting[: self._rows]
        self._taken.set()
        return batch

    async def _commit(self, batch: list[CheckResult]) -> None:
        self._lease.commits.begin()
        while True:
            began_s = self._clock.monotonic()
            try:
                due, refused = await self._store.commit(self._lease.claim, batch)
                took_ms = round((self._clock.monotonic() - began_s) * 1000, 1)
                self._telemetry.emit(
                    Happening("results.committed", "debug", {"results": len(batch), "took_ms": took_ms})
                )
                self._lease.commits.succeeded("results")
                self._count(batch, refused)
            except StoreError as exc:
                if not self._patient:
                    raise
                self._lease.commits.failed("results", exc)
                self._telemetry.emit(Happening("store.failed", "error", {"results": len(batch), "error": str(exc)}))
                await self._clock.sleep(self._retry_s)
                continue
            self._lease.commits.end()
            self._on_committed(batch, due)
            return

    def _count(self, batch: list[CheckResult], refused: int) -> None:
        if refused:
            # The node that holds these parts now checks their pages again; nothing of ours may be written.
            self._telemetry.emit(Happening("claim.lost", "warning", {"results": refused}))
            self.refused += refused
        self.written += len(batch) - refused
        for result in batch:
            self.not_modified += result.report.not_modified
            self.saved_bytes += result.report.saved_bytes


class ListedDates:
    """Applies the dates that feeds and sitemaps list for other pages, apart from results: they can be thousands."""

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
        """Apply stored listings; returns the number of pages with a new date."""
        pages = await self._store.take_listings(self._clock.now())
        if pages:
            self._telemetry.emit(Happening("listings.read", "info", {"pages": pages}))
        return pages
