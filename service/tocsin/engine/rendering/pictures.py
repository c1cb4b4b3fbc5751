"""Pictures of pages: those of renderings are kept, those of checks compared with what is kept before a verdict."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec.structs import replace

from tocsin.errors import StoreError
from tocsin.events import Happening
from tocsin.model import KeptPicture, PictureDifference, SeenPicture

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tocsin.engine.visiting.browsing import BrowserVisits
    from tocsin.model import Instant, PagePicture, RenderJob
    from tocsin.ports import Telemetry
    from tocsin.ports.browser import Admission, BrowserVisit, VisitedPage

    # Compares two pictures (PNG), the earlier one first; None where they could not be compared.
    PictureComparison: TypeAlias = Callable[[bytes, bytes], Awaitable[PictureDifference | None]]


class PictureFiles(Protocol):
    """Where pictures are kept; `ports.PictureStore` implements it."""

    async def keep_picture(self, png: bytes) -> str | None:
        """Keep the file of a picture; returns its digest, or None where there is no place for it."""

    async def latest_picture(self, page_id: int, before: Instant | None = None) -> tuple[str, bytes] | None:
        """Return the digest and the latest picture of a page, from before an instant if one is given."""


class Pictures:
    """Keeps pictures of pages, and says how they differ from the one before.

    compare  None where pictures cannot be compared on this machine
    keeps    pictures are kept at all
    """

    def __init__(
        self, files: PictureFiles, compare: PictureComparison | None, telemetry: Telemetry, *, keeps: bool = True
    ) -> None:
        self._files, self._compare, self._telemetry, self._keeps = files, compare, telemetry, keeps

    async def keep(self, job: RenderJob, taken: PagePicture) -> KeptPicture | None:
        """Keep the picture of a rendering before its row is written; None where it is not kept.

        It is compared with the page's latest picture from before the changes that the rendering shows.
        """
        if not self._keeps:
            return None
        try:
            # A check that compares pictures has noted the changed page already.
            since = min((verdict.at for verdict in job.verdicts), default=None)
            before = await self._files.latest_picture(job.page_id, since)
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
        return _kept(digest, taken, name, difference)

    async def look(self, page_id: int, taken: PagePicture | None) -> SeenPicture:
        """Compare the picture of a check with the page's latest one, before the check is judged.

        The file of one that differs is there afterwards; it is swept away if the check finds nothing new.
        """
        if (why := self._why_not(taken)) is not None or taken is None or self._compare is None:
            return SeenPicture(problem=why)
        try:
            name, png = await self._files.latest_picture(page_id) or (None, b"")
            difference = None
            if name is not None:
                is_same = name == sha256(taken.png).hexdigest()
                difference = PictureDifference(0.0) if is_same else await self._compare(png, taken.png)
                if difference is None:
                    return SeenPicture(problem="its picture was not compared: that took too much time or memory")
                if not difference.share:
                    return SeenPicture()
            digest = await self._files.keep_picture(taken.png)
        except StoreError as exc:
            return SeenPicture(problem=f"its picture was not compared: {exc}")
        if digest is None:
            return SeenPicture(problem="its picture is not compared: there is no folder for it; set store.pictures")
        return SeenPicture(_kept(digest, taken, name, difference))

    def _why_not(self, taken: PagePicture | None) -> str | None:
        """Say why the picture of a check cannot be compared here, with the mend; None if it can."""
        if self._compare is None:
            return "its picture is not compared; run: pip install 'tocsin[pictures]'"
        if not self._keeps:
            return "its picture is not compared, since none is kept; raise snapshots.per_page"
        return "its picture was not compared: the browser gave none" if taken is None else None


def _kept(digest: str, taken: PagePicture, before: str | None, difference: PictureDifference | None) -> KeptPicture:
    return KeptPicture(digest, taken.width, taken.height, len(taken.png), before, difference)


class PictureVisits:
    """Implements `browsing.BrowserVisits`: compares the pictures of checks, in the process that has the store."""

    # Here and not where a check is judged: the pictures are as large as a thousand pages, and stay in one process.

    def __init__(self, visits: BrowserVisits, pictures: Pictures) -> None:
        self._visits, self._pictures = visits, pictures

    async def visit(self, visit: BrowserVisit, admit: Admission, *, is_urgent: bool) -> VisitedPage:
        """Visit a page; see `browsing.BrowserVisits`."""
        page = await self._visits.visit(visit, admit, is_urgent=is_urgent)
        if not visit.compares_picture:
            return replace(page, seen=None)
        return replace(page, picture=None, seen=await self._pictures.look(visit.page_id, page.picture))
