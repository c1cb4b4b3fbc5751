"""A calendar program that subscribes to a watched page's events, and hears of one that was put off."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import icalendar

from tests.journey.running import PATIENCE_S, RARELY
from tests.journey.test_serving import address, ready
from tests.origin import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

GIG = """<!doctype html><title>Gigs</title><meta name="topper-major" content="2026-{month}-01">
<p itemscope itemtype="http://microformats.org/profile/hcalendar#vevent"><b itemprop="summary">Jazz</b>
<time itemprop="dtstart" datetime="2026-{month}-05T19:00:00Z">in the evening</time>"""


async def test_a_calendar_program_gets_the_event_anew_when_it_was_put_off_and_the_page_is_not_asked_for_that(
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
        rdf = await program.get("/api/v1/pages/1/extract/ntriples")

    months = [
        event.decoded("DTSTART").month
        for answer in (first, put_off)
        for event in icalendar.Calendar.from_ical(answer.content).walk("VEVENT")
    ]
    async with home.store() as store:
        audit = (await store.audit(limit=10)).rows
    extracted = [entry.detail["form"] for entry in audit if entry.what == "page.extract"]
    assert (months, same.status_code, same.content) == ([5, 6], 304, b"")
    assert (rdf.status_code, extracted) == (200, ["ntriples"])
    assert await service.stop() == 0


async def test_who_asks_for_a_page_whose_host_is_to_be_left_alone_is_told_when_to_ask_again(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]]
) -> None:
    site.pages["/gigs"], site.pages["/busy"] = Page(GIG.format(month="05")), Page("<p>not yet")
    # The host's Retry-After is to be heard by who asks here, not by a check of the service's own.
    home.configure(RARELY)
    await home.watch(*map(site.url, site.pages))
    service = await start()
    url = await address(home)
    await ready(url)
    for path in site.pages:
        await home.outcome(site.url(path), "first")
    site.pages["/busy"] = Page("busy", status=503, headers={"Retry-After": "3600"})

    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as program:
        failed = await program.get("/api/v1/pages/2/extract/ntriples")
        refused = await program.get("/api/v1/pages/1/extract/ntriples")
        kept = await program.get("/api/v1/pages/1/extract/ical")

    assert (failed.status_code, failed.headers["retry-after"]) == (502, "3600")
    assert (refused.status_code, refused.headers["content-type"]) == (503, "application/problem+json")
    assert 3000 < int(refused.headers["retry-after"]) <= 3600
    assert (kept.status_code, b"Jazz" in kept.content) == (200, True)
    assert await service.stop() == 0
