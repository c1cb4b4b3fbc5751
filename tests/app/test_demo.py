"""The demo site within the service: one click begins it, one ends it, and a restart finds it as it was."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.app.crew import Crew
from tests.contract.desk import Desk
from tests.fakes import ManualClock, RecordingTelemetry
from tests.origin import Origin, Page
from tocsin.adapters.demo_site import AUTHORS, SEEN_FOR, ReservedPort
from tocsin.adapters.system import SystemClock
from tocsin.app.demo import DemoSwitch
from tocsin.errors import UsageError
from tocsin.lists.pages import new_page
from tocsin.model import DEMO_GROUP, DEMO_HOST, CheckReport, PageFilter
from tocsin.ports import Clock
from tocsin.settings import FetchSettings, NetworkSettings
from tocsin.spec.html.urls import watch_url

Patch = pytest.MonkeyPatch


@asynccontextmanager
async def desk_of(crew: Crew, clock: Clock | None = None) -> AsyncIterator[DemoSwitch]:
    """A desk as the service has it, whose place the crew's fetchers are told of."""
    place = ReservedPort()
    crew.demo_port = place.port
    desk = DemoSwitch(place, crew.store, clock or SystemClock(), crew.telemetry)
    async with desk.running():
        yield desk


async def urls_of(crew: Crew) -> set[str]:
    return {page.url for page in await crew.store.pages(PageFilter())}


@pytest.mark.parametrize("fetchers", [0, 2])
async def test_its_pages_are_checked_and_the_first_major_change_is_found(
    tmp_path: Path, monkeypatch: Patch, fetchers: int
) -> None:
    sections = {"network": NetworkSettings(), "fetch": FetchSettings(fetchers=fetchers)}
    clock = ManualClock(SystemClock().now())
    async with Crew.at(tmp_path, monkeypatch, **sections) as crew, desk_of(crew, clock) as desk:
        await desk.begin()
        await crew.store.edit_group(DEMO_GROUP, clock.now(), settings={"min_gap": "0s"}, unset=())
        first = await crew.check()
        await clock.advance(SEEN_FOR.total_seconds() + 1)
        second = await crew.check()

    assert {path: report.outcome for path, report in first.items()} == dict.fromkeys(
        [path.strip("/") for path in AUTHORS], "first"
    )
    assert (second["news"].outcome, second["news"].rule) == ("major", "T44")
    assert second["quiet"].outcome == "unchanged"


async def test_no_other_port_of_loopback_is_opened_with_it(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Origin() as private, Crew.at(tmp_path, monkeypatch, network=NetworkSettings()) as crew:
        private.pages["/secret"] = Page("<p>private")
        async with desk_of(crew) as desk:
            await desk.begin()
            await crew.watch(private.url("/secret"), f"http://127.0.0.1:{crew.demo_port}/elsewhere")
            reports = await crew.check()

    assert private.log == []
    assert [report.outcome for report in reports.values()].count("first") == len(AUTHORS)
    assert {error_of(report) for report in reports.values()} == {None, "blocked-address"}


async def test_one_click_ends_it_and_takes_nothing_else_away(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch, "http://site.example/") as crew, desk_of(crew) as desk:
        await desk.begin()
        mine = new_page(watch_url("http://site.example/mine"), group=DEMO_GROUP)
        await crew.store.add_pages([mine], SystemClock().now())

        removed = await desk.end()

        assert (removed, desk.is_on) == (len(AUTHORS), False)
        assert await urls_of(crew) == {"http://site.example/", "http://site.example/mine"}


async def test_begun_twice_it_is_there_once(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, desk_of(crew) as desk:
        await desk.begin()
        await desk.begin()

        assert desk.is_on
        assert await urls_of(crew) == {f"http://{DEMO_HOST}{path}" for path in AUTHORS}


async def test_it_can_be_begun_again_after_its_end(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch, network=NetworkSettings()) as crew, desk_of(crew) as desk:
        await desk.begin()
        await desk.end()
        await desk.begin()
        reports = await crew.check()

    assert {report.outcome for report in reports.values()} == {"first"}


async def test_after_a_restart_its_pages_are_where_they_were(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch, network=NetworkSettings()) as crew:
        async with desk_of(crew) as desk:
            await desk.begin()
        async with desk_of(crew) as desk:
            reports = await crew.check()
            is_on = desk.is_on

    assert is_on
    assert {reports["quiet"].outcome, reports["news"].outcome} == {"first"}


async def test_without_its_pages_a_start_serves_nothing(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, desk_of(crew) as desk:
        assert not desk.is_on


async def test_its_group_is_checked_often_whatever_holds_for_all(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, desk_of(crew) as desk:
        await desk.begin()
        groups = {name: settings for name, _, settings in await crew.store.groups()}

    assert groups[DEMO_GROUP]["every"] == "10s"
    assert groups[DEMO_GROUP]["mode"] == "on"


async def test_a_machine_that_gives_no_port_says_so(tmp_path: Path, monkeypatch: Patch) -> None:
    async with Crew.at(tmp_path, monkeypatch) as crew, desk_of(crew) as desk:
        desk._place.close()

        with pytest.raises(UsageError, match="a port of"):
            await desk.begin()
        assert await urls_of(crew) == set()


def error_of(report: CheckReport) -> str | None:
    return report.error[0] if report.error else None


async def test_every_node_serves_the_site_while_its_pages_are_on_the_list(tmp_path: Path) -> None:
    desk = await Desk.at(tmp_path, "postgresql")
    clock = ManualClock()
    try:
        one, two = (DemoSwitch(ReservedPort(), desk.store, clock, RecordingTelemetry()) for _ in range(2))
        async with one.running(), two.running(), asyncio.TaskGroup() as group:
            following = group.create_task(two.follow())
            on = [two.is_on]
            for click in (one.begin, one.end):
                await click()
                # It looks at each five seconds, and may still be reading.
                for _ in range(20):
                    await clock.advance(5)
                    await desk.store.pages(PageFilter(), limit=1)
                on.append(two.is_on)
            following.cancel()
    finally:
        await desk.store.close()
        desk.behind.remove()

    assert on == [False, True, False]
