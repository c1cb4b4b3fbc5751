"""Announcements that concern many pages: questions, storms, and outages of our own connection."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Final, Protocol

from tocsin.engine.judging.contents import difference_data
from tocsin.engine.judging.events import release_command
from tocsin.errors import DamagedText, StoreError
from tocsin.events import Happening
from tocsin.model import EVERY_PART, FailureKind
from tocsin.ports import StormStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.engine.hosts.lease import Lease
    from tocsin.engine.hosts.outage import OutageWatch
    from tocsin.engine.judging.events import EventWriter
    from tocsin.model import Claim, Instant, JsonObject, StormRow
    from tocsin.ports import AttentionStore, Clock, Store, Telemetry
LOOK_S: Final = 1.0
# Pages that are tried for texts that show the change; texts are not kept of every page.
_ASKED_FOR_TEXTS: Final = 10
_RETRY_US = 60_000_000


class WakeUp:
    """Wakes all waiters, each time it is rung."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake the current waiters."""
        self._rung.set()
        self._rung = asyncio.Event()

    def next(self) -> asyncio.Event:
        """Return the event that the next ring sets."""
        return self._rung


class Announcer(ABC):
    """Announces what was gathered, once its gathering has ended.

    gather        duration of the gathering
    on_announced  called after alerts were written
    """

    failed: ClassVar[str]
    """Name of the happening when the store fails."""

    def __init__(
        self, gather: timedelta, clock: Clock, telemetry: Telemetry, *, on_announced: Callable[[], None]
    ) -> None:
        self._gather_us = round(gather.total_seconds() * 1_000_000)
        self._clock, self._telemetry, self._on_announced = clock, telemetry, on_announced

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening(self.failed, "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> int:
        """Announce what is due; returns the number of announcements."""
        return await self._announce_by(self._clock.now())

    async def flush(self) -> int:
        """Announce everything now, since a one-shot command gathers nothing more; returns the number."""
        return await self._announce_by(self._clock.now() + self._gather_us)

    async def _announce_by(self, due_by: Instant) -> int:
        announced = await self._announce(due_by)
        if announced:
            self._on_announced()
        return announced

    @abstractmethod
    async def _announce(self, due_by: Instant) -> int:
        """Write an alert for each that is due by then; returns their number. Raises StoreError."""


class QuestionAnnouncer(Announcer):
    """Asks the user about pages that could not be received, one question for many (T60).

    gather  duration of gathering failures of one host and cause
    claim   the parts of this node: the node that checks a host asks about it, since it knows its own connection
    """

    # Not during an outage of our own connection, nor while there may be one: it would ask about healthy pages.

    failed = "attention.failed"

    def __init__(
        self,
        store: AttentionStore,
        alerts: EventWriter,
        outage: OutageWatch,
        gather: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_announced: Callable[[], None],
        claim: Callable[[], Claim] = lambda: EVERY_PART,
    ) -> None:
        super().__init__(gather, clock, telemetry, on_announced=on_announced)
        self._store, self._alerts, self._outage, self._claim = store, alerts, outage, claim

    async def _announce(self, due_by: Instant) -> int:
        if self._outage.is_outage() or self._outage.in_doubt:
            return 0
        questions = await self._store.questions_to_announce(due_by, self._claim())
        for question in questions:
            now = self._clock.now()
            alert = self._alerts.unreachable_event(question, now)
            await self._store.announce(question.id, alert, now)
            values = {
                "question": question.id,
                "host": question.host,
                "cause": question.cause,
                "pages": question.pages,
                "answer": f"tocsin attention answer {question.id} again",
                "summary": alert.summary,
            }
            self._telemetry.emit(Happening("attention.asked", "warning", values))
        return len(questions)


class StormTexts(StormStore, Protocol):
    """The part of the store that announcing storms needs."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """See `ports.RenderStore`."""


class StormAnnouncer(Announcer):
    """Tells once of a change that many pages of a host share.

    gather  duration of gathering pages that share a change
    """

    failed = "storms.failed"

    def __init__(
        self,
        store: StormTexts,
        alerts: EventWriter,
        gather: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_announced: Callable[[], None],
    ) -> None:
        super().__init__(gather, clock, telemetry, on_announced=on_announced)
        self._store, self._alerts = store, alerts

    async def _announce(self, due_by: Instant) -> int:
        storms = await self._store.storms_to_announce(due_by)
        for storm in storms:
            excerpt = await self._excerpt(storm)
            now = self._clock.now()
            alert = self._alerts.host_changed_event(storm, excerpt, now)
            await self._store.announce_storm(storm.id, alert, now, excerpt=excerpt)
            values = {
                "storm": storm.id,
                "host": storm.host,
                "pages": storm.pages,
                "each": release_command(storm),
                "summary": alert.summary,
            }
            self._telemetry.emit(Happening("host.changed", "info", values))
        return len(storms)

    async def _excerpt(self, storm: StormRow) -> JsonObject | None:
        """Show the change by the texts of one of its pages; None if no texts are kept."""
        for verdict in await self._store.storm_verdicts(storm.id, after=(0, 0), limit=_ASKED_FOR_TEXTS):
            texts = await self._store.texts_around(verdict.page_id, verdict.at)
            try:
                if texts is not None and (shown := await asyncio.to_thread(difference_data, *texts)) is not None:
                    return shown
            except DamagedText:
                # The damage is reported where this page's own difference is shown; the next page serves as well.
                continue
        return None


class OutageAnnouncer:
    """Tells once of the beginning and end of an outage, and withdraws the questions that it caused.

    node  this one, whose connection it is: each node has its own
    """

    def __init__(
        self,
        store: Store,
        lease: Lease,
        outage: OutageWatch,
        alerts: EventWriter,
        clock: Clock,
        telemetry: Telemetry,
        *,
        node: str,
    ) -> None:
        self._store, self._lease, self._outage, self._node = store, lease, outage, node
        self._alerts, self._clock, self._telemetry = alerts, clock, telemetry
        self._told_of: Instant | None = None

    async def resume(self) -> None:
        """Continue an outage that was told before a restart, so that its end is told, too."""
        await self.recall()
        if self._told_of is not None:
            self._outage.resume(self._told_of)

    async def recall(self) -> None:
        """Remember an outage that was told, but make requests all the same: a one-shot check waits for no probe."""
        self._told_of = await self._store.open_outage(self._node)

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("uplink.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> None:
        """Tell of a beginning or end that was not told so far."""
        began_at, now = self._outage.began_at, self._clock.now()
        if began_at is not None and self._told_of is None:
            causes = [FailureKind.DNS, FailureKind.CONNECT]
            taken_back = await self._store.withdraw_questions(self._lease.claim, causes, now, now + _RETRY_US)
            alert = self._alerts.outage_began_event(began_at, now, node=self._node)
            await self._store.write_alert(alert)
            told = {"questions_taken_back": taken_back, "summary": alert.summary}
            self._telemetry.emit(Happening("outage.began", "error", told))
            self._told_of = began_at
        elif began_at is None and self._told_of is not None and self._outage.has_answered:
            alert = self._alerts.outage_ended_event(self._told_of, now, node=self._node)
            await self._store.write_alert(alert)
            lasted_s = (now - self._told_of) // 1_000_000
            self._telemetry.emit(Happening("outage.ended", "warning", {"lasted_s": lasted_s, "summary": alert.summary}))
            self._told_of = None
