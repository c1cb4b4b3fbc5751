"""The first moments of a service and of a one-shot check."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.app.crew import PATIENCE_S, Crew
from tests.builders import html
from tests.engine.visiting.checking import Meddled
from tests.fakes import SeededChance
from tests.origin import Origin, Page
from tocsin.adapters.stores.sql.checking.work import ALL_TIMES
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import open_store_for
from tocsin.app.once import check
from tocsin.engine.judging.events import EventWriter
from tocsin.errors import StoreError
from tocsin.model import CheckReport, Claim, Instant, NewPage, PageFilter
from tocsin.ports.checking import untold
from tocsin.settings import FetchSettings, HostSettings, NetworkSettings, PageSettings, Settings, StoreSettings
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.ports.checking import OnSpread


async def test_a_service_copies_the_log_of_its_store_beside_its_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tocsin.engine.runner.COPY_LOG_S", 0)
    async with Crew.at(tmp_path, monkeypatch, fetch=FetchSettings(fetchers=0)) as crew, crew.engine() as engine:
        stopping = asyncio.Event()

        async def fail() -> None:
            raise StoreError("the disk is full")

        async def stop() -> None:
            stopping.set()

        failing: Any = Meddled(crew.store, "copy_log", 1, fail)
        engine.runner._store = Meddled(failing, "copy_log", 2, stop)
        async with asyncio.timeout(PATIENCE_S):
            await engine.runner.serve(stopping, at_launch=timedelta(0), cron="")


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
            async with crew.engine() as engine, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
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


class Paced:
    """A store where spreading, once it has moved all, goes on until it may end; and nobody is told of its end."""

    def __init__(self, store: Any, may_end: asyncio.Event) -> None:
        self._store, self._may_end = store, may_end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def spread_overdue(
        self, claim: Claim, now: Instant, *, at_launch: timedelta, cron: str, on_spread: OnSpread = untold
    ) -> int:
        """Move what is overdue."""

        def told(due: dict[int, Instant] | None) -> None:
            if due is not None:
                on_spread(due)

        moved: int = await self._store.spread_overdue(claim, now, at_launch=at_launch, cron=cron, on_spread=told)
        await self._may_end.wait()
        return moved


async def test_T63_what_was_spread_is_checked_while_the_rest_is_being_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_asked = asyncio.Event()
    async with Origin() as site:
        site.pages["/"] = Page(html(created="1"))
        async with Crew.at(tmp_path, monkeypatch, site.url("/"), fetch=FetchSettings(fetchers=0)) as crew:
            await crew.check()

            async def seen() -> None:
                is_asked.set()

            site.pages["/"] = Page(html(created="1"), wait=seen)
            async with crew.engine() as engine, asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as group:
                stopping = asyncio.Event()
                engine.runner._store = Paced(crew.store, is_asked)
                group.create_task(engine.runner.serve(stopping, at_launch=timedelta(0), cron=""))
                await is_asked.wait()
                stopping.set()

    assert len(site.asked("/")) == 2


async def test_T63_before_anything_is_looked_for_what_is_overdue_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[int] = []
    async with (
        Crew.at(tmp_path, monkeypatch, fetch=FetchSettings(fetchers=0)) as crew,
        crew.engine() as engine,
        asyncio.timeout(PATIENCE_S),
    ):
        stopping = asyncio.Event()

        async def look() -> None:
            shown.append(crew.store._shown)  # type: ignore[attr-defined]  # to look in
            stopping.set()

        async def wait() -> None:
            await stopping.wait()

        engine.runner._store = Meddled(crew.store, "spread_overdue", 1, wait)
        engine.scheduler._store = Meddled(crew.store, "host_agenda", 1, look)
        await engine.runner.serve(stopping, at_launch=timedelta(hours=1), cron="")

    assert len(shown) == 1
    assert shown[0] > ALL_TIMES


def settings_in(folder: Path) -> Settings:
    return Settings(
        store=StoreSettings(url=f"sqlite:{folder / 'tocsin.db'}", batch_wait=timedelta(0)),
        network=NetworkSettings(allow=("127.0.0.0/8",)),
        pages=PageSettings(min_gap=timedelta(0)),
        hosts=HostSettings(delay=timedelta(0)),
    )


async def watch(settings: Settings, url: str) -> None:
    page = watch_url(url)
    async with open_store_for(settings, engine=True) as store:
        new = NewPage(url=page.url, given=page.given, host=page.host, shard=page.shard)
        await store.add_pages([new], SystemClock().now())


async def test_T62_a_host_that_wants_to_be_left_alone_is_so_by_the_next_check_too(tmp_path: Path) -> None:
    settings = settings_in(tmp_path)
    reports: list[CheckReport] = []
    async with Origin() as origin:
        origin.pages["/a"] = Page("busy", status=429, headers={"Retry-After": "3600"})
        await watch(settings, origin.url("/a"))

        for _ in range(2):
            await check(settings, page_ids=None, on_report=reports.append)

        assert [report.outcome for report in reports] == ["deferred", "deferred"]
        assert len(origin.asked("/a")) == 1


async def test_a_check_that_is_answered_tells_the_end_of_an_outage_that_an_earlier_one_told_of(tmp_path: Path) -> None:
    settings, now = settings_in(tmp_path), SystemClock().now()
    async with Origin() as origin:
        origin.pages["/a"] = Page(html(created="1"))
        await watch(settings, origin.url("/a"))
        async with open_store_for(settings, engine=False) as store:
            await store.write_alert(
                EventWriter("tocsin", SeededChance()).outage_began_event(now, now, node="another name of this machine")
            )

        await check(settings, page_ids=None, on_report=lambda _: None)

        async with open_store_for(settings, engine=False) as store:
            types = [alert.type for alert in await store.alerts(limit=10)]
        assert types == ["tocsin.outage.ended.v1", "tocsin.outage.began.v1"]
