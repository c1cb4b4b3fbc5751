"""Telling once of a change that many pages of a host have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.engine.event_size import fit_event
from tocsin.errors import StoreError
from tocsin.events import HOST_CHANGED, Happening, cloud_event, to_rfc3339
from tocsin.model import AlertDraft

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.model import Instant, JsonObject, StormRow
    from tocsin.ports import Chance, Clock, StormStore, Telemetry

LOOK_S = 1.0


class Storms:
    """Announces storms once their gathering has ended.

    source        the instance's name, the `source` of its events
    chance        where their ids come from
    gather        how long pages that share a change are gathered
    on_announced  is told that alerts were written
    """

    def __init__(
        self,
        store: StormStore,
        source: str,
        chance: Chance,
        gather: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_announced: Callable[[], None],
    ) -> None:
        self._store, self._source, self._chance = store, source, chance
        self._gather_us = round(gather.total_seconds() * 1_000_000)
        self._clock, self._telemetry, self._on_announced = clock, telemetry, on_announced

    async def run(self) -> None:
        """Look every second, until cancelled."""
        while True:
            try:
                await self.look()
            except StoreError as exc:
                self._telemetry.emit(Happening("storms.failed", "error", {"error": str(exc)}))
            await self._clock.sleep(LOOK_S)

    async def look(self) -> int:
        """Announce the storms that are due; returns how many."""
        return await self._announce(self._clock.now())

    async def flush(self) -> int:
        """Announce every storm at once: a one-shot command has nothing more to gather. Returns how many."""
        return await self._announce(self._clock.now() + self._gather_us)

    async def _announce(self, due_by: Instant) -> int:
        storms = await self._store.storms_to_announce(due_by)
        for storm in storms:
            now = self._clock.now()
            alert = host_changed_event(storm, now, source=self._source, chance=self._chance)
            await self._store.announce_storm(storm.id, alert, now)
            values = {"storm": storm.id, "host": storm.host, "pages": storm.pages, "each": _command(storm)}
            self._telemetry.emit(Happening("host.changed", "info", values))
        if storms:
            self._on_announced()
        return len(storms)


def host_changed_event(storm: StormRow, at: Instant, *, source: str, chance: Chance) -> AlertDraft:
    """Tell of a change that many pages of a host have in common, in place of an alert of each."""
    data: JsonObject = {
        "storm": {
            "id": str(storm.id),
            "host": storm.host,
            "pages": storm.pages,
            "sample": list(storm.sample),
            "command": _command(storm),
        },
        "basis": storm.basis,
        "outcome": storm.outcome,
        "excerpt": storm.excerpt,
        "first": to_rfc3339(storm.first_at),
        "latest": to_rfc3339(storm.latest_at),
        "links": {"page": None},
    }
    id_ = chance.ulid(at)
    event = cloud_event(id=id_, source=source, type=HOST_CHANGED, subject=storm.host, at=at, data=data)
    return AlertDraft(id=id_, type=HOST_CHANGED, page_id=None, at=at, event=fit_event(event))


def _command(storm: StormRow) -> str:
    return f"tocsin alerts release {storm.id}"
