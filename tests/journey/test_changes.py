"""Changes of a page, from its site to alert, history and calendar, also over kills and restarts."""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import time
from collections.abc import Awaitable, Callable

import httpx
import icalendar
import pytest

from tests.journey.running import CONFIGURATION, PATIENCE_S, RARELY, Home, Service
from tests.journey.test_serving import address, ready
from tests.origin import Origin, Page
from tocsin.model import to_rfc3339

Start = Callable[[], Awaitable[Service]]


NINE = "We open at nine sharp on every day of the week, and the last visitors are let in at half past five."
TEN = NINE.replace("nine sharp", "ten sharp")


def bell_page(text: str) -> str:
    return f"<!doctype html><meta charset=utf-8><title>The bell</title><main><h1>The bell</h1><p>{text}</p></main>"


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_the_difference_survives_a_kill_between_the_check_and_its_rendering(
    home: Home, site: Origin, start: Start, fetchers: int
) -> None:
    home.configure(f"{CONFIGURATION}[fetch]\nfetchers = {fetchers}\n")
    url = site.url("/a")
    site.pages["/a"] = Page(bell_page(NINE))
    await home.watch(url)
    service = await start()
    await home.outcome(url, "first", "unchanged")

    # The check is answered; the rendering that follows hangs until the service is killed.
    hangs, gone = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        hangs.set()
        await gone.wait()

    site.pages["/a"] = [Page(bell_page(TEN)), Page(bell_page(TEN), wait=hang)]
    async with asyncio.timeout(PATIENCE_S):
        await hangs.wait()
    await service.end(signal.SIGKILL)
    gone.set()
    site.pages["/a"] = Page(bell_page(TEN))
    assert home.alerts() == []
    await start()

    alert = await home.alert("changed", url)

    assert alert["data"]["basis"] == "inferred"
    found = alert["data"]["difference"]
    assert (found["added"], found["removed"], found["cut"]) == ([TEN], [NINE], False)
    (shown,) = (await home.call("diff", url)).records()
    assert [run["text"] for run in shown["runs"] if run["kind"] != "same"] == ["nine", "ten"]


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
    document = Page(b"PK\x03\x04", content_type="application/zip", etag='"document"')
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
