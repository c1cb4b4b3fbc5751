"""A service whose pages need no browser is as it was before there was one."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Final

import pytest

from tests.journey.running import Home, Service
from tests.origin import Origin, Page

IMPORTED: Final = re.compile(r"^import time: .*\| +(\S+)$", re.MULTILINE)
# What drives a browser, reads its pictures, and carries both out.
UNUSED: Final = ("playwright", "PIL", "numpy", "tocsin.app.browser", "tocsin.adapters.browser")


async def test_a_service_without_pages_in_a_browser_imports_nothing_of_it(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python then writes to standard error what it imports, in fetchers, too.
    monkeypatch.setenv("PYTHONPROFILEIMPORTTIME", "1")
    site.pages["/"] = Page('<meta name=topper-major content="2026-01-01">')
    await home.watch(site.url("/"))
    service = await start()
    await home.outcome(site.url("/"), "first", "unchanged")
    site.pages["/"] = Page('<meta name=topper-major content="2026-01-01 2026-02-02">')
    await home.alert("changed", site.url("/"))
    assert await service.stop() == 0

    imported = set(IMPORTED.findall(home.log.read_text("utf-8")))

    assert {"tocsin.app.assembly", "tocsin.engine.rendering.renderer"} <= imported
    assert {name for name in imported if name.startswith(UNUSED)} == set()
