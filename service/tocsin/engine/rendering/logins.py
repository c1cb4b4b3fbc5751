"""Cookies that the steps of a page leave by a login: kept by page, and given back at its next visit."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec

from tocsin.errors import FetchFailed, StoreError
from tocsin.model import FailureKind, KeptLogin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tocsin.ports import Clock
    from tocsin.ports.browser import Admission, Browser, BrowserVisit, VisitedPage


class LoginStore(Protocol):
    """Keeps cookies by page; `ports.WatchList` implements it."""

    async def login(self, page_id: int) -> KeptLogin | None:
        """Return what the last login left; None if nothing is kept."""

    async def keep_login(self, page_id: int, login: KeptLogin) -> None:
        """Keep it in place of what there was."""

    async def forget_logins(self, page_ids: Sequence[int]) -> int:
        """Delete it."""


class LoginBrowser:
    """Implements ports.browser.Browser: one that remembers the logins of pages whose steps make one."""

    def __init__(self, browser: Browser, logins: LoginStore, clock: Clock) -> None:
        self._browser, self._logins, self._clock = browser, logins, clock
        self.slots = browser.slots

    async def visit(self, visit: BrowserVisit, admit: Admission) -> VisitedPage:
        """Visit a page with the cookies of its last login, and keep those that it has afterwards."""
        if not visit.page_id or not any(step.lstrip().startswith("fill ") for step in visit.steps):
            return await self._browser.visit(visit, admit)
        # Cookies only save a login: a store that cannot be asked now is no reason to fail.
        kept: KeptLogin | None = None
        with suppress(StoreError):
            kept = await self._logins.login(visit.page_id)
        before = kept.cookies if kept is not None else ""
        try:
            page = await self._browser.visit(msgspec.structs.replace(visit, cookies=before), admit)
        except FetchFailed as exc:
            if before and exc.kind == FailureKind.STEP:
                # The next try logs in anew: these cookies may be what the page did not like.
                with suppress(StoreError):
                    await self._logins.forget_logins([visit.page_id])
            raise
        if page.cookies and page.cookies != before:
            with suppress(StoreError):
                await self._logins.keep_login(visit.page_id, KeptLogin(page.cookies, self._clock.now()))
        return page

    async def close(self) -> None:
        """End the browser."""
        await self._browser.close()
