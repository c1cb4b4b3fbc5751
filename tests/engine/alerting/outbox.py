"""An outbox with its channel, as the tests of delivery work on it."""

from __future__ import annotations

from datetime import timedelta

from tests.fakes import ManualClock, RecordingTelemetry
from tests.receivers import RecordingChannel
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.alerting.delivery import ChannelLoop
from tocsin.errors import DeliveryError
from tocsin.model import AlertDraft, JsonObject
from tocsin.settings import DeliverySettings

SECOND = 1_000_000
HOUR = 3600 * SECOND
BROKEN = DeliveryError("ops", "channel", "answered 503")
LATER = DeliveryError("ops", "channel", "answered 429", retry_after=timedelta(hours=24))
REFUSED = DeliveryError("ops", "alert", "answered 404")
GONE = DeliveryError("ops", "gone", "answered 410")


class Outbox:
    """A channel, its loop, and alerts for it; an alert is named by its page's letter and a number."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self.clock = ManualClock()
        self.channel, self.telemetry = RecordingChannel(), RecordingTelemetry()
        self.late_s: list[float] = []
        self.loop = self.restarted()

    def restarted(self) -> ChannelLoop:
        return ChannelLoop(
            self.channel,
            self.store,
            DeliverySettings().give_up,
            self.clock,
            self.telemetry,
            on_accepted=self.late_s.append,
        )

    async def write(self, *names: str) -> None:
        for name in names:
            event: JsonObject = {
                "id": name,
                "type": "tocsin.page.changed.v1",
                "subject": "https://example.org/",
                "data": {},
            }
            await self.store.write_alert(
                AlertDraft(id=name, type=event["type"], page_id=ord(name[0]), at=self.clock.now(), event=event)
            )

    async def deliver(self) -> list[str]:
        """Let the channel be given all that is due; returns what it was tried with."""
        self.channel.tried.clear()
        await self.loop.drain()
        return list(self.channel.tried)

    async def pass_time(self, microseconds: int) -> None:
        await self.clock.advance(microseconds / SECOND)

    def set_clock(self, microseconds: int) -> None:
        """Set the wall clock on, or back."""
        self.clock.set_wall(self.clock.now() + microseconds)

    async def standing(self, name: str) -> list[tuple[str, str, int, str | None]]:
        row = await self.store.alert(name)
        assert row is not None
        return [each[:4] for each in row.deliveries]
