"""What was begun before a stop, or a kill, is ended after the next start."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Awaitable, Callable

from tests.journey.running import RARELY, Home, Service, until
from tests.origin import Asked, Origin, Page
from tocsin.adapters.system import SystemClock

Start = Callable[[], Awaitable[Service]]

OLD = '<meta property="article:modified_time" content="2026-01-01">'
NEW = '<meta property="article:modified_time" content="2026-02-02">'


async def settle_in(home: Home, *urls: str) -> None:
    for url in urls:
        await home.outcome(url, "first", "unchanged")


async def test_T60_a_question_survives_a_restart_and_ends_with_its_page(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = Page("gone for now", status=404)
    await home.watch(site.url("/a"))
    service = await start()
    asked = await home.alert("unreachable", site.url("/a"))

    assert await service.stop() == 0
    site.pages["/a"] = Page(OLD)
    await start()
    recovered = await home.alert("recovered", site.url("/a"))

    assert recovered["data"]["question"]["id"] == asked["data"]["question"]["id"]
    assert [alert["type"] for alert in home.alerts()].count(asked["type"]) == 1


async def test_T55_what_waited_to_be_rendered_is_rendered_after_a_restart(
    home: Home, site: Origin, start: Start
) -> None:
    # No check but the one that is asked for, and no deadline, comes between the rendering that hangs and the stop.
    home.configure(f'{RARELY}[fetch.deadlines]\nfirst_byte = "300s"\ntotal = "300s"\n')
    urls = [site.url(path) for path in ("/a", "/b", "/c")]
    for path in ("/a", "/b", "/c"):
        site.pages[path] = Page(OLD, etag='"1"')
    await home.watch(*urls)
    service = await start()
    await settle_in(home, *urls)

    # The check is answered, and the rendering that follows hangs until the service gives it up at its stop.
    gone = asyncio.Event()
    held = Page(NEW, etag='"2"', wait=gone.wait)
    for path in ("/a", "/b", "/c"):
        site.pages[path] = [Page(NEW, etag='"2"'), held]
    async with home.store() as store:
        await store.request_check(None, SystemClock().now())

        async def is_waiting() -> bool:
            return await store.count_waiting() == len(urls) - 1

        await until(is_waiting, what="two pages that wait for the third's rendering")
    assert await service.stop() == 0
    gone.set()
    assert home.alerts() == []
    for path in ("/a", "/b", "/c"):
        site.pages[path] = Page(NEW, etag='"2"')
    await start()

    for url in urls:
        assert (await home.alert("changed", url))["data"]["rendering"]["error"] is None


async def test_a_request_left_while_nobody_worked_is_done_by_the_next_engine(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = Page(OLD)
    home.configure(RARELY)
    await home.watch(site.url("/a"))
    service = await start()
    await settle_in(home, site.url("/a"))
    assert await service.stop() == 0

    async with home.store() as store:
        request = await store.request_check(None, SystemClock().now())
    await start()
    async with home.store() as store:

        async def is_done() -> bool:
            return await store.request_progress(request) == (1, 1)

        await until(is_done, what="the request's only page")

    await home.outcome(site.url("/a"), "unchanged")


async def test_T72_a_kill_loses_nothing(home: Home, site: Origin, start: Start) -> None:
    urls = [site.url(f"/{number}") for number in range(20)]
    site.fallback = Page(OLD)
    await home.watch(*urls)
    service = await start()
    await settle_in(home, *urls)

    site.fallback = Page(NEW)
    await home.alert("changed")
    assert await service.end(signal.SIGKILL) == -signal.SIGKILL
    restarted = await start()
    for url in urls:
        await home.alert("changed", url)
    assert await restarted.stop() == 0

    changed = {alert["id"]: alert["subject"] for alert in home.alerts() if alert["type"] == "tocsin.page.changed.v1"}
    assert Counter(changed.values()) == dict.fromkeys(urls, 1)
    async with home.store() as store:
        assert await store.check() == []


async def test_T59_a_short_pause_that_a_host_asked_for_outlives_a_kill(home: Home, site: Origin, start: Start) -> None:
    site.pages["/a"] = Page("busy", status=503, headers={"Retry-After": "12"})
    await home.watch(site.url("/a"))
    service = await start()
    async with home.store() as store:

        async def is_kept() -> bool:
            return "127.0.0.1" in await store.host_gates(SystemClock().now())

        await until(is_kept, what="the pause in the store")
    # The check, which waits for its next try, has no result yet.
    (first,) = site.asked("/a")
    assert await service.end(signal.SIGKILL) == -signal.SIGKILL

    site.pages["/a"] = Page(OLD)
    await start()
    await settle_in(home, site.url("/a"))

    assert site.asked("/a")[1].at - first.at > 11


async def test_what_changed_while_nobody_worked_is_found_after_the_start(
    home: Home, site: Origin, start: Start
) -> None:
    versions = [OLD]

    def body(_asked: Asked) -> str:
        return versions[-1]

    site.pages["/a"] = Page(body)
    await home.watch(site.url("/a"))
    service = await start()
    await settle_in(home, site.url("/a"))
    assert await service.stop() == 0

    versions.append(NEW)
    await start()

    assert (await home.alert("changed", site.url("/a")))["data"]["rule"] == "T47"


async def test_a_service_whose_log_was_taken_away_ends_and_the_next_one_knows_what_it_committed(
    home: Home, site: Origin, start: Start
) -> None:
    home.configure(RARELY)
    site.pages["/a"] = Page(OLD)
    await home.watch(site.url("/a"))
    service = await start()
    await settle_in(home, site.url("/a"))

    (home.folder / "tocsin.db-wal").unlink()
    status = await service.ended()

    assert status == 3
    # The last line is what a user sees: why it ended, and not what failed since it ended.
    assert "tocsin.db-wal: removed while the store was in use" in home.log.read_text("utf-8").splitlines()[-1]
    await start()
    await settle_in(home, site.url("/a"))
    assert (await home.call("store", "check")).status == 0


async def test_a_service_whose_lock_file_was_removed_makes_it_anew_and_stays_the_only_one(
    home: Home, site: Origin, start: Start
) -> None:
    site.pages["/a"] = Page(OLD)
    await home.watch(site.url("/a"))
    service = await start()
    await settle_in(home, site.url("/a"))

    (home.folder / "tocsin.db.lock").unlink()
    second = await home.call("run")
    await home.hears("store.lock_removed")

    assert second.status == 3
    assert "is working on this store" in second.err
    assert await service.stop() == 0
