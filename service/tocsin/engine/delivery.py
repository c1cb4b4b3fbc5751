"""From the outbox to the sinks: at least once, in order for each page, and one broken sink delays no other."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tocsin.engine.backoff import after_failure, after_success, sink_after_failure, sink_after_success
from tocsin.errors import DeliveryError, StoreError
from tocsin.events import Happening, to_rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import timedelta

    from tocsin.model import DeliveryResult, DueDelivery, JsonObject, SinkState
    from tocsin.ports import AlertStore, Clock, Sink, Telemetry
    from tocsin.settings import DeliverySettings

IN_FLIGHT = 8
"""How many alerts, of different pages, a sink is given at once when it is well."""
BATCH = 64
"""How many deliveries are recorded in one transaction, at most."""
POLL_S = 1.0
_LOOK_AGAIN_US = 5_000_000


class Delivery:
    """Delivers to all sinks, each in a loop of its own."""

    def __init__(
        self, sinks: Sequence[Sink], store: AlertStore, settings: DeliverySettings, clock: Clock, telemetry: Telemetry
    ) -> None:
        self._clock, self._telemetry = clock, telemetry
        self._loops = [SinkLoop(sink, store, settings.give_up, clock, telemetry) for sink in sinks]

    def wake(self) -> None:
        """Say that alerts were written, so that they need not wait for the next look at the outbox."""
        for loop in self._loops:
            loop.wake()

    async def run(self) -> None:
        """Deliver until `finish`."""
        async with asyncio.TaskGroup() as group:
            for loop in self._loops:
                group.create_task(loop.run(), name=f"deliver-{loop.name}")

    def finish(self) -> None:
        """Let `run` end; each sink's current batch is delivered and recorded first."""
        for loop in self._loops:
            loop.finish()

    async def drain(self, deadline_s: float) -> None:
        """Deliver what is due; what the sinks do not take, or not in this time, stays in the outbox."""
        try:
            async with asyncio.timeout(deadline_s), asyncio.TaskGroup() as group:
                for loop in self._loops:
                    group.create_task(loop.drain(), name=f"drain-{loop.name}")
        except TimeoutError:
            self._telemetry.emit(Happening("delivery.unfinished", "warning", {"deadline_s": deadline_s}))


class SinkLoop:
    """Delivers to one sink.

    A sink that failed is given one alert at a time first; each batch without a failure of the sink doubles that, so
    that a receiver that is back is not flooded.
    """

    def __init__(self, sink: Sink, store: AlertStore, give_up: timedelta, clock: Clock, telemetry: Telemetry) -> None:
        self.name = sink.name
        self._sink, self._store, self._give_up = sink, store, give_up
        self._clock, self._telemetry = clock, telemetry
        self._in_flight: int | None = None
        self._state: SinkState | None = None
        self._read_at = 0
        self._changed = asyncio.Event()
        self._finishing = False

    def wake(self) -> None:
        """Look at the outbox now."""
        self._changed.set()

    def finish(self) -> None:
        """Let `run` end after the current batch."""
        self._finishing = True
        self._changed.set()

    async def run(self) -> None:
        """Deliver until `finish`."""
        async with asyncio.TaskGroup() as group:
            ticker = group.create_task(self._tick(), name=f"deliver-{self.name}-tick")
            while not self._finishing:
                self._changed.clear()
                if not await self._deliver_patiently():
                    await self._changed.wait()
            ticker.cancel()

    async def drain(self) -> None:
        """Deliver what is due until nothing is, or the sink fails."""
        while await self._deliver_patiently():
            pass

    async def deliver_batch(self) -> bool:
        """Give the sink one batch of what is due; returns whether more may follow at once."""
        state, now = await self._standing(), self._clock.now()
        if state.disabled or (state.next_at is not None and state.next_at > now):
            return False
        if self._in_flight is None:
            self._in_flight = 1 if state.failures else IN_FLIGHT
        limit = BATCH if self._in_flight == IN_FLIGHT else self._in_flight
        due = await self._store.due_deliveries(self.name, now, limit=limit)
        if not due:
            return False
        batch = _Batch(self._sink, self._clock, due)
        await batch.deliver(self._in_flight)
        return await self._record(state, batch)

    async def _standing(self) -> SinkState:
        """How the sink stands: known since the start, but somebody else may have enabled it or ended its back-off."""
        now = self._clock.now()
        is_well = self._state is not None and not (self._state.disabled or self._state.failures)
        if self._state is None or (not is_well and abs(now - self._read_at) >= _LOOK_AGAIN_US):
            self._state, self._read_at = await self._store.sink_state(self.name), now
        return self._state

    async def _record(self, state: SinkState, batch: _Batch) -> bool:
        """Write what became of a batch, and how the sink stands now."""
        now = self._clock.now()
        fault = batch.sink_fault
        if fault is not None:
            self._in_flight = 1
            standing = sink_after_failure(state, fault, now)
        else:
            self._in_flight = min(2 * (self._in_flight or 1), IN_FLIGHT)
            standing = sink_after_success(state) if batch.accepted else state
        results = [after_success(delivery, now) for delivery in batch.accepted] + [
            after_failure(
                delivery,
                error,
                now,
                give_up=self._give_up,
                sink_again_at=standing.next_at if error.blames == "sink" else None,
            )
            for delivery, error in batch.failed
        ]
        await self._store.record_deliveries(results)
        if standing != state:
            await self._store.save_sink_state(standing)
            self._state, self._read_at = standing, now
            self._tell(state, standing)
        refused = {delivery.alert_id for delivery, error in batch.failed if error.blames == "alert"}
        for result in results:
            if result.state == "dead" or result.alert_id in refused:
                self._tell_of(result)
        return fault is None

    async def _deliver_patiently(self) -> bool:
        try:
            return await self.deliver_batch()
        except StoreError as exc:
            # Nothing is lost: what was accepted but not recorded is given again, under the same id.
            values = {"sink": self.name, "error": str(exc)}
            self._telemetry.emit(Happening("delivery.unrecorded", "error", values))
            return False

    async def _tick(self) -> None:
        while True:
            await self._clock.sleep(POLL_S)
            self._changed.set()

    def _tell(self, before: SinkState, after: SinkState) -> None:
        if after.disabled:
            mend = f"its receiver says that it is gone; mend it, then run: tocsin sink test {self.name}"
            values: JsonObject = {"sink": self.name, "error": after.error, "mend": mend}
            self._telemetry.emit(Happening("sink.disabled", "error", values))
        elif after.failures:
            values = {
                "sink": self.name,
                "failures": after.failures,
                "error": after.error,
                "next_at": _time(after.next_at),
            }
            self._telemetry.emit(Happening("sink.failed", "warning", values))
        elif before.failures:
            self._telemetry.emit(Happening("sink.recovered", "info", {"sink": self.name, "failures": before.failures}))

    def _tell_of(self, result: DeliveryResult) -> None:
        values: JsonObject = {"sink": self.name, "alert": result.alert_id, "error": result.error}
        if result.state == "dead":
            values["mend"] = f"once it is taken again: tocsin alerts replay {result.alert_id}"
            self._telemetry.emit(Happening("alert.dead", "error", values))
        else:
            values["next_at"] = _time(result.next_at)
            self._telemetry.emit(Happening("alert.refused", "warning", values))


class _Batch:
    """Alerts of different pages on their way to one sink; after a fault of the sink no further one is begun."""

    def __init__(self, sink: Sink, clock: Clock, due: Sequence[DueDelivery]) -> None:
        self._sink, self._clock, self._due = sink, clock, due
        self.accepted: list[DueDelivery] = []
        self.failed: list[tuple[DueDelivery, DeliveryError]] = []
        self.sink_fault: DeliveryError | None = None

    async def deliver(self, in_flight: int) -> None:
        """Give the sink each alert, so many at once."""
        waiting = iter(self._due)
        async with asyncio.TaskGroup() as group:
            for number in range(min(in_flight, len(self._due))):
                group.create_task(self._work(waiting), name=f"deliver-{self._sink.name}-{number}")

    async def _work(self, waiting: Iterator[DueDelivery]) -> None:
        for delivery in waiting:
            if self.sink_fault is not None:
                return
            try:
                await self._sink.deliver(delivery.event)
            except DeliveryError as exc:
                self._note(delivery, exc)
            else:
                self.accepted.append(delivery)

    def _note(self, delivery: DueDelivery, error: DeliveryError) -> None:
        self.failed.append((delivery, error))
        if error.blames == "gone" or (error.blames == "sink" and self.sink_fault is None):
            self.sink_fault = error


def _time(at: int | None) -> str | None:
    return to_rfc3339(at) if at is not None else None
