"""What the scheduler keeps going through: a store that fails for a moment, slow hosts, and edits at a bad moment."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import URL, html
from tests.engine.visiting.checking import Meddled, engine_on, many, run_until_asked, watch
from tests.fakes import cut_off
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.errors import StoreError
from tocsin.model import PageFilter
from tocsin.settings import HostRule, HostSettings

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "http://added.example/later"


async def fail() -> None:
    message = "tocsin.db: disk I/O error"
    raise StoreError(message)


async def test_a_read_that_fails_once_loses_no_host(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.scheduler._store = Meddled(engine.store, "due_pages", 1, fail)

        await run_until_asked(engine)

        assert "scheduler.failed" in engine.telemetry.names()


async def test_a_probe_whose_read_fails_loses_no_host(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.outage.resume(SystemClock().now())

        async def fail_and_probe_again() -> None:
            engine.outage.resume(SystemClock().now())
            await fail()

        engine.scheduler._probing._store = Meddled(engine.store, "due_pages", 1, fail_and_probe_again)

        await run_until_asked(engine)

        assert "scheduler.failed" in engine.telemetry.names()


async def test_an_edit_is_taken_up_though_the_store_fails_when_it_is_noticed(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.web.page(URL, html(created="1"))
        meddled = engine.scheduler._store = Meddled(engine.store, "overrides", 0, fail)
        stopping = asyncio.Event()

        async def add_or_stop(request: Any) -> None:
            if request.url == OTHER:
                stopping.set()
                return
            # Before the edit: it may be noticed as soon as it is made.
            meddled.call = meddled.calls + 1
            async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=False) as beside:
                await watch(beside, [OTHER])

        engine.web.page(OTHER, html(created="1"))
        engine.web.before = add_or_stop
        async with asyncio.timeout(60):
            await engine.run(stopping)

        assert "scheduler.failed" in engine.telemetry.names()
        assert engine.web.asked(OTHER) == 1


async def test_an_agenda_that_could_not_be_read_is_read_again(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.scheduler._store = Meddled(engine.store, "host_agenda", 1, fail)

        await run_until_asked(engine)

        assert "scheduler.failed" in engine.telemetry.names()


async def test_a_one_shot_check_of_a_page_that_is_rendered_looks_again_only_after_a_while(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        (page,) = await engine.store.pages(PageFilter())
        engine.rendered.add(page.id)
        began_s = SystemClock().monotonic()
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.run())
            await engine.rendered.asked.wait()
            ((next_look_s, _),) = engine.scheduler._in_rendering.values()
            engine.rendered.clear()

        assert next_look_s > began_s


async def test_of_a_host_with_a_delay_of_its_own_no_more_pages_are_begun_than_its_line_may_hold(tmp_path: Path) -> None:
    async with engine_on(tmp_path, many(1, 40)) as engine:
        # A hold of 30 s, two pages a second: thirty are begun in its first half.
        rules = {"host0.example": HostRule(delay=timedelta(seconds=0.5))}
        engine.gates.configure(HostSettings(delay=timedelta(0), concurrency=1, rules=rules))
        begun: list[int] = []

        async def look(_request: Any) -> None:
            begun.append(len(engine.scheduler._visited))
            engine.gates.configure(HostSettings(delay=timedelta(0)))

        engine.web.before = look
        results = await engine.run()

        assert begun[0] == 30
        assert len(results) == 40


async def test_once_a_site_was_asked_what_it_wants_its_pages_come_as_many_as_the_delay_lets_in(tmp_path: Path) -> None:
    async with engine_on(tmp_path, many(1, 20)) as engine:
        engine.gates.configure(HostSettings(delay=timedelta(seconds=1)))
        begun: list[int] = []

        async def look(_request: Any) -> None:
            begun.append(len(engine.scheduler._visited))
            engine.gates.slow_down("host0.example", "https://host0.example", None)
            if len(begun) == 2:
                engine.gates.configure(HostSettings(delay=timedelta(0)))

        engine.web.before = look
        await engine.run()

        assert begun[:2] == [1, 15]


@pytest.mark.parametrize("reason", ["held", "outage"])
async def test_whoever_asks_a_service_for_a_check_that_has_to_wait_is_told_at_once(tmp_path: Path, reason: str) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        request = await engine.store.request_check(None, SystemClock().now())
        if reason == "held":
            engine.gates.hold("site.example", SystemClock().monotonic() + 3600)
        else:
            cut_off(engine.outage)
        stopping = asyncio.Event()

        async def stop() -> None:
            stopping.set()

        engine.writer._store = Meddled(engine.store, "commit", 1, stop)
        async with asyncio.timeout(60):
            await engine.run(stopping)

        ((_, report),) = await engine.store.request_reports(request, after=0)
        assert report.outcome == "deferred"
        assert engine.web.requests == []
