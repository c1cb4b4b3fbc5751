"""What a service says of its work when it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.journey.running import RARELY
from tests.origin import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

BODY = "<title>A</title>" + "x" * 3000


async def test_a_service_says_at_its_end_what_was_not_sent_again(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]]
) -> None:
    site.pages["/a"] = Page(BODY, etag='"1"')
    # Now and then a check makes no conditions: this is the second one, which does.
    home.configure(RARELY)
    await home.watch(site.url("/a"))
    service = await start()
    await home.outcome(site.url("/a"), "first")
    checked = await home.call("check", site.url("/a"))
    await service.stop()

    (record,) = checked.records()
    (figures,) = [line for line in home.said() if line["event"] == "engine.stopped"]
    assert record["not_modified"] is True
    assert figures["checks"] >= 2
    assert figures["saved_bytes"] == figures["not_modified"] * len(BODY) > 0
