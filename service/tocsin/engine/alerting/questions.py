"""Asking the user about pages that could not be received: one question for many of them (T60)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.engine.alerting.announcing import Announcing
from tocsin.events import Happening

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.judging.events import Alerts
    from tocsin.model import Instant
    from tocsin.ports import AttentionStore, Clock, Telemetry


class Attention(Announcing):
    """Announces questions once their gathering has ended, but not while our own connection fails, or may fail.

    gather        how long failures of one host and cause are gathered
    on_announced  is told that alerts were written
    """

    failed = "attention.failed"

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
        super().__init__(gather, clock, telemetry, on_announced=on_announced)
        self._store, self._alerts, self._outage = store, alerts, outage

    async def _announce(self, due_by: Instant) -> int:
        if self._outage.is_outage() or self._outage.in_doubt:
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
        return len(questions)
