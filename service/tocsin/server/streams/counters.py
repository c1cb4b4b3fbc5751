"""What the web pages show of a service at work, looked up once for all who look."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from tocsin.model import AlertQuery

if TYPE_CHECKING:
    from tocsin.model import JsonObject
    from tocsin.server.parts import Parts

EVERY_S: Final = 1.0


class Counters:
    """Counters that are at most a second old."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = asyncio.Lock()
        self._read_s = float("-inf")
        self._found: JsonObject = {}

    async def read(self) -> JsonObject:
        """Give them; equal as long as nothing changed."""
        async with self._lock:
            now_s = self._parts.clock.monotonic()
            if now_s - self._read_s >= EVERY_S:
                self._found, self._read_s = await self._look(), now_s
            return self._found

    async def _look(self) -> JsonObject:
        store, live = self._parts.store, self._parts.service.live()
        unseen = await store.tally_alerts(AlertQuery(unseen=True))
        newest = await store.alerts(limit=1)
        return {
            "unseen": {"number": unseen.number, "is_exact": unseen.is_exact},
            "questions": (await store.tally_questions()).number,
            "checks": live.checks,
            "in_flight": live.in_flight,
            "rendering": live.rendering,
            "jobs": sum(job.state == "running" for job in await store.jobs()),
            "position": newest[0].position if newest else 0,
        }
