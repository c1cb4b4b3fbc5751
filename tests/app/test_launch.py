"""A service's first moments: nobody waits until everything that is overdue has been found."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.app.crew import Crew
from tests.builders import html
from tests.engine.checking import Meddled
from tests.origin import Origin, Page
from tocsin.adapters.system import SystemClock
from tocsin.model import PageFilter
from tocsin.settings import FetchSettings

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_T63_pages_are_checked_while_what_is_overdue_is_being_found_and_then_that_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    due_is_asked, overdue_is_asked = asyncio.Event(), asyncio.Event()
    async with Origin() as site:
        site.pages["/overdue"] = Page(html(created="1"))
        overdue, due = site.url("/overdue"), site.url("/due")
        async with Crew.at(tmp_path, monkeypatch, overdue, fetch=FetchSettings(fetchers=0)) as crew:
            await crew.check()
            await crew.watch(due)
            (page,) = await crew.store.pages(PageFilter(urls=(due,)))
            await crew.store.request_check([page.id], SystemClock().now())

            async def seen(event: asyncio.Event) -> None:
                event.set()

            site.pages["/due"] = Page(html(created="1"), wait=lambda: seen(due_is_asked))
            site.pages["/overdue"] = Page(html(created="1"), wait=lambda: seen(overdue_is_asked))
            async with crew.engine() as engine, asyncio.timeout(30), asyncio.TaskGroup() as group:
                stopping = asyncio.Event()

                async def look() -> None:
                    await due_is_asked.wait()

                engine.runner._store = Meddled(crew.store, "spread_overdue", 1, look)
                serving = engine.runner.serve(stopping, at_launch=timedelta(0), cron="")
                group.create_task(serving)
                await overdue_is_asked.wait()
                stopping.set()

    assert len(crew.said("engine.spread")) == 1
    assert len(site.asked("/overdue")) == 2
