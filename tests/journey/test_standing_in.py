"""A page from behind a login: subscribers get the page, and never a login page in its place."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.journey.running import PATIENCE_S, RARELY
from tests.journey.test_serving import address, ready
from tests.origin import Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

FAIR = """<!doctype html><title>Concerts</title>%s<meta name="topper-minor" content="2026-11-01">
<article itemscope itemtype="http://microformats.org/profile/hcalendar#vevent"><h2 itemprop="summary">Winter fair</h2>
<time itemprop="dtstart" datetime="2026-12-10">in December</time></article>"""
LOGIN = """<!doctype html><title>Log in</title><form action="/login" method="post"><input name="user">
<input type="password" name="p"><button>Log in</button></form>"""


@pytest.mark.parametrize("robots", ["", '<meta name="robots" content="noarchive">'])
async def test_a_calendar_never_shows_what_stood_in_the_page_s_place(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]], robots: str
) -> None:
    page, login = Page(FAIR % robots, etag='"fair"'), Page(LOGIN, etag='"login"')
    document = Page("%PDF-1.4", etag='"document"')
    site.pages["/fair"] = page
    # Each check is one that is asked for here, and ends otherwise than the one before.
    home.configure(RARELY)
    await home.watch(site.url("/fair"))
    service = await start()
    url = await address(home)
    await ready(url)
    await home.outcome(site.url("/fair"), "first")

    found = []
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as program:
        for stands, outcome in ((login, "suspect"), (page, "unchanged"), (document, "suspect"), (page, "unchanged")):
            site.pages["/fair"] = stands
            await home.call("check", site.url("/fair"))
            await home.outcome(site.url("/fair"), outcome)
            answer = await program.get("/api/v1/pages/1/extract/ical")
            found.append((answer.status_code, answer.headers.get("tocsin-stale"), "Winter fair" in answer.text))

    given, stale, refused = (200, None, True), (200, "suspect", True), (404, None, False)
    assert found == ([refused] * 4 if robots else [stale, given, stale, given])
    assert await service.stop() == 0


async def test_a_page_stays_held_over_many_checks_a_restart_and_a_check_by_hand(
    home: Home, site: Origin, start: Callable[[], Awaitable[Service]]
) -> None:
    declared = Page('<!doctype html><title>News</title><meta name="topper-major" content="2026-11-01">', etag='"page"')
    plain = Page("<!doctype html><title>Hours</title><p>The harbour office opens at eight every day of the week.</p>")
    stands_in = [Page(gzip.compress(FAIR.encode(), mtime=0)), Page(bytes(range(256)) * 4), Page(LOGIN)]
    urls = [site.url("/declared"), site.url("/plain")]
    site.pages |= {"/declared": declared, "/plain": plain}
    home.configure(RARELY)
    await home.watch(*urls)

    async def check() -> list[str]:
        called = await home.call("check", "--json")
        return sorted(record["outcome"] for record in called.records() if "outcome" in record)

    found = [await check()]
    for stands in stands_in:
        site.pages |= {"/declared": stands, "/plain": stands}
        found.append(await check())
    service = await start()
    await home.hears("engine.started")
    found.append(await check())
    site.pages |= {"/declared": declared, "/plain": plain}
    found.append(await check())
    assert await service.stop() == 0

    assert found == [["first"] * 2, *[["suspect"] * 2] * 4, ["unchanged"] * 2]
    assert [alert["type"].split(".")[-2] for alert in home.alerts()] == ["suspect"] * 2
