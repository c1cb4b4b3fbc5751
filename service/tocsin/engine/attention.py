"""Asking the user about pages that could not be received: one question for many of them (T60)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.errors import StoreError
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.engine.alerts import Alerts
    from tocsin.engine.outage import OutageWatch
    from tocsin.model import Instant
    from tocsin.ports import AttentionStore, Clock, Telemetry

LOOK_S = 1.0


class Attention:
    """Announces questions once their gathering has ended, but never while it is our own connection that fails.

    gather        how long failures of one host and cause are gathered
    on_announced  is told that alerts were written
    """

    def __init__(
        self,
        store: AttentionStore,
        alerts: Alerts,
        outage: OutageWatch,
        gather: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_announced: Callable[[], None],
    ) -> None:
        self._store, self._alerts, self._outage = store, alerts, outage
        self._gather_us = round(gather.total_seconds() * 1_000_000)
        self._clock, self._telemetry, self._on_announced = clock, telemetry, on_announced

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("attention.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> int:
        """Announce the questions that are due; returns how many."""
        return await self._announce(self._clock.now())

    async def flush(self) -> int:
        """Announce every question at once: a one-shot command has nothing more to gather. Returns how many."""
        return await self._announce(self._clock.now() + self._gather_us)

    async def _announce(self, due_by: Instant) -> int:
        if self._outage.is_outage():
            return 0
        questions = await self._store.questions_to_announce(due_by)
        for question in questions:
            now = self._clock.now()
            await self._store.announce(question.id, self._alerts.unreachable_event(question, now), now)
            values = {
                "question": question.id,
                "host": question.host,
                "cause": question.cause,
                "pages": question.pages,
                "answer": f"tocsin attention answer {question.id} again",
            }
            self._telemetry.emit(Happening("attention.asked", "warning", values))
        if questions:
            self._on_announced()
        return len(questions)
