"""A calendar program that subscribes to a watched page's events, and hears of one that was put off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import icalendar

from tests.journey.running import PATIENCE_S
from tests.journey.test_serving import address, ready
from tests.origin import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

GIG = """<!doctype html><title>Gigs</title><meta name="topper-major" content="2026-{month}-01">
<p itemscope itemtype="http://microformats.org/profile/hcalendar#vevent"><b itemprop="summary">Jazz</b>
<time itemprop="dtstart" datetime="2026-{month}-05T19:00:00Z">in the evening</time>"""


async def test_a_calendar_program_gets_the_event_anew_when_it_was_put_off(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]]
) -> None:
    site.pages["/gigs"] = Page(GIG.format(month="05"))
    await home.watch(site.url("/gigs"))
    service = await start()
    url = await address(home)
    await ready(url)
    await home.outcome(site.url("/gigs"), "first", "unchanged")
    token = json.loads((await home.call("token", "add", "calendar", "--scope", "read", "--json")).out)["token"]

    async with httpx.AsyncClient(base_url=url, auth=("calendar", token), timeout=PATIENCE_S) as program:
        first = await program.get("/api/v1/pages/1/extract/ical")
        known = {"If-None-Match": first.headers["etag"]}
        same = await program.get("/api/v1/pages/1/extract/ical", headers=known)
        site.pages["/gigs"] = Page(GIG.format(month="06"))
        await home.alert("changed", site.url("/gigs"))
        put_off = await program.get("/api/v1/pages/1/extract/ical", headers=known)

    months = [
        event.decoded("DTSTART").month
        for answer in (first, put_off)
        for event in icalendar.Calendar.from_ical(answer.content).walk("VEVENT")
    ]
    assert (months, same.status_code, same.content) == ([5, 6], 304, b"")
    assert await service.stop() == 0
