"""How the texts and items of a page differ from those kept before, as its alerts show it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from msgspec.structs import replace

from tocsin.engine.judging.contents import difference_data, difference_of_items
from tocsin.errors import DamagedItems, DamagedText
from tocsin.events import Happening

if TYPE_CHECKING:
    from tocsin.model import Instant, JsonObject, PageItems, PendingVerdict, RenderJob, Snapshot
    from tocsin.ports import Telemetry


class ContentStore(Protocol):
    """Where texts and items of pages are kept; `ports.RenderStore` implements it."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """Return the packed texts before and at an instant; None where one of them was not kept."""

    async def latest_text(self, page_id: int) -> bytes | None:
        """Return the packed text that was kept last; None without any."""

    async def items_before(self, page_id: int) -> PageItems | None:
        """Return what the items of a page are compared with; None where nothing is known of them."""


class Comparisons:
    """Compares contents of pages on a thread beside the loop, one at a time."""

    def __init__(self, kept: ContentStore, telemetry: Telemetry) -> None:
        self._kept, self._telemetry = kept, telemetry
        # One thread at a time: comparing holds the interpreter, and further threads would only delay the loop.
        self._one = asyncio.Lock()

    async def add_differences(self, job: RenderJob) -> RenderJob:
        """Add to each verdict of a job the difference between the page's text at it and the one before.

        The difference is None where two texts were not kept. Raises StoreError.
        """
        verdicts = [await self._add_difference(job, verdict) for verdict in job.verdicts]
        return replace(job, verdicts=tuple(verdicts))

    async def add_last_difference(self, job: RenderJob, text: Snapshot | None) -> RenderJob:
        """Add to a job's last verdict the difference between its rendering's text and the one kept before.

        text  None where the rendering takes none
        A difference found by checks stays. Raises StoreError.
        """
        if text is None or not job.verdicts or job.verdicts[-1].data["difference"] is not None:
            return job
        before = await self._kept.latest_text(job.page_id)
        if before is None:
            return job
        *others, last = job.verdicts
        difference = await self._compare_texts(job, before, text.packed)
        return replace(job, verdicts=(*others, replace(last, data=last.data | {"difference": difference})))

    async def compare_items(self, job: RenderJob, found: PageItems | None) -> JsonObject | None:
        """Show how a rendering's items differ from those kept before; None where they do not.

        found  None where the items were not read
        Raises StoreError.
        """
        if found is None or not found.packed:
            return None
        before = await self._kept.items_before(job.page_id)
        if before is None:
            return None
        try:
            async with self._one:
                return await asyncio.to_thread(difference_of_items, before, found)
        except DamagedItems as exc:
            self._warn("items.damaged", job, exc)
            return None

    async def _add_difference(self, job: RenderJob, verdict: PendingVerdict) -> PendingVerdict:
        texts = await self._kept.texts_around(job.page_id, verdict.at)
        difference = await self._compare_texts(job, *texts) if texts is not None else None
        return replace(verdict, data=verdict.data | {"difference": difference})

    async def _compare_texts(self, job: RenderJob, before: bytes, latest: bytes) -> JsonObject | None:
        try:
            async with self._one:
                return await asyncio.to_thread(difference_data, before, latest)
        except DamagedText as exc:
            self._warn("text.damaged", job, exc)
            return None

    def _warn(self, name: str, job: RenderJob, exc: Exception) -> None:
        values: JsonObject = {"page_id": job.page_id, "url": job.task.url, "error": str(exc)}
        self._telemetry.emit(Happening(name, "warning", values))
