"""The service with its store on PostgreSQL: checked, told, killed, and beside a server that is killed."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable

import psycopg

from tests.journey.running import CONFIGURATION, RARELY, Home, Service
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


async def test_a_command_beside_a_service_that_cannot_write_says_so_and_is_carried_out_once_it_can(
    home: Home, site: Origin, start: Start
) -> None:
    server = postgres()
    home.store_url = await asyncio.to_thread(server.take)
    home.configure(RARELY.replace("sqlite:tocsin.db", home.store_url))
    site.pages["/a"] = Page(page("2026-01-01"))
    failing = "begin raise exception using errcode = '53100', message = 'it failed'; end"
    try:
        await start()
        await home.hears("engine.started")
        with psycopg.connect(home.store_url, autocommit=True) as db:
            # As on a disk that has room for a row of the list, and none for a state.
            db.execute(f"create function fail() returns trigger language plpgsql as $$ {failing} $$".encode())
            db.execute("create trigger fails before insert on states execute function fail()")

            added = await home.call("watch", "add", site.url("/a"))
            checked = await home.call("check", site.url("/a"))
            doctor = await home.call("doctor", "--no-settings", "--json")

            db.execute("drop function fail() cascade")
        await home.outcome(site.url("/a"), "first")
    finally:
        for running in home.services:
            await running.clear()
        await asyncio.to_thread(server.give_back, home.store_url)

    for called in (added, checked):
        assert called.status == 3
        assert "the running service cannot write what it finds: the disk of the server is full" in called.err
        assert "what was asked for is done once it can" in called.err
    findings = [record["finding"] for record in doctor.records()]
    assert any(" cannot write what it finds: the disk of the server is full" in each for each in findings)
