"""Fetcher processes that die, hang or swell: replaced, nothing lost, and the page that did it set aside."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.app.crew import FIRST, SECOND, Crew
from tests.builders import html
from tests.fakes import settle
from tests.origin import Origin, Page
from tocsin.adapters.processes.starting import LocalFetcher, LocalStarter
from tocsin.app import assembly
from tocsin.engine.fetchers import link as fetcher_link
from tocsin.engine.fetchers.link import FetcherLink
from tocsin.engine.hosts.crash_suspects import STRIKES
from tocsin.errors import ProcessError
from tocsin.model import PageFilter
from tocsin.ports.processes import FetcherProcess
from tocsin.settings import FetchSettings, HostRule, HostSettings

Patch = pytest.MonkeyPatch


@pytest.fixture
async def site() -> AsyncIterator[Origin]:
    async with Origin() as origin:
        await origin.start(SECOND)
        for number in range(30):
            origin.pages[f"/{number}"] = Page(html(created=str(number)))
        yield origin


def urls_of(site: Origin) -> list[str]:
    return [site.url(path, host=host) for path in site.pages for host in (FIRST, SECOND)]


async def test_a_fetcher_that_is_killed_is_replaced_and_every_page_is_checked_once(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    asked, never = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        if not asked.is_set():
            asked.set()
            await never.wait()
        while len(crew.said("fetcher.replaced")) < 2:
            # The check is not over before both are known to be dead.
            await settle(1)

    site.pages["/slow"] = Page(html(created="1"), wait=hold)
    urls = urls_of(site)
    async with Crew.at(tmp_path, monkeypatch, *urls) as crew, asyncio.TaskGroup() as group:
        checking = group.create_task(crew.check())
        await asked.wait()
        os.kill(crew.starter.started[0].pid, signal.SIGKILL)
        os.kill(crew.starter.started[1].pid, signal.SIGKILL)
        await checking
        never.set()

    assert sorted(report.url for report in crew.reports) == sorted(urls)
    assert {report.outcome for report in crew.reports} == {"first"}
    assert [values["why"] for values in crew.said("fetcher.replaced")] == ["it was ended by signal 9"] * 2


async def test_T59_who_takes_the_place_of_a_dead_fetcher_leaves_its_hosts_their_delay(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    delay_s = 2.0
    hosts = HostSettings(delay=timedelta(seconds=delay_s), rules={FIRST: HostRule(robots="ignore")})
    came, never = asyncio.Event(), asyncio.Event()

    async def hold() -> None:
        if not came.is_set():
            came.set()
            await never.wait()

    site.pages["/1"] = Page(html(created="1"), wait=hold)
    async with Crew.at(tmp_path, monkeypatch, site.url("/1"), hosts=hosts) as crew, asyncio.TaskGroup() as group:
        checking = group.create_task(crew.check())
        await came.wait()
        os.kill(crew.starter.started[0].pid, signal.SIGKILL)
        await checking
        never.set()

    # It is killed after it has asked, and delays count from its end, however late the site takes note of a request.
    first, second = site.asked("/1")
    assert second.at - first.at >= delay_s


async def test_a_page_that_is_waited_for_is_not_blamed_for_a_fetcher_that_somebody_killed(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    arrived, never = asyncio.Queue[None](), asyncio.Event()

    async def wait() -> None:
        arrived.put_nowait(None)
        if len(site.asked("/slow")) <= STRIKES:
            await never.wait()

    site.pages["/slow"] = Page(html(created="1"), wait=wait)
    fetch = FetchSettings(fetchers=1)
    async with Crew.at(tmp_path, monkeypatch, site.url("/slow"), fetch=fetch) as crew, asyncio.TaskGroup() as group:
        checking = group.create_task(crew.check())
        for _ in range(STRIKES):
            await arrived.get()
            os.kill(crew.starter.started[-1].pid, signal.SIGKILL)
        await checking
        never.set()

    assert [report.outcome for report in crew.reports] == ["first"]


async def watch_for_poison(crew: Crew, url: str, patch: Patch) -> None:
    """Have a fetcher watched from the moment on at which it works on this page: a slow one is not one that hangs."""
    (page,) = await crew.store.pages(PageFilter(urls=(url,)))
    watch = FetcherLink._watch

    async def watched(link: FetcherLink, process: FetcherProcess) -> None:
        while process.named() != page.id:
            await link._clock.sleep(fetcher_link.TICK_S)
        await watch(link, process)

    patch.setattr(FetcherLink, "_watch", watched)


@pytest.mark.parametrize(("mark", "why"), [("kill", "signal 9"), ("hang", "said nothing"), ("swell", "it took ")])
async def test_a_page_that_killed_two_fetchers_is_set_aside_and_asked_about(
    tmp_path: Path, monkeypatch: Patch, site: Origin, mark: str, why: str
) -> None:
    if mark == "hang":
        monkeypatch.setattr(fetcher_link, "SILENT_TICKS", 2)
        monkeypatch.setattr(fetcher_link, "TICK_S", 0.1)
    monkeypatch.setattr(assembly, "OWN_BYTES", -(2**29))
    site.pages["/poison"] = Page(f"<!--{mark}--><h1>A")
    urls = [*urls_of(site)[:20], site.url("/poison", host=SECOND)]
    async with Crew.at(tmp_path, monkeypatch, *urls) as crew:
        await watch_for_poison(crew, site.url("/poison", host=SECOND), monkeypatch)
        found = await crew.check()
        (question,) = await crew.store.questions()

    assert (found["poison"].outcome, found["poison"].error and found["poison"].error[0]) == ("unreachable", "crashed")
    assert {report.outcome for path, report in found.items() if path != "poison"} == {"first"}
    assert len(crew.reports) == len(urls)
    assert len(site.asked("/poison")) == 2
    assert [values.get("url") for values in crew.said("fetcher.replaced")] == [site.url("/poison", host=SECOND)] * 2
    assert all(why in values["why"] for values in crew.said("fetcher.replaced"))
    assert (question.cause, question.pages) == ("crashed", 1)


async def test_T58_a_page_that_kills_where_it_is_rendered_is_told_of_without_a_rendering(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    changed = '<meta name=topper-major content="2026-01-01 {}"><!--kill-renderer--><h1>A'
    site.pages["/a"] = [Page(changed.format("")), Page(changed.format("2026-02-02"))]
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        await crew.check()
        await crew.check()
        alerts = await crew.store.alerts(limit=10)

    (told,) = [alert.event["data"] for alert in alerts if alert.type == "tocsin.page.changed.v1"]
    assert told["rendering"]["error"]["kind"] == "crashed"
    assert [values["url"] for values in crew.said("fetcher.replaced")] == [site.url("/a")] * 2


async def test_a_page_that_kills_before_it_could_be_named_is_found_among_the_others(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/die"] = Page(html(created="1"))
    urls = [*[url for url in urls_of(site) if FIRST in url][:20], site.url("/die")]
    async with Crew.at(tmp_path, monkeypatch, *urls) as crew:
        found = await crew.check()

    assert found["die"].error is not None
    assert found["die"].error[0] == "crashed"
    assert {report.outcome for path, report in found.items() if path != "die"} == {"first"}


async def test_a_poisoned_page_behind_a_redirect_is_the_watched_pages_fault(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/poison", host=SECOND)})
    site.pages["/poison"] = Page("<!--kill-->")
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew:
        report = (await crew.check())["a"]

    assert (report.outcome, report.error and report.error[0]) == ("unreachable", "crashed")
    assert len(site.asked("/poison")) == 2


async def test_a_page_that_goes_on_elsewhere_twice_because_its_fetcher_died_harms_nobody(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    arrived, never = asyncio.Queue[None](), asyncio.Event()

    async def wait() -> None:
        arrived.put_nowait(None)
        if len(site.asked("/far")) == 1:
            await never.wait()

    site.pages["/a"] = Page("", status=302, headers={"Location": site.url("/far", host=SECOND)})
    site.pages["/far"] = Page(html(created="1"), wait=wait)
    async with Crew.at(tmp_path, monkeypatch, site.url("/a")) as crew, asyncio.TaskGroup() as group:
        checking = group.create_task(crew.check())
        await arrived.get()
        os.kill(crew.starter.started[0].pid, signal.SIGKILL)
        await arrived.get()
        never.set()
        await checking

    assert [report.outcome for report in crew.reports] == ["first"]
    assert [values["fetcher"] for values in crew.said("fetcher.replaced")] == [0]


async def test_a_machine_that_has_no_room_for_a_fetcher_is_asked_again_where_one_has_worked(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    monkeypatch.setattr(fetcher_link, "_LONGEST_PAUSE_S", 0.01)
    really_start, refusals = LocalStarter.start, iter(range(3))

    async def start(self: LocalStarter) -> LocalFetcher:
        if len(crew.starter.started) > 1 and next(refusals, None) is not None:
            raise ProcessError("no room")
        return await really_start(self)

    site.pages["/poison"] = Page("<!--kill-->")
    monkeypatch.setattr(LocalStarter, "start", start)
    async with Crew.at(tmp_path, monkeypatch, *urls_of(site)) as crew:
        found = await crew.check()

    assert len(found) == len(site.pages)
    assert [values["error"] for values in crew.said("fetcher.missing")] == ["no room"] * 3


async def test_processes_that_cannot_start_are_an_error_with_its_mend(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    async with Crew.at(tmp_path, monkeypatch, site.url("/1")) as crew:
        crew.starter._module = "tests.app.no_such_module"
        with pytest.raises(ExceptionGroup) as raised:
            await crew.check()

    assert raised.group_contains(ProcessError, match=r"fetch\.fetchers = 0")


async def test_a_fetcher_ends_with_its_stream() -> None:
    process = await LocalStarter().start()

    assert await process.end(60) == 0


async def test_a_fetcher_ignores_the_signals_that_are_meant_for_its_parent(
    tmp_path: Path, monkeypatch: Patch, site: Origin
) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, crew.engine() as engine:
        await crew.ping(engine, site.url("/robots.txt"), site.url("/robots.txt", host=SECOND))
        for process in crew.starter.started:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                os.kill(process.pid, number)
        await crew.ping(engine, site.url("/robots.txt"), site.url("/robots.txt", host=SECOND))

    assert crew.said("fetcher.replaced") == []
    assert len(crew.starter.started) == 2
