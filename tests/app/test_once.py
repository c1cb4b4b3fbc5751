"""One-shot checks remember what the checks before them were told."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.builders import html
from tests.fakes import SeededChance
from tests.origin import Origin, Page
from tocsin.adapters.system import SystemClock
from tocsin.app.assembly import open_store_for
from tocsin.app.once import check
from tocsin.engine.judging.events import EventWriter
from tocsin.model import NewPage
from tocsin.settings import HostSettings, NetworkSettings, PageSettings, Settings, StoreSettings
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.model import CheckReport


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
            await store.write_alert(EventWriter("tocsin", SeededChance()).outage_began_event(now, now))

        await check(settings, page_ids=None, on_report=lambda _: None)

        async with open_store_for(settings, engine=False) as store:
            types = [alert.type for alert in await store.alerts(limit=10)]
        assert types == ["tocsin.outage.ended.v1", "tocsin.outage.began.v1"]
