"""The demo site of a running service, as somebody with a browser meets it."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

import httpx

from tests.journey.running import CONFIGURATION, PATIENCE_S, until
from tests.journey.test_serving import address, first_token, ready

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service

    Start = Callable[[], Awaitable[Service]]

SHUT = CONFIGURATION.replace('allow = ["127.0.0.0/8"]', "allow = []") + "first_token = true\n"
PAGES = 5


async def test_one_click_begins_it_a_kill_does_not_end_it_and_one_click_does(home: Home, start: Start) -> None:
    home.configure(SHUT)
    service = await start()
    url = await address(home)
    await ready(url)
    token = {"Authorization": f"Bearer {await first_token(home)}"}
    async with httpx.AsyncClient(base_url=url, headers=token, timeout=PATIENCE_S) as browser:
        assert (await browser.post("demo")).status_code == 303
        await until(lambda: _received(browser), what="the first state of a page")
    await service.end(signal.SIGKILL)
    home.log.write_text("")

    again = await start()
    url = await address(home)
    await ready(url)
    async with httpx.AsyncClient(base_url=url, headers=token, timeout=PATIENCE_S) as browser:
        kept = await _pages(browser)
        assert (await browser.post("demo/remove")).status_code == 303
        left = await _pages(browser)

    assert (len(kept), left) == (PAGES, [])
    assert await again.stop() == 0


async def _pages(browser: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await browser.get("api/v1/pages", params={"group": "demo"})).json()["items"]
    return found


async def _received(browser: httpx.AsyncClient) -> bool | None:
    pages = await _pages(browser)
    return (len(pages) == PAGES and any(page["received_at"] for page in pages)) or None
