"""Pictures of renderings: kept, and compared with the one before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeAlias

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import KeptPicture, PictureDifference

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.model import PagePicture, RenderJob
    from tocsin.ports import Telemetry

    # Compares two pictures (PNG), the earlier one first; None where they could not be compared.
    PictureComparison: TypeAlias = Callable[[bytes, bytes], Awaitable[PictureDifference | None]]


class PictureFiles(Protocol):
    """Where pictures are kept; `ports.PictureStore` implements it."""

    async def keep_picture(self, png: bytes) -> str | None:
        """Keep the file of a picture; returns its digest, or None where there is no place for it."""

    async def latest_picture(self, page_id: int) -> tuple[str, bytes] | None:
        """Return the digest and the latest picture of a page."""


class Pictures:
    """Keeps the picture of a rendering before the rendering is written.

    compare  None where pictures cannot be compared on this machine
    """

    def __init__(self, files: PictureFiles, compare: PictureComparison | None, telemetry: Telemetry) -> None:
        self._files, self._compare, self._telemetry = files, compare, telemetry

    async def keep(self, job: RenderJob, taken: PagePicture) -> KeptPicture | None:
        """Keep a picture, and say where it differs from the page's latest one; None where it was not kept."""
        try:
            before = await self._files.latest_picture(job.page_id)
            digest = await self._files.keep_picture(taken.png)
        except StoreError as exc:
            # The alert is worth more than its picture, so it does not wait until there is room.
            values = {"page_id": job.page_id, "url": job.task.url, "error": str(exc)}
            self._telemetry.emit(Happening("picture.lost", "warning", values))
            return None
        if digest is None:
            return None
        name, png = before or (None, b"")
        difference = PictureDifference(0.0) if name == digest else None
        if name not in (None, digest) and self._compare is not None:
            difference = await self._compare(png, taken.png)
        return KeptPicture(digest, taken.width, taken.height, len(taken.png), name, difference)
