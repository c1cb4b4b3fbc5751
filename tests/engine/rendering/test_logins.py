"""Cookies of a login: given to the page's next visit, replaced, and of no use after a step that failed."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from tests.fakes import EagerClock, FakeBrowser, dom
from tocsin.engine.rendering.logins import LoginBrowser
from tocsin.errors import FetchFailed, StoreError
from tocsin.model import FailureKind, KeptLogin
from tocsin.ports.browser import BrowserVisit

PAGE = "https://app.example/"
VISIT = BrowserVisit(PAGE, steps=("fill #user USER", "press Enter"), secrets={"USER": "ada"}, page_id=7)
SHOWN = msgspec.structs.replace(dom(PAGE, b"<p>News"), cookies="new")


class Logins:
    """Keeps logins in memory."""

    def __init__(self, of: str = "") -> None:
        self.kept = {7: KeptLogin(of, 0)} if of else {}
        self.fails = False

    async def login(self, page_id: int) -> KeptLogin | None:
        self._work()
        return self.kept.get(page_id)

    async def keep_login(self, page_id: int, login: KeptLogin) -> None:
        self._work()
        self.kept[page_id] = login

    async def forget_logins(self, page_ids: Sequence[int]) -> int:
        self._work()
        return sum(self.kept.pop(page_id, None) is not None for page_id in page_ids)

    def _work(self) -> None:
        if self.fails:
            raise StoreError("it is full")


async def _admit(_url: str) -> None:
    """Admit each document."""


def _opened(logins: Logins) -> tuple[LoginBrowser, FakeBrowser]:
    browser = FakeBrowser()
    browser.on(PAGE, SHOWN)
    return LoginBrowser(browser, logins, EagerClock()), browser


async def test_the_cookies_of_a_login_are_kept_and_given_to_the_next_visit() -> None:
    logins = Logins()
    browser, far = _opened(logins)

    await browser.visit(VISIT, _admit)
    await browser.visit(VISIT, _admit)

    assert [visit.cookies for visit in far.visits] == ["", "new"]
    assert logins.kept[7].cookies == "new"


async def test_after_a_step_that_failed_the_next_visit_logs_in_anew() -> None:
    logins = Logins(of="old")
    browser, far = _opened(logins)
    far.on(PAGE, FetchFailed(PAGE, FailureKind.STEP, "step 3, wait #news: no element"))

    with pytest.raises(FetchFailed):
        await browser.visit(VISIT, _admit)

    assert (far.visits[0].cookies, logins.kept) == ("old", {})


async def test_another_failure_leaves_the_cookies() -> None:
    logins = Logins(of="old")
    browser, far = _opened(logins)
    far.on(PAGE, FetchFailed(PAGE, FailureKind.TIMEOUT, "not read within 30 s"))

    with pytest.raises(FetchFailed):
        await browser.visit(VISIT, _admit)

    assert logins.kept[7].cookies == "old"


@pytest.mark.parametrize("changes", [{"steps": ("click .filled",)}, {"page_id": 0}])
async def test_a_page_without_a_login_keeps_none(changes: dict[str, object]) -> None:
    logins = Logins(of="old")
    browser, far = _opened(logins)

    await browser.visit(msgspec.structs.replace(VISIT, **changes), _admit)

    assert (far.visits[0].cookies, logins.kept[7].cookies) == ("", "old")


async def test_a_store_that_fails_only_costs_a_login() -> None:
    logins = Logins(of="old")
    logins.fails = True
    browser, far = _opened(logins)

    assert await browser.visit(VISIT, _admit) == SHOWN
    assert far.visits[0].cookies == ""


async def test_it_closes_the_browser() -> None:
    browser, far = _opened(Logins())

    await browser.close()

    assert (browser.slots, far.is_closed) == (far.slots, True)
