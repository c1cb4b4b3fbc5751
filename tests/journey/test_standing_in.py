"""A page from behind a login: whoever subscribed to it has the page again, and not what stood in its place."""

from __future__ import annotations

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
async def test_a_page_that_is_back_as_it_was_is_given_in_every_form(
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
            answers = [await program.get(f"/api/v1/pages/1/extract/{form}") for form in ("ical", "turtle", "meta")]
            found.append([(each.status_code, each.headers.get("tocsin-stale")) for each in answers])
            texts = [each.text for each in answers if each.is_success]
            assert all("Winter fair" in text or "Concerts" in text for text in texts), (outcome, texts)

    given, stale, refused = (200, None), (200, "suspect"), (502, None)
    assert found == [[refused if robots else stale, refused, refused], [given] * 3, [stale] * 3, [given] * 3]
    assert await service.stop() == 0
