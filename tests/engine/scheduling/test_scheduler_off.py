"""Pages that are turned on again are checked again, whoever turns them on, and when."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.builders import URL, html
from tests.engine.visiting.checking import Meddled, engine_on, run_until_asked
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.settings import PageSettings

if TYPE_CHECKING:
    from pathlib import Path


async def test_T54_what_is_turned_on_while_a_check_finds_it_off_is_checked(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        await engine.store.edit_group("main", SystemClock().now(), settings={"mode": "off"}, unset=[])

        async def turn_on() -> None:
            async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=False) as beside:
                await beside.edit_group("main", SystemClock().now(), settings={"mode": "on"}, unset=[])

        engine.writer._store = Meddled(engine.store, "commit", 1, turn_on)

        await run_until_asked(engine)

        assert engine.web.asked(URL) == 1


async def test_T54_what_was_off_by_the_configuration_is_checked_once_that_was_changed(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False, mode="off") as engine:

        async def turn_on() -> None:
            engine.policies.configure(PageSettings(min_gap=timedelta(0)))
            engine.scheduler.reconfigure()

        engine.writer._store = Meddled(engine.store, "commit", 1, turn_on)

        await run_until_asked(engine)

        assert engine.web.asked(URL) == 1


async def test_T54_what_was_off_by_the_configuration_is_checked_after_a_restart_with_another(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False, mode="off") as engine:
        stopping = asyncio.Event()

        async def stop() -> None:
            stopping.set()

        engine.writer._store = Meddled(engine.store, "commit", 1, stop)
        await engine.run(stopping)
        assert engine.web.requests == []
    async with engine_on(tmp_path, [], requested=False) as engine:
        await run_until_asked(engine)

        assert engine.web.asked(URL) == 1


async def test_T54_pages_are_checked_while_those_are_looked_for_that_are_off_no_longer(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        is_asked, stopping = asyncio.Event(), asyncio.Event()

        async def look() -> None:
            await is_asked.wait()

        engine.scheduler._store = Meddled(engine.store, "wake_off", 1, look)

        async def asked(_request: Any) -> None:
            is_asked.set()
            stopping.set()

        engine.web.page(URL, html(created="1"))
        engine.web.before = asked
        async with asyncio.timeout(60):
            await engine.run(stopping)

        assert engine.web.asked(URL) == 1
