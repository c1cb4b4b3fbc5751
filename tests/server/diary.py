"""A page with an event and two contacts, and its items as they are kept."""

from __future__ import annotations

from pathlib import Path

import httpx

from tests.claiming import claim_all
from tests.contract.desk import Desk
from tests.server.api.talk import Api
from tests.server.rig import Rig
from tocsin.model import PageItems
from tocsin.spec.microdata.reading.items import read_items
from tocsin.spec.microdata.reading.packing import pack

URL = "https://diary.example/"
AT = "/pages/1/extract"
BODY = b"""<!doctype html><html lang="en"><title>A diary</title>
<div itemscope itemtype="http://microformats.org/profile/hcalendar#vevent">
<h1 itemprop="summary">Jazz &amp; more</h1>
<time itemprop="dtstart" datetime="2026-12-05T19:00:00Z">Saturday</time></div>
<p itemscope itemtype="http://microformats.org/profile/hcard"><b itemprop="fn">Ann Lee</b>
<p itemscope itemtype="http://microformats.org/profile/hcard"><b itemprop="fn">Bob Ray</b>
<article id="one"><h2>One</h2><p>It began.</article><a href="/next">next</a>"""
QUIET = b"<!doctype html><title>Nothing</title><p>No events this week."


def items(body: bytes = BODY, *, at: int) -> PageItems:
    """Its items as they are kept."""
    found = pack(read_items(body, "text/html; charset=utf-8", address=URL))
    return PageItems(at, found.digest, found.packed, found.count, found.is_cut)


async def desk_on(rig: Rig, folder: Path) -> Desk:
    """Whoever checks the pages of this store."""
    claim = await claim_all(rig.store, "engine")
    assert claim is not None
    desk = Desk(rig.store, claim, folder)  # type: ignore[arg-type]  # the only kind of store that there is
    desk.now = rig.clock.now()
    return desk


async def keep(api: Api, desk: Desk, body: bytes = BODY) -> None:
    """Let a check keep the page's items."""
    desk.now = api.rig.clock.now()
    await desk.check(URL, "0", items=items(body, at=desk.now))


async def got(api: Api, form: str, **headers: str) -> httpx.Response:
    """A document of the page."""
    answer = await api.call("GET", f"{AT}/{form}", headers=headers)
    assert answer.status_code in {200, 304}, answer.text
    return answer
