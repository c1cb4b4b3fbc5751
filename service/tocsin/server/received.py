"""Pages received for a trial of their settings: kept in memory for some minutes, and nowhere else."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from tocsin.errors import Disallowed, FetchError, Postponed, Withdrawn
from tocsin.model import Instant, PagePicture, PageRow, Rendered
from tocsin.server.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.ports import Clock, Service

# Bodies of pages are not stored. One that was received for a trial serves the trials of the next minutes, so that they
# cost its server one request.
_KEPT_US: Final = 600 * 1_000_000
_MOST_BYTES: Final = 16 * 2**20
_S: Final = 1_000_000


class ReceivedPages:
    """Pages that were received for trials, in memory, for ten minutes and 16 MiB at most."""

    def __init__(self) -> None:
        self._pages: OrderedDict[int, tuple[str, Rendered]] = OrderedDict()
        self._turns: dict[int, asyncio.Lock] = {}

    async def get(self, service: Service, clock: Clock, page: PageRow, *, read_as: str = "") -> Rendered:
        """Return a page as it was received within the last ten minutes, or receive it now; raises Problem.

        read_as  names the settings by which it is received, where they are on trial; it is received again by others
        """
        # Two trials of a page at once cost one request.
        turn = self._turns.setdefault(page.id, asyncio.Lock())
        try:
            async with turn:
                return self._known(page.id, read_as, clock.now()) or await self._receive(service, clock, page, read_as)
        finally:
            if not turn.locked():
                self._turns.pop(page.id, None)

    def picture(self, page_id: int, now: Instant) -> PagePicture | None:
        """Return the picture of a page that was received in a browser within the last ten minutes; None without any."""
        _, known = self._pages.get(page_id, ("", None))
        return known.picture if known is not None and 0 <= now - known.received_at < _KEPT_US else None

    def _known(self, page_id: int, read_as: str, now: Instant) -> Rendered | None:
        kept_as, known = self._pages.get(page_id, ("", None))
        is_new = known is not None and kept_as == read_as and 0 <= now - known.received_at < _KEPT_US
        return known if is_new else None

    async def _receive(self, service: Service, clock: Clock, page: PageRow, read_as: str) -> Rendered:
        with refusing(clock):
            received = await service.receive(page, is_trial=True)
        self._pages.pop(page.id, None)
        self._pages[page.id] = read_as, received
        while len(self._pages) > 1 and sum(_bytes_of(each) for _, each in self._pages.values()) > _MOST_BYTES:
            self._pages.popitem(last=False)
        return received


def _bytes_of(page: Rendered) -> int:
    return len(page.body) + (len(page.picture.png) if page.picture is not None else 0)


@contextmanager
def refusing(clock: Clock) -> Iterator[None]:
    """Translate what keeps a page from being received into a Problem."""
    try:
        yield
    except Withdrawn as exc:
        raise Problem(409, "paused", "The page is paused", "no request is made for it", mend="resume it") from exc
    except Disallowed as exc:
        raise Problem(409, "disallowed", "robots.txt forbids the page", str(exc)[:500]) from exc
    except Postponed as exc:
        wait_s = max((exc.not_before - clock.now()) // _S, 1)
        headers = {"Retry-After": str(wait_s)}
        detail = f"its host is asked again in {wait_s} s"
        raise Problem(503, "host-busy", "The host of the page is not asked now", detail, headers=headers) from exc
    except FetchError as exc:
        detail = f"{exc.kind}: {exc.detail}"[:500]
        mend = "the page says more: GET /api/v1/pages/{id}"
        raise Problem(502, "not-received", "The page could not be received", detail, mend=mend) from exc
