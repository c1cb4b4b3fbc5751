"""Fetcher processes, real ones: pages go through them as through the main process, and none of them is missed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.app.crew import FIRST, SECOND, Crew
from tests.builders import html
from tests.origin import Origin, Page, port_of_nobody
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import Assembly
from tocsin.model import HopRequest
from tocsin.ports.messages import Hop
from tocsin.settings import FetchSettings, HostSettings, PageSettings

Patch = pytest.MonkeyPatch
UNREADABLE = f"<p><b {' '.join(f'a{number}' for number in range(1000))}>{'<p>x' * 9_000}<meta name=created content=1>"


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        await origin.start(SECOND)
        yield origin


@pytest.mark.parametrize("fetchers", [0, 1, 2])
async def test_pages_come_to_the_same_in_any_number_of_processes(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    site.pages |= {f"/{n}": Page(html(created=str(n)), etag=f'"{n}"') for n in range(20)}
    site.pages["/gone"] = Page("", status=404)
    urls = [site.url(path, host=host) for path in site.pages for host in (FIRST, SECOND)]
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=FetchSettings(fetchers=fetchers)) as crew:
        first = await crew.check()
        assert len(crew.reports) == len(urls)
        second = await crew.check()

    assert {path: report.outcome for path, report in first.items()} == {
        path.removeprefix("/"): "unreachable" if path == "/gone" else "first" for path in site.pages
    }
    assert {report.outcome for report in second.values()} == {"unchanged", "unreachable"}
    assert sum(report.not_modified for report in crew.reports) == 40
    assert len(crew.starter.started) == 2 * fetchers


async def test_a_redirect_to_a_host_of_another_fetcher_goes_on_there(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/old"] = Page("", status=301, headers={"Location": site.url("/new", host=SECOND)})
    site.pages["/new"] = Page(html(created="1"))
    async with Crew.at(tmp_path, monkeypatch, site.url("/old")) as crew:
        report = (await crew.check())["old"]

    assert report.outcome == "first"
    assert report.final_url == site.url("/new", host=SECOND)
    assert "moved permanently" in (report.problem or "")
    assert [asked.host.split(":")[0] for asked in site.asked("/robots.txt")] == [FIRST, SECOND]


async def test_a_redirect_may_go_there_and_back(tmp_path: Path, monkeypatch: Patch, site: Origin) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/b", host=SECOND)})
    site.pages["/b"] = Page("", status=302, headers={"Location": site.url("/c", host=FIRST)})
    site.pages["/c"] = Page(html(created="1"))
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        report = (await crew.check())["a"]

    assert (report.outcome, report.final_url) == ("first", site.url("/c"))


async def test_a_circle_over_two_fetchers_is_seen(tmp_path: Path, monkeypatch: Patch, site: Origin) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/b", host=SECOND)})
    site.pages["/b"] = Page("", status=302, headers={"Location": site.url("/a", host=FIRST)})
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        report = (await crew.check())["a"]

    assert report.error is not None
    assert report.error[0] == "redirect"
    assert "in a circle" in report.error[1]


async def test_what_fails_at_another_fetchers_host_fails_the_page(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/b", host=SECOND)})
    site.pages["/b"] = Page("", status=500)
    pages = PageSettings(min_gap=timedelta(0), tries=1)
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), pages=pages) as crew:
        report = (await crew.check())["a"]

    assert (report.outcome, report.status, report.attempts) == ("unreachable", 500, 2)
    assert len(site.asked("/b")) == 2


async def test_a_page_that_another_fetcher_received_but_cannot_read_is_not_asked_for_again(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/b", host=SECOND)})
    site.pages["/b"] = Page(UNREADABLE)
    pages = PageSettings(min_gap=timedelta(0), tries=2, retry_refused=True)
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), pages=pages) as crew:
        report = (await crew.check())["a"]

    assert (report.outcome, report.error and report.error[0]) == ("unreachable", "too-complex")
    assert len(site.asked("/b")) == 1


async def test_a_robots_txt_on_another_fetchers_host_is_had_from_there(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    elsewhere = site.url("/robots", host=SECOND)
    site.pages["/robots.txt"] = Page("", status=301, headers={"Location": elsewhere})
    site.pages["/robots"] = Page("User-agent: *\nDisallow: /a", content_type="text/plain")
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        report = (await crew.check())["a"]

    assert report.outcome == "disallowed"
    assert "Disallow: /a" in (report.rule or "")
    assert [asked.host.split(":")[0] for asked in site.asked("/robots")] == [SECOND]


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_T54_what_is_set_at_run_time_holds_in_fetchers_that_are_still_starting(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    site.fallback = Page(html(created="1"))
    urls = site.url("/a"), site.url("/b", host=SECOND)
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=FetchSettings(fetchers=fetchers)) as crew:
        await crew.store.edit_group(None, SystemClock().now(), settings={"headers": {"X-Set": "yes"}}, unset=[])
        await crew.check()

    assert [site.asked(path)[0].headers.get("x-set") for path in ("/a", "/b")] == ["yes", "yes"]


async def test_what_a_robots_txt_said_is_kept_over_restarts(tmp_path: Path, monkeypatch: Patch, site: Origin) -> None:
    site.fallback = Page(html(created="1"))
    async with Crew.at(tmp_path, monkeypatch, site.url("/a"), site.url("/b", host=SECOND)) as crew:
        await crew.check()
        await crew.check()

    assert len(site.asked("/robots.txt")) == 2


async def test_a_host_that_wants_to_be_left_alone_is_so_by_the_next_processes_too(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/a"] = Page("", status=429, headers={"Retry-After": "3600"})
    pages = PageSettings(min_gap=timedelta(0))
    async with Crew.at(tmp_path, monkeypatch, site.url("/a", host=SECOND), pages=pages) as crew:
        outcomes = [(await crew.check())["a"].outcome for _ in range(2)]

    assert outcomes == ["deferred", "deferred"]
    assert len(site.asked("/a")) == 1


async def test_T61_an_outage_is_judged_over_all_fetchers(tmp_path: Path, monkeypatch: Patch) -> None:
    # Three hosts that nobody listens at, of two fetchers: none of these alone sees enough.
    with port_of_nobody() as port:
        urls = [f"http://127.0.0.{number}:{port}/a" for number in (3, 5, 7)]
        async with Crew.at(tmp_path, monkeypatch, *urls) as crew:
            outcomes = {report.outcome for report in (await crew.check()).values()}
            questions = await crew.store.questions()

    assert "deferred" in outcomes
    assert crew.said("outage.began") != []
    assert questions == []


async def test_T60_dead_hosts_are_asked_about_while_a_host_of_another_fetcher_answers(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/good"] = Page(dated("2026-01-01"))
    with port_of_nobody() as port:
        dead = [f"http://127.0.0.{number}:{port}/dead{number}" for number in (3, 5, 7, 9)]
        async with Crew.at(tmp_path, monkeypatch, *dead, site.url("/good")) as crew:
            outcomes = [report.outcome for report in (await crew.check()).values()]
            questions = await crew.store.questions()

    assert sorted(outcomes) == ["first"] + ["unreachable"] * 4
    assert crew.said("outage.began") == []
    assert len(questions) == 4


async def test_T57_a_change_is_rendered_by_whoever_serves_the_host_also_behind_a_redirect(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/b", host=SECOND)})
    site.pages["/b"] = [
        Page(dated("2026-01-01")),
        Page(dated("2026-01-01", "2026-02-02")),
    ]
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        await crew.check()
        await crew.check()
        (alert,) = await crew.store.alerts(limit=10)

    rendering = alert.event["data"]["rendering"]
    assert (rendering["error"], rendering["final_url"]) == (None, site.url("/b", host=SECOND))


def dated(*major: str) -> str:
    return f'<meta name=topper-major content="{" ".join(major)}"><h1>A'


async def test_T62_a_page_that_is_paused_while_it_waits_its_turn_is_not_asked_for(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        asked.set()
        await go_on.wait()

    site.fallback = Page(html(created="1"), wait=hold)
    site.pages["/robots.txt"] = Page("")
    hosts = HostSettings(delay=timedelta(0), concurrency=1)
    urls = {site.url("/one"), site.url("/two")}
    async with Crew.at(tmp_path, monkeypatch, *urls, hosts=hosts) as crew:
        request_id = await crew.store.request_check(None, SystemClock().now())
        async with crew.engine(request_id=request_id) as engine, asyncio.TaskGroup() as group:
            group.create_task(engine.runner.check(asyncio.Event()))
            await asked.wait()
            (waiting,) = urls - {site.url(request.path) for request in site.log}
            withdrawn = watched_for_withdrawals(engine)
            await crew.pause(waiting)
            await withdrawn.wait()
            # Messages are taken in order: once this one is answered, the fetcher knows.
            await crew.ping(engine, f"http://127.0.0.2:{site.port}/")
            go_on.set()

    assert {report.url: report.outcome for report in crew.reports} == {
        **dict.fromkeys(urls, "first"),
        waiting: "skipped",
    }
    assert site.asked(waiting.rpartition("/")[2]) == []


def watched_for_withdrawals(engine: Assembly) -> asyncio.Event:
    """Tell when pages were withdrawn."""
    withdrawn = asyncio.Event()
    fetchers = engine.fetchers
    assert fetchers is not None
    really = fetchers.withdraw

    def withdraw(page_ids: set[int]) -> None:
        really(page_ids)
        if page_ids:
            withdrawn.set()

    fetchers.withdraw = withdraw  # type: ignore[method-assign]  # to look in
    return withdrawn


@pytest.mark.parametrize("fetchers", [0, 1])
async def test_a_stop_asks_for_no_page_that_was_only_given_to_a_fetcher(
    tmp_path: Path, monkeypatch: Patch, site: Origin, fetchers: int
) -> None:
    stopping, dropped = asyncio.Event(), asyncio.Event()

    async def stop() -> None:
        stopping.set()
        await dropped.wait()

    site.pages |= {f"/{n}": Page(html(created="1"), wait=stop) for n in range(30)}
    urls = [site.url(f"/{n}") for n in range(30)]
    hosts = HostSettings(delay=timedelta(0), concurrency=1)
    async with Crew.at(tmp_path, monkeypatch, *urls, fetch=FetchSettings(fetchers=fetchers), hosts=hosts) as crew:
        request_id = await crew.store.request_check(None, SystemClock().now())
        async with crew.engine(request_id=request_id) as engine, asyncio.TaskGroup() as group:
            checkers = engine.fetchers or engine.scheduler._checkers
            drop = checkers.drop

            def note_drop() -> None:
                drop()
                # Whatever the fetcher was told before, it knows once it has answered this.
                group.create_task(release())

            async def release() -> None:
                if engine.fetchers is not None:
                    await crew.ping(engine, site.url("/robots.txt", host=SECOND))
                dropped.set()

            monkeypatch.setattr(checkers, "drop", note_drop)
            await engine.runner.check(stopping)

    asked = [path for path in site.pages if path != "/robots.txt" and site.asked(path)]
    assert len(asked) == 1
    assert [report.url for report in crew.reports] == [site.url(asked[0])]


async def test_a_fetcher_leaves_a_host_alone_that_asked_another_node_for_it(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, crew.engine() as engine:
        assert engine.fetchers is not None
        await engine.fetchers.ready()
        engine.gates.hold(FIRST, SystemClock().monotonic() + 600)
        engine.fetchers.pass_on_holds()

        answers = [await engine.fetchers._answer(Hop(HopRequest(site.url("/", host=host)))) for host in (FIRST, SECOND)]

    assert [type(answer).__name__ for answer in answers] == ["Failed", "Hopped"]
    assert [asked.host.partition(":")[0] for asked in site.log] == [SECOND]
