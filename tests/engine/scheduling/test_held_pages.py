"""A page whose settings in the store cannot be used is held, and nothing else is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from tests.app.crew import Crew
from tests.awareness import NEW, Bench
from tests.builders import HOUR, URL, stored, task
from tests.engine.visiting.checking import Engine, engine_on
from tests.engine.visiting.test_visit import Setting
from tests.origin import Origin, Page
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.engine.fetchers.remote_calls import CROSSING, error_of, failed_of
from tocsin.engine.policies import Policies
from tocsin.errors import SettingsError
from tocsin.model import Attempt, Instruction, JsonObject, PageFilter
from tocsin.ports import Store
from tocsin.settings import PageSettings

A, B, C = "http://one.example/a", "http://one.example/b", "http://two.example/c"
REFUSED = "store, settings of the page: pages.proxy: allowed is the address of an HTTP proxy"


async def put(store: Store, url: str, settings: JsonObject, unset: tuple[str, ...] = ()) -> None:
    """Write settings that no command would take, as an older version may have."""
    (page,) = await store.pages(PageFilter(urls=(url,)))
    await store.edit_pages(
        [page.id], SystemClock().now(), settings=settings, unset=unset, paused=None, group=None, text=None,
        clear_text=False,
    )  # fmt: skip


@asynccontextmanager
async def watching(folder: Path, settings: JsonObject) -> AsyncIterator[Engine]:
    """An engine that is to check three pages, of which the second has such settings."""
    async with engine_on(folder, (A, B, C)) as engine:
        for url in (A, B, C):
            engine.web.page(url, "<!doctype html><title>x</title>")
        await put(engine.store, B, settings)
        yield engine


async def test_the_other_pages_of_its_host_and_list_are_checked(tmp_path: Path) -> None:
    async with watching(tmp_path, {"proxy": "ftp:x"}) as engine:
        results = await engine.run()

    outcomes = {result.report.url: result.report.outcome for result in results}
    assert outcomes == {A: "first", B: "deferred", C: "first"}
    assert engine.web.asked(B) == 0


async def test_its_report_says_what_is_wrong_and_which_command_mends_it(tmp_path: Path) -> None:
    async with watching(tmp_path, {"proxy": "ftp:x"}) as engine:
        await engine.run()
        page = await engine.store.page(B)

    assert page is not None
    assert page.last.report is not None
    kind, why = page.last.report["error"]
    assert kind == "settings"
    assert why.startswith(REFUSED)
    assert why.endswith(f"tocsin watch set {B} --unset proxy")
    assert page.due.why == "its settings cannot be used; see: tocsin doctor"


async def test_a_setting_of_a_group_holds_the_group_alone(tmp_path: Path) -> None:
    async with engine_on(tmp_path, (A, C)) as engine:
        for url in (A, C):
            engine.web.page(url, "<!doctype html><title>x</title>")
        (page,) = await engine.store.pages(PageFilter(urls=(C,)))
        now = SystemClock().now()
        await engine.store.edit_group("news", now, settings={"tries": -1}, unset=())
        await engine.store.edit_pages(
            [page.id], now, settings={}, unset=(), paused=None, group="news", text=None, clear_text=False
        )

        results = await engine.run()

    errors = {result.report.url: result.report.error for result in results}
    held = errors[C]
    assert errors[A] is None
    assert held is not None
    assert held[1].endswith("tocsin watch set --group news --unset tries")


async def test_fetcher_processes_hold_it_too_and_live_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Origin() as site:
        site.pages["/a"] = site.pages["/b"] = Page("<!doctype html><title>x</title>")
        async with Crew.at(tmp_path, monkeypatch, site.url("/a"), site.url("/b")) as crew:
            await put(crew.store, site.url("/b"), {"colour": "red"})

            reports = await crew.check()

    assert {path: report.outcome for path, report in reports.items()} == {"a": "first", "b": "deferred"}
    assert crew.said("fetcher.replaced") == []
    assert [said["url"] for said in crew.said("page.held")] == [site.url("/b")]


async def test_nothing_is_lost() -> None:
    setting = Setting()
    attempts = (Attempt(1, "timeout", None, "nothing came", 1),)
    state, again = stored(created="1"), Instruction("again")

    result = await setting.visit(settings={"tries": -1}, state=state, attempts=attempts, instruction=again, owed=True)

    assert setting.web.asked(URL) == 0
    assert (result.state, result.verdict, result.failure, result.received) == (None, None, None, False)
    assert result.held_attempts == attempts
    assert (result.rule_spent, result.based_on) == (False, state.last_at)


@pytest.mark.parametrize("page_id", [1, 10_000, 20_000, 30_000, 40_000, 50_000, 60_000])
async def test_it_is_looked_at_again_within_an_hour_whatever_its_own_time_is(page_id: int) -> None:
    setting = Setting()

    result = await setting.visit(page_id=page_id, settings={"tries": -1})

    assert result.due.at is not None
    assert 0 < result.due.at - setting.clock.now() <= HOUR


async def test_T52_a_page_that_is_off_stays_off_whatever_else_it_says() -> None:
    result = await Setting().visit(settings={"mode": "off", "tries": -1})

    assert (result.report.problem, result.due.at) == ("off", None)


async def test_an_alert_that_is_owed_waits_until_its_page_may_be_asked_for_again(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        bench = Bench(store)
        await bench.add("a", "b")
        for name in "ab":
            await bench.check(name, NEW)
        url = "https://example.org/a"
        await put(store, url, {"proxy": "ftp:x"})

        await bench.drain()
        told = [event["subject"] for event in await bench.events()]
        await put(store, url, {}, unset=("proxy",))
        bench.clock.set_wall(bench.clock.now() + HOUR)
        await bench.drain()
        later = [event["subject"] for event in await bench.events()]

    assert told == ["https://example.org/b"]
    assert later == [*told, url]
    assert bench.renderer.pages == ["b", "a"]


def test_whatever_needs_no_request_has_what_can_be_read() -> None:
    policy = Policies(PageSettings()).readable(task(settings={"every": "3h", "tries": -1}))

    assert (policy.every, policy.tries) == (timedelta(hours=3), 2)


def test_that_settings_cannot_be_used_crosses_between_processes() -> None:
    error = SettingsError("pages.tries: …; set it anew")

    read = error_of(failed_of(error))

    assert isinstance(error, CROSSING)
    assert (type(read), str(read)) == (SettingsError, str(error))
