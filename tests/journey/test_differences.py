"""What differs in a page's text is in its alert, however the service fared in between."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S
from tests.origin import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

    Start = Callable[[], Awaitable[Service]]

NINE = "We open at nine sharp on every day of the week, and the last visitors are let in at half past five."
TEN = NINE.replace("nine sharp", "ten sharp")


def page(text: str) -> str:
    return f"<!doctype html><meta charset=utf-8><title>The bell</title><main><h1>The bell</h1><p>{text}</p></main>"


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_the_difference_survives_a_kill_between_the_check_and_its_rendering(
    home: Home, site: Origin, start: Start, fetchers: int
) -> None:
    home.configure(f"{CONFIGURATION}[fetch]\nfetchers = {fetchers}\n")
    url = site.url("/a")
    site.pages["/a"] = Page(page(NINE))
    await home.watch(url)
    service = await start()
    await home.outcome(url, "first", "unchanged")

    # The check is answered; the rendering that follows hangs until the service is killed.
    hangs, gone = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        hangs.set()
        await gone.wait()

    site.pages["/a"] = [Page(page(TEN)), Page(page(TEN), wait=hang)]
    async with asyncio.timeout(PATIENCE_S):
        await hangs.wait()
    await service.end(signal.SIGKILL)
    gone.set()
    site.pages["/a"] = Page(page(TEN))
    assert home.alerts() == []
    await start()

    alert = await home.alert("changed", url)

    assert alert["data"]["basis"] == "inferred"
    assert alert["data"]["difference"] == {"added": [TEN], "removed": [NINE], "cut": False}
    (shown,) = (await home.call("diff", url)).records()
    assert [run["text"] for run in shown["runs"] if run["kind"] != "same"] == ["nine", "ten"]
