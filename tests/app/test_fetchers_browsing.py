"""Pages that are read in a browser: the main process has it, and whoever serves the host admits each document."""

from __future__ import annotations

import asyncio
import io
import os
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs
from PIL import Image

from tests.app.crew import FIRST, SECOND, Crew
from tests.fakes import dom
from tests.origin import Origin, Page
from tocsin.adapters.system import SystemClock
from tocsin.engine.rendering.browser_queue import BrowserQueue
from tocsin.errors import BrowserLost, FetchError, FetchFailed
from tocsin.model import FailureKind, PageFilter, PagePicture
from tocsin.ports.browser import BrowserVisit
from tocsin.settings import FetchSettings, HostSettings, PageSettings, RenderSettings

Patch = pytest.MonkeyPatch
PAGES = PageSettings(min_gap=timedelta(0), tries=0, fetch="browser")


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        await origin.start(SECOND)
        yield origin


def dated(*major: str) -> str:
    return f'<meta name=topper-major content="{" ".join(major)}"><title>A</title><h1>A'


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_a_change_of_the_document_that_scripts_make_is_rendered_in_the_browser_and_told_once(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    url, other = site.url("/a"), site.url("/b", host=SECOND)
    sections = {"pages": PAGES, "fetch": FetchSettings(fetchers=fetchers), "render": RenderSettings(screenshot=True)}
    async with Crew.at(tmp_path, monkeypatch, url, other, **sections) as crew:
        crew.browser.on(url, dom(url, dated("2026-01-01")), dom(url, dated("2026-01-01", "2026-02-02")))
        crew.browser.on(other, dom(other, dated("2026-01-01")))
        first = await crew.check()
        second = await crew.check()
        alerts = await crew.store.alerts(limit=10)

    assert [first[path].outcome for path in ("a", "b")] == ["first", "first"]
    assert [second[path].outcome for path in ("a", "b")] == ["major", "unchanged"]
    (alert,) = alerts
    assert (alert.event["data"]["rendering"]["kind"], alert.event["data"]["rendering"]["title"]) == ("browser", "A")
    assert [visit.wants_picture for visit in crew.browser.visits if visit.url == url] == [False, False, True]
    assert site.asked("/a") == []
    assert len(site.asked("/robots.txt")) == 2
    assert crew.browser.is_closed


def picture(colour: str) -> PagePicture:
    """A page of one colour, as the browser draws it."""
    stream = io.BytesIO()
    Image.new("RGB", (320, 480), colour).save(stream, "PNG")
    return PagePicture(stream.getvalue(), 320, 480)


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_a_page_that_only_looks_different_is_told_with_its_picture_once(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    url, text = site.url("/a"), "<title>A</title><main><p>The bridge is open to all who walk.</main>"
    pages = structs.replace(PAGES, signal_rules=("picture by 5 %: minor",))
    async with Crew.at(tmp_path, monkeypatch, url, pages=pages, fetch=FetchSettings(fetchers=fetchers)) as crew:
        crew.browser.on(url, *(dom(url, text, picture=picture(colour)) for colour in ("blue", "blue", "red")))
        found = [(await crew.check())["a"] for _ in range(4)]
        (alert,) = await crew.store.alerts(limit=10)
        page = await crew.store.page(url)
        assert page is not None
        kept = await crew.store.pictures_of(page.id, limit=9)

    assert [(each.outcome, each.problem) for each in found] == [
        (outcome, None) for outcome in ("first", "unchanged", "minor", "unchanged")
    ]
    assert alert.event["data"]["trace"][-1]["why"] == "the picture differs by 100 %; your rule: picture by 5 %: minor"
    assert alert.event["data"]["rendering"]["screenshot"]["changed"] == 1.0
    assert [(each.by_check, each.before) for each in kept] == [(False, kept[1].digest), (True, None)]


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_render_kind_browser_renders_in_the_browser_and_leaves_checks_and_their_state_alone(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    url = site.url("/a")
    site.pages["/a"] = [*(Page(dated(*majors)) for majors in (["1"], ["1", "2"], ["1", "2"]))]
    sections = {
        "pages": PageSettings(min_gap=timedelta(0), tries=0),
        "fetch": FetchSettings(fetchers=fetchers),
        "render": RenderSettings(kind="browser"),
    }
    async with Crew.at(tmp_path, monkeypatch, url, **sections) as crew:
        crew.browser.on(url, dom(url, dated("1", "2", "3") + "<p>made by scripts"))
        outcomes = [(await crew.check())["a"].outcome for _ in range(3)]
        (alert,) = await crew.store.alerts(limit=10)

    assert outcomes == ["first", "major", "unchanged"]
    assert alert.event["data"]["rendering"]["kind"] == "browser"
    assert alert.event["data"]["rendering"]["same_state"] is False
    assert len(crew.browser.visits) == 1


async def test_T62_a_document_on_another_fetchers_host_has_its_turn_there(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    open_, closed = site.url("/open"), site.url("/closed")
    site.pages["/robots.txt"] = Page("User-agent: *\nDisallow: /private", content_type="text/plain")
    async with Crew.at(tmp_path, monkeypatch, open_, closed, pages=PAGES) as crew:
        crew.browser.on(open_, dom(open_, dated("1"), site.url("/home", host=SECOND)))
        crew.browser.on(closed, dom(closed, dated("1"), site.url("/private", host=SECOND)))
        found = await crew.check()

    assert (found["open"].outcome, found["open"].final_url) == ("first", site.url("/home", host=SECOND))
    assert found["closed"].outcome == "disallowed"
    assert {asked.host.split(":")[0] for asked in site.asked("/robots.txt")} == {FIRST, SECOND}


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_T58_a_crash_of_the_browser_is_told_as_one_of_the_page(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    url = site.url("/a")
    pages = PageSettings(min_gap=timedelta(0), tries=1, fetch="browser")
    sections = {"pages": pages, "fetch": FetchSettings(fetchers=fetchers), "hosts": HostSettings(delay=timedelta(0))}
    async with Crew.at(tmp_path, monkeypatch, url, **sections) as crew:
        crew.browser.on(url, FetchFailed(url, FailureKind.CRASHED, "the browser ended"), dom(url, dated("1")))
        report = (await crew.check())["a"]

    assert (report.outcome, report.attempts) == ("first", 2)


async def test_a_fetcher_that_is_killed_amid_visits_loses_no_page(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    urls = [site.url(f"/{number}", host=host) for number in range(5) for host in (FIRST, SECOND)]
    is_killed, visited = False, asyncio.Event()

    async def kill(_visit: BrowserVisit) -> None:
        nonlocal is_killed
        if not is_killed:
            is_killed = True
            for process in list(crew.starter.started):
                os.kill(process.pid, signal.SIGKILL)
            await visited.wait()

    async with Crew.at(tmp_path, monkeypatch, *urls, pages=PAGES) as crew:
        for url in urls:
            crew.browser.on(url, dom(url, dated("1")))
        crew.browser.before = kill
        await crew.check()

    assert sorted(report.url for report in crew.reports) == sorted(urls)
    assert {report.outcome for report in crew.reports} == {"first"}
    assert crew.browser.open == 0


@pytest.mark.parametrize("fetchers", [0, 1])
async def test_a_check_that_the_user_asks_for_tries_a_page_again_that_ended_all_browsers_twice(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    url = site.url("/a")
    sections = {"pages": PAGES, "fetch": FetchSettings(fetchers=fetchers)}
    async with Crew.at(tmp_path, monkeypatch, url, **sections) as crew:
        (page,) = await crew.store.pages(PageFilter())

        async def end_all(_: BrowserVisit) -> None:
            raise BrowserLost(url, "the browser's worker ended", [page.id])

        crew.browser.before = end_all
        request_id = await crew.store.request_check(None, SystemClock().now())
        async with crew.engine(request_id=request_id) as engine:
            async with engine.browser.running():
                ends = [await _kind_of(engine.browser, BrowserVisit(url, page_id=page.id)) for _ in range(3)]
            tried = len(crew.browser.visits)
            crew.browser.before = None
            crew.browser.on(url, dom(url, dated("2026-01-01")))
            await engine.runner.check(asyncio.Event())

    assert (ends, tried) == (["crashed", "set-aside", "set-aside"], 2)
    assert [report.outcome for report in crew.reports] == ["first"]


async def _kind_of(queue: BrowserQueue, visit: BrowserVisit) -> str:
    async def admit(_url: str) -> None:
        pass

    try:
        await queue.visit(visit, admit, is_urgent=True)
    except FetchError as exc:
        return str(exc.kind)
    return "read"
