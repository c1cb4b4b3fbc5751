"""Telling once of a change that many pages of a host have in common."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

from tocsin.engine.alerting.announcing import Announcing
from tocsin.engine.judging.differences import difference_data
from tocsin.engine.judging.event_size import fit_event
from tocsin.errors import DamagedText
from tocsin.events import HOST_CHANGED, Happening, cloud_event
from tocsin.model import AlertDraft, to_rfc3339
from tocsin.ports import StormStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import timedelta

    from tocsin.model import Instant, JsonObject, StormRow
    from tocsin.ports import Chance, Clock, Telemetry

_ASKED_FOR_TEXTS: Final = 10
"""So many pages are looked at for texts that show what changed; not of every page they may be kept."""


class StormsAndTexts(StormStore, Protocol):
    """What announcing storms needs of the store."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """See `ports.RenderStore`."""


class Storms(Announcing):
    """Announces storms once their gathering has ended.

    source        the instance's name, the `source` of its events
    chance        where their ids come from
    gather        how long pages that share a change are gathered
    on_announced  is told that alerts were written
    """

    failed = "storms.failed"

    def __init__(
        self,
        store: StormsAndTexts,
        source: str,
        chance: Chance,
        gather: timedelta,
        clock: Clock,
        telemetry: Telemetry,
        *,
        on_announced: Callable[[], None],
    ) -> None:
        super().__init__(gather, clock, telemetry, on_announced=on_announced)
        self._store, self._source, self._chance = store, source, chance

    async def _announce(self, due_by: Instant) -> int:
        storms = await self._store.storms_to_announce(due_by)
        for storm in storms:
            excerpt = await self._excerpt(storm)
            now = self._clock.now()
            alert = host_changed_event(storm, excerpt, now, source=self._source, chance=self._chance)
            await self._store.announce_storm(storm.id, alert, now, excerpt=excerpt)
            values = {"storm": storm.id, "host": storm.host, "pages": storm.pages, "each": _command(storm)}
            self._telemetry.emit(Happening("host.changed", "info", values))
        return len(storms)

    async def _excerpt(self, storm: StormRow) -> JsonObject | None:
        """Show what changed, by the texts of one of its pages; None where none of them may be kept."""
        for verdict in await self._store.storm_verdicts(storm.id, after=(0, 0), limit=_ASKED_FOR_TEXTS):
            texts = await self._store.texts_around(verdict.page_id, verdict.at)
            try:
                if texts is not None and (shown := await asyncio.to_thread(difference_data, *texts)) is not None:
                    return shown
            except DamagedText:
                # Whoever asks for this page's own difference is told; the next page serves as well.
                continue
        return None


def host_changed_event(
    storm: StormRow, excerpt: JsonObject | None, at: Instant, *, source: str, chance: Chance
) -> AlertDraft:
    """Tell of a change that many pages of a host have in common, in place of an alert of each.

    excerpt  what changed, as `difference` in the event of a page shows it
    """
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
        "excerpt": excerpt,
        "first": to_rfc3339(storm.first_at),
        "latest": to_rfc3339(storm.latest_at),
        "links": {"page": None},
    }
    id_ = chance.ulid(at)
    event = cloud_event(id=id_, source=source, type=HOST_CHANGED, subject=storm.host, at=at, data=data)
    return AlertDraft(id=id_, type=HOST_CHANGED, page_id=None, at=at, event=fit_event(event))


def _command(storm: StormRow) -> str:
    return f"tocsin alerts release {storm.id}"
