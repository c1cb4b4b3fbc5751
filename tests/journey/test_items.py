"""What changed in a page's microdata is in its alert, however the service fared in between."""

from __future__ import annotations

import asyncio
import signal
import time
from typing import TYPE_CHECKING

import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S
from tests.origin import Page
from tocsin.model import to_rfc3339

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.journey.running import Home, Service
    from tests.origin import Origin

    Start = Callable[[], Awaitable[Service]]

VEVENT = "http://microformats.org/profile/hcalendar#vevent"


def page(major: str, *days: str, head: str = "") -> str:
    """A page of events, with the date of its last major change."""
    events = "".join(
        f"<section itemscope itemtype={VEVENT}><h2 itemprop=summary>Bluesday</h2>"
        f"<time itemprop=dtstart datetime={day}>{day}</time></section>"
        for day in days
    )
    declared = f'<meta charset=utf-8><title>Events</title><meta name=topper-major content="{major}">'
    return f"<!doctype html>{declared}{head}{events}"


def now() -> str:
    """The time, as events write it."""
    return to_rfc3339(time.time_ns() // 1000)


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_MD_19_the_new_date_of_an_event_survives_a_kill_between_the_check_and_its_rendering(
    home: Home, site: Origin, start: Start, fetchers: int
) -> None:
    home.configure(f"{CONFIGURATION}[fetch]\nfetchers = {fetchers}\n")
    url = site.url("/events")
    site.pages["/events"] = Page(page("2026-01-01", "2026-05-05"))
    await home.watch(url)
    service = await start()
    await home.outcome(url, "first", "unchanged")

    # The check is answered; the rendering that follows hangs until the service is killed.
    hangs, gone = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        hangs.set()
        await gone.wait()

    latest = page("2026-01-01 2026-02-02", "2026-05-06")
    site.pages["/events"] = [Page(latest), Page(latest, wait=hang)]
    async with asyncio.timeout(PATIENCE_S):
        await hangs.wait()
    await service.end(signal.SIGKILL)
    gone.set()
    site.pages["/events"] = Page(latest)
    assert home.alerts() == []
    await start()

    items = (await home.alert("changed", url))["data"]["items"]

    assert (items["added"], items["removed"], items["changed"]) == (0, 0, 1)
    (change,) = items["changes"]
    assert change["item"] == {"type": VEVENT, "id": None, "position": 1, "label": "Bluesday"}
    assert (change["property"], change["previous"], change["latest"]) == ("dtstart", ["2026-05-05"], ["2026-05-06"])
    async with home.store() as store:
        watched = await store.page(url)
        assert watched is not None
        (kept,) = (await store.item_changes(watched.id)).rows
    assert kept.changes == items

    site.pages["/events"] = Page(page("2026-01-01 2026-02-02 2026-03-03"))
    last = await home.alert("changed", url, new_dates={"major": ["2026-03-03"], "minor": []})
    assert last["data"]["items"]["removed"] == 1


async def test_MD_19_the_first_event_of_a_page_is_added_since_the_page_is_watched(
    home: Home, site: Origin, start: Start
) -> None:
    url = site.url("/events")
    site.pages["/events"] = Page(page("2026-01-01"))
    began = now()
    await home.watch(url)
    added = now()
    await start()
    await home.outcome(url, "first", "unchanged")

    site.pages["/events"] = Page(page("2026-01-01 2026-02-02", "2026-05-06"))
    items = (await home.alert("changed", url))["data"]["items"]

    (change,) = items["changes"]
    assert (change["change"], change["item"]["label"]) == ("added", "Bluesday")
    assert began <= items["since"] <= added


@pytest.mark.parametrize(
    ("fetchers", "head", "section"),
    [
        (0, '<meta name=robots content="noarchive">', ""),
        (0, "", "[items]\nkeep = false\n"),
        (1, "", "[items]\nkeep = false\n"),
    ],
    ids=["the page", "the user", "the user, with a fetcher process"],
)
async def test_LM45_where_the_page_or_the_user_wants_no_items_kept_none_are(
    home: Home, site: Origin, start: Start, fetchers: int, head: str, section: str
) -> None:
    home.configure(f"{CONFIGURATION}[fetch]\nfetchers = {fetchers}\n{section}")
    url = site.url("/events")
    site.pages["/events"] = Page(page("2026-01-01", "2026-05-05", head=head))
    await home.watch(url)
    await start()
    await home.outcome(url, "first", "unchanged")

    site.pages["/events"] = Page(page("2026-01-01 2026-02-02", "2026-05-06", head=head))
    alert = await home.alert("changed", url)

    assert alert["data"]["items"] is None
    async with home.store() as store:
        watched = await store.page(url)
        assert watched is not None
        assert await store.latest_items(watched.id) is None
