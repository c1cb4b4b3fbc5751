"""The texts of pages, as far as they may be kept, and what differs between two of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

import msgspec

from tocsin.errors import DamagedText
from tocsin.events import Happening
from tocsin.model import NO_COPY
from tocsin.spec.differences.compare import compare_texts, narrow
from tocsin.spec.differences.excerpt import excerpt
from tocsin.spec.signals.texts import unpack_text

if TYPE_CHECKING:
    from tocsin.model import Instant, JsonObject, PendingVerdict, RenderJob, Snapshot
    from tocsin.ports import Telemetry
    from tocsin.spec.robots.directives import Directives

_MOST_COMPARED = 2**18
"""Letters, of what is left when both texts' common beginning and end are taken off: an excerpt shows far less."""


class Texts(Protocol):
    """Who has the texts of pages; `ports.RenderStore` is one."""

    async def texts_around(self, page_id: int, at: Instant) -> tuple[bytes, bytes] | None:
        """The text before a page's at an instant, and that one, packed; None where one of them was not kept."""

    async def latest_text(self, page_id: int) -> bytes | None:
        """The text of a page that was kept last, packed; None without any."""


def may_keep(said: Directives | None) -> bool:
    """Say whether a page lets copies of its text be kept (LM-45); one that was not read is as it was before."""
    return said is None or (said.index and said.archive)


def to_keep(said: Directives | None, snapshot: Snapshot | None) -> Snapshot | None:
    """Say what is to be kept of a page's text; where the page wants no copy kept, those that were go, too."""
    return snapshot if may_keep(said) else NO_COPY


def difference_data(before: bytes, latest: bytes) -> JsonObject | None:
    """Show what differs between two texts as an event does; None where they are the same to people.

    Both packed. Raises DamagedText.
    """
    was, now, is_cut = narrow(unpack_text(before), unpack_text(latest), _MOST_COMPARED)
    shown = excerpt(compare_texts(was, now, by="words"))
    if is_cut:
        shown["cut"] = True
    return shown if shown["added"] or shown["removed"] else None


class Differences:
    """Finds what differs in pages' texts: on a thread beside the loop, and of one verdict at a time."""

    def __init__(self, texts: Texts, telemetry: Telemetry) -> None:
        self._texts, self._telemetry = texts, telemetry
        self._one = asyncio.Lock()

    async def told(self, job: RenderJob) -> RenderJob:
        """Let each verdict of a job say what differs between the page's text at it and the one before.

        Null where it has no two texts. Raises StoreError.
        """
        verdicts = [await self._tell(job, verdict) for verdict in job.verdicts]
        return msgspec.structs.replace(job, verdicts=tuple(verdicts))

    async def rendered(self, job: RenderJob, text: Snapshot | None) -> RenderJob:
        """Let the last verdict of a job say what differs between the text of its rendering and the one kept before.

        text  None where the rendering takes none
        What was told of it by the texts of checks stays. Raises StoreError.
        """
        if text is None or not job.verdicts or job.verdicts[-1].data["difference"] is not None:
            return job
        before = await self._texts.latest_text(job.page_id)
        if before is None:
            return job
        *others, last = job.verdicts
        difference = await self._find(job, before, text.packed)
        told = msgspec.structs.replace(last, data=last.data | {"difference": difference})
        return msgspec.structs.replace(job, verdicts=(*others, told))

    async def _tell(self, job: RenderJob, verdict: PendingVerdict) -> PendingVerdict:
        texts = await self._texts.texts_around(job.page_id, verdict.at)
        difference = await self._find(job, *texts) if texts is not None else None
        return msgspec.structs.replace(verdict, data=verdict.data | {"difference": difference})

    async def _find(self, job: RenderJob, before: bytes, latest: bytes) -> JsonObject | None:
        try:
            async with self._one:
                return await asyncio.to_thread(difference_data, before, latest)
        except DamagedText as exc:
            self._telemetry.emit(
                Happening("text.damaged", "warning", {"page_id": job.page_id, "url": job.task.url, "error": str(exc)})
            )
            return None
