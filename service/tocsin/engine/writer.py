"""Results of checks, gathered into batches: one transaction for many pages."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tocsin.errors import StaleClaim, StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tocsin.engine.lease import Lease
    from tocsin.model import CheckResult, Instant
    from tocsin.ports import Clock, Telemetry, WorkStore
    from tocsin.settings import StoreSettings

RETRY_S = 2.0


class Writer:
    """Commits results at most `batch_rows` at a time, and at most `batch_wait` after the first of them came.

    patient       a store that cannot be written (a full disk) is tried again until it can; else the error is raised
    on_committed  is told of each batch, with the next due time of its hosts
    written       how many results were written so far; of these
    not_modified  were pages that their servers did not send again, which spared so many
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
        self.written = self.not_modified = self.saved_bytes = 0
        self._queue: asyncio.Queue[CheckResult | None] = asyncio.Queue(maxsize=2 * settings.batch_rows)

    async def put(self, result: CheckResult) -> None:
        """Hand over a result; waits while the store is behind."""
        await self._queue.put(result)

    async def finish(self) -> None:
        """Let `run` end once everything handed over so far is committed."""
        await self._queue.put(None)

    async def run(self) -> None:
        """Commit until `finish`."""
        more = True
        while more:
            batch, more = await self._gather()
            if batch:
                await self._commit(batch)

    async def _gather(self) -> tuple[list[CheckResult], bool]:
        first = await self._queue.get()
        if first is None:
            return [], False
        batch = [first]
        deadline = self._clock.monotonic() + self._wait_s
        while len(batch) < self._rows:
            try:
                result = self._queue.get_nowait()
            except asyncio.QueueEmpty:
                left = deadline - self._clock.monotonic()
                if left <= 0:
                    break
                # Results come in crowds: a nap gathers them for less than one timer a result would cost.
                await self._clock.sleep(min(left, 0.02))
                continue
            if result is None:
                return batch, False
            batch.append(result)
        return batch, True

    async def _commit(self, batch: list[CheckResult]) -> None:
        while True:
            try:
                due = await self._store.commit(self._lease.claim, batch)
                self._count(batch)
            except StaleClaim as exc:
                # Whoever owns the hosts now checks these pages again; nothing of ours may be written.
                self._telemetry.emit(Happening("claim.lost", "warning", {"results": len(batch), "error": str(exc)}))
                due = {}
            except StoreError as exc:
                if not self._patient:
                    raise
                self._telemetry.emit(Happening("store.failed", "error", {"results": len(batch), "error": str(exc)}))
                await self._clock.sleep(self._retry_s)
                continue
            self._on_committed(batch, due)
            return

    def _count(self, batch: list[CheckResult]) -> None:
        self.written += len(batch)
        for result in batch:
            self.not_modified += result.report.not_modified
            self.saved_bytes += result.report.saved_bytes
