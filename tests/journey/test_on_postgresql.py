"""The service with its store on PostgreSQL: checked, told, killed, and beside a server that is killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable

from tests.journey.running import CONFIGURATION, Home, Service
from tests.origin import Origin, Page
from tests.postgres import postgres

Start = Callable[[], Awaitable[Service]]


def page(major: str) -> str:
    """A page with the date of its last major change."""
    return f"<!doctype html><title>A</title><meta name=topper-major content={major}><p>Text."


def changed(before: str, after: str) -> list[dict[str, str]]:
    """What an alert says of that date."""
    return [{"field": "topper-major", "previous": before, "latest": after}]


async def test_a_service_on_postgresql_tells_each_change_once_over_kills_of_itself_and_of_the_server(
    home: Home, site: Origin, start: Start
) -> None:
    server = postgres()
    home.store_url = await asyncio.to_thread(server.take)
    home.configure(CONFIGURATION.replace("sqlite:tocsin.db", home.store_url))
    site.pages["/a"] = Page(page("2026-01-01"))
    url = site.url("/a")
    try:
        assert (await home.call("watch", "add", url)).status == 0
        service = await start()
        await home.outcome(url, "first", "unchanged")

        site.pages["/a"] = Page(page("2026-02-02"))
        await home.alert("changed", url, changes=changed("2026-01-01", "2026-02-02"))
        await service.end(signal.SIGKILL)
        site.pages["/a"] = Page(page("2026-03-03"))
        await start()
        await home.alert("changed", url, changes=changed("2026-02-02", "2026-03-03"))
        await asyncio.to_thread(server.restart)
        site.pages["/a"] = Page(page("2026-04-04"))
        await home.alert("changed", url, changes=changed("2026-03-03", "2026-04-04"))

        listed = (await home.call("watch", "list")).records()
        assert [row["url"] for row in listed] == [url]
        assert (await home.call("store", "check")).status == 0
        told = {(alert["id"], alert["data"]["changes"][0]["latest"]) for alert in home.alerts()}
        assert sorted(latest for _, latest in told) == ["2026-02-02", "2026-03-03", "2026-04-04"]
    finally:
        for running in home.services:
            await running.clear()
        await asyncio.to_thread(server.give_back, home.store_url)
