"""States that no address has: a notice after an action, and no connection to the service."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Browser

from tests.web.living import Living, townspeople
from tests.web.looking import DESK, Window

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def living(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Living]:
    """A service with pages on its list; what their checks find does not matter."""
    async with Living.at(tmp_path_factory.mktemp("states")) as found:
        await found.watch(townspeople())
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def window(living: Living, browser: Browser) -> AsyncIterator[Window]:
    async with Window.on(browser, living.url) as found:
        yield found


async def complaints_everywhere(window: Window) -> list[str]:
    """What is wrong with what is shown now, in the widest and the narrowest window."""
    wrong = []
    for width, scheme in ((DESK, "light"), (320, "dark")):
        await window.page.set_viewport_size({"width": width, "height": 800})
        await window.page.emulate_media(color_scheme="light" if scheme == "light" else "dark")
        wrong += [f"{width}: {each}" for each in await window.complaints()]
        over = await window.overflow()
        wrong += [f"{width}: {over} px too wide"] * (over > 0)
    return wrong


async def test_a_notice_after_an_action_is_accessible_and_fits(window: Window) -> None:
    await window.page.set_viewport_size({"width": DESK, "height": 800})
    await window.go("/pages/1")
    await window.page.get_by_role("button", name="Pause").first.click()
    toast = window.page.locator("#told .toast")
    await toast.wait_for()

    wrong = await complaints_everywhere(window)

    await toast.get_by_role("button").click()
    assert wrong == []


async def test_without_a_connection_the_list_stays_with_its_time_and_is_tried_again(
    living: Living, browser: Browser
) -> None:
    async with Window.on(browser, living.url) as window:
        page, banner = window.page, window.page.locator("#offline")
        await page.clock.install()
        await window.go("/pages")
        rows = await page.locator("[data-item]").count()

        await page.context.set_offline(offline=True)
        await banner.wait_for()
        said, left = await banner.inner_text(), await page.locator("[data-item]").count()
        wrong = await complaints_everywhere(window)
        await page.context.set_offline(offline=False)
        await page.clock.run_for(10_000)
        await banner.wait_for(state="hidden")

    assert re.fullmatch(r"Offline: this is the state of \d\d:\d\d\. It is tried again every 10 s\.", said)
    assert (left, wrong) == (rows, [])
