"""Due pages are found and started by host; faults and edits delay them, and lose none."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.builders import URL, html
from tests.claiming import claim_all
from tests.engine.visiting.checking import Meddled, engine_on, many, run_until_asked, watch
from tests.fakes import cut_off
from tocsin.adapters.stores import open_store
from tocsin.adapters.system import SystemClock
from tocsin.engine.scheduling.scheduler import HOSTS_A_LOOK, Scheduler
from tocsin.errors import FetchFailed, StoreError
from tocsin.model import Instant, PageFilter
from tocsin.ports import Store
from tocsin.settings import HostRule, HostSettings, PageSettings


async def test_every_requested_page_is_checked_once_and_written(tmp_path: Path) -> None:
    urls = many(7, 30)
    async with engine_on(tmp_path, urls) as engine:
        for url in urls:
            engine.web.page(url, html(created="1"))

        results = await engine.run()

        assert sorted(result.report.url for result in results) == sorted(urls)
        assert all(engine.web.asked(url) == 1 for url in urls)
        assert {page.outcome for page in await outcomes(engine.store)} == {"first"}


async def outcomes(store: Store) -> list[Any]:
    rows = await store.pages(PageFilter())
    return [msgspec.convert(row.last.report, type=Report) for row in rows]


class Report(msgspec.Struct):
    url: str
    outcome: str


async def test_a_host_is_never_asked_more_at_once_than_it_allows(tmp_path: Path) -> None:
    urls = many(3, 40)
    async with engine_on(tmp_path, urls) as engine:
        inside: dict[str, int] = {}
        most = 0

        async def look(request: Any) -> None:
            nonlocal most
            host = request.url.split("/")[2]
            inside[host] = inside.get(host, 0) + 1
            most = max(most, inside[host])
            await asyncio.sleep(0)
            inside[host] -= 1

        engine.web.before = look
        for url in urls:
            engine.web.page(url, html(created="1"))

        await engine.run()

        assert most == 2


async def test_a_scheduled_page_that_is_due_is_checked_and_then_waits_for_its_next_time(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.web.page(URL, html(created="1"))
        stopping = asyncio.Event()

        async def stop_after_the_first(_request: Any) -> None:
            stopping.set()

        engine.web.before = stop_after_the_first
        (result,) = await engine.run(stopping)

        assert result.report.outcome == "first"
        assert result.due.at is not None
        assert result.due.at > SystemClock().now()


async def test_a_host_that_a_launch_and_a_mended_clock_both_moved_is_due_when_the_store_says(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        now = SystemClock().now()
        with closing(sqlite3.connect(tmp_path / "tocsin.db")) as db:
            db.execute("update pages set next_at = ?", (now + 300_000,))
            db.commit()

        # The first to move it gave it a time that the other one has replaced in the store.
        engine.scheduler.on_spread({1: now - 1_000_000})
        engine.scheduler.on_spread(None)
        await run_until_asked(engine)

    assert engine.web.asked(URL) == 1


async def test_a_stop_lets_checks_under_way_end_and_writes_them(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.web.page(URL, html(created="1"))
        stopping, answered = asyncio.Event(), asyncio.Event()

        async def hold_back(_request: Any) -> None:
            stopping.set()
            engine.scheduler.wake()
            await asyncio.sleep(0)
            answered.set()

        engine.web.before = hold_back
        await engine.run(stopping)

        assert answered.is_set()
        assert [page.outcome for page in await outcomes(engine.store)] == ["first"]


async def test_a_stop_drops_pages_in_hand_that_no_request_was_made_for(tmp_path: Path) -> None:
    urls = many(40, 5)
    async with engine_on(tmp_path, urls, requested=False) as engine:
        stopping = asyncio.Event()

        async def stop(_request: Any) -> None:
            stopping.set()
            engine.scheduler.wake()
            # No answer, and so no further request in its place, before the stop was carried out.
            await engine.visited_withdrawn.wait()

        engine.web.before = stop
        for url in urls:
            engine.web.page(url, html(created="1"))

        results = await engine.run(stopping)

        asked = {url for url in urls if engine.web.asked(url)}
        assert {result.report.url for result in results} == asked
        assert 0 < len(asked) < len(urls) // 2
        assert len([page for page in await engine.store.pages(PageFilter()) if page.last.checked_at]) == len(asked)


async def test_a_page_that_the_render_queue_has_in_hand_is_left_alone_until_it_is_done(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        (page,) = await engine.store.pages(PageFilter())
        engine.rendered.add(page.id)
        async with asyncio.TaskGroup() as group:
            group.create_task(engine.run())
            await engine.rendered.asked.wait()
            asked_meanwhile = engine.web.asked(URL)
            engine.rendered.clear()

        assert asked_meanwhile == 0
        assert engine.web.asked(URL) == 1


async def test_what_others_write_while_the_engine_runs_is_noticed(tmp_path: Path) -> None:
    other = "http://added.example/later"
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.web.page(URL, html(created="1"))
        engine.web.page(other, html(created="1"))
        stopping = asyncio.Event()

        async def add_or_stop(request: Any) -> None:
            if request.url == other:
                stopping.set()
                return
            async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=False) as beside:
                await watch(beside, [other])

        engine.web.before = add_or_stop
        results = await engine.run(stopping)

        assert [result.report.url for result in results] == [URL, other]


async def test_when_every_host_fails_at_once_it_is_our_own_connection_and_nobody_is_asked(tmp_path: Path) -> None:
    urls = many(4, 2)
    async with engine_on(tmp_path, urls, tries=0) as engine:
        for url in urls:
            engine.web.on(url, FetchFailed(url, "connect", "network is unreachable"))

        async with asyncio.timeout(60):
            results = await engine.run()
            await engine.uplink.look()

        assert engine.outage.is_outage()
        assert await engine.store.questions() == []
        assert [alert.type for alert in await engine.store.alerts(limit=10)] == ["tocsin.outage.began.v1"]
        assert "deferred" in {result.report.outcome for result in results}


async def test_in_an_outage_a_one_shot_check_puts_the_other_pages_off_and_ends(tmp_path: Path) -> None:
    async with engine_on(tmp_path, many(5, 3)) as engine:
        cut_off(engine.outage)

        async with asyncio.timeout(60):
            results = await engine.run()

        assert engine.web.requests == []
        assert [result.report.outcome for result in results] == ["deferred"] * 15


async def test_a_page_that_is_removed_while_it_waits_for_its_turn_is_not_asked_for(tmp_path: Path) -> None:
    urls = many(1, 3)
    async with engine_on(tmp_path, urls, requested=False) as engine:
        stopping = asyncio.Event()

        async def remove_the_others(request: Any) -> None:
            async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=False) as beside:
                others = [page.id for page in await beside.pages(PageFilter()) if page.url != request.url]
                await beside.remove_pages(others)
            await engine.visited_withdrawn.wait()
            stopping.set()

        engine.gates.configure(HostSettings(delay=timedelta(0), concurrency=1))
        engine.web.before = remove_the_others
        for url in urls:
            engine.web.page(url, html(created="1"))
        await engine.run(stopping)

        assert len(engine.web.requests) == 1


async def test_an_outage_that_was_told_of_before_a_restart_has_its_end_told_after_it(tmp_path: Path) -> None:
    async with engine_on(tmp_path, many(3, 1)) as engine:
        await engine.lease.take()
        cut_off(engine.outage)
        await engine.uplink.look()
    async with engine_on(tmp_path, []) as engine:
        await engine.lease.take()
        await engine.uplink.resume()
        was_outage = engine.outage.is_outage()
        engine.outage.note("a", ok=True)
        await engine.uplink.look()

        assert was_outage
        types = [alert.type for alert in await engine.store.alerts(limit=10)]
        assert types == ["tocsin.outage.ended.v1", "tocsin.outage.began.v1"]


async def test_the_end_of_an_outage_is_told_once(tmp_path: Path) -> None:
    async with engine_on(tmp_path, many(3, 1)) as engine:
        await engine.lease.take()
        cut_off(engine.outage)
        await engine.uplink.look()
        await engine.uplink.look()
        engine.outage.note("a", ok=True)
        await engine.uplink.look()
        await engine.uplink.look()

        types = [alert.type for alert in await engine.store.alerts(limit=10)]
        assert types == ["tocsin.outage.ended.v1", "tocsin.outage.began.v1"]


class FullDisk:
    """A store whose disk is full for some time."""

    def __init__(self, store: Store, failures: int) -> None:
        self._store, self.failures = store, failures

    async def commit(self, claim: Any, results: Any) -> Any:
        if self.failures:
            self.failures -= 1
            raise StoreError("tocsin.db: the disk is full; make room")
        return await self._store.commit(claim, results)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


async def test_a_one_shot_check_on_a_full_disk_ends_with_the_stores_error(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        engine.writer._store = FullDisk(engine.store, failures=1)

        with pytest.raises(ExceptionGroup) as caught:
            await engine.run()

        assert caught.group_contains(StoreError, match="disk is full")


async def test_a_service_on_a_full_disk_keeps_its_results_until_there_is_room(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL]) as engine:
        engine.web.page(URL, html(created="1"))
        engine.writer._store = FullDisk(engine.store, failures=2)
        engine.writer._patient = True
        engine.writer._retry_s = 0.0

        await engine.run()

        assert engine.telemetry.names().count("store.failed") == 2
        assert [page.outcome for page in await outcomes(engine.store)] == ["first"]


async def test_results_under_a_claim_that_was_lost_are_not_written(tmp_path: Path) -> None:
    async with engine_on(tmp_path, [URL], requested=False) as engine:
        engine.web.page(URL, html(created="1"))
        stopping = asyncio.Event()

        async def lose_the_claim(_request: Any) -> None:
            stopping.set()
            await claim_all(engine.store, "test")

        engine.web.before = lose_the_claim
        await engine.run(stopping)

        assert "claim.lost" in engine.telemetry.names()
        (page,) = await engine.store.pages(PageFilter())
        assert page.last.report is None


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


MUCH_LATER = 2**60


class EndlessAgenda:
    """A store whose agenda begins with the hosts that it has, and goes on until the test ends it."""

    def __init__(self, store: Store, enough: asyncio.Event) -> None:
        self._store, self._enough = store, enough

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def host_agenda(self, *given: Any, **named: Any) -> AsyncIterator[tuple[int, Instant]]:
        """The hosts of the store, then others that nothing is due of."""
        of_store = [entry async for entry in await self._store.host_agenda(*given, **named)]

        async def entries() -> AsyncIterator[tuple[int, Instant]]:
            for entry in of_store:
                yield entry
            for host_id in range(1000, 1000 + HOSTS_A_LOOK):
                yield host_id, MUCH_LATER
            await self._enough.wait()

        return entries()


def read_from(scheduler: Scheduler, store: Any) -> None:
    """Let a scheduler read its agenda from another store."""
    scheduler._store = store


async def test_a_page_is_checked_before_the_last_host_is_read(tmp_path: Path) -> None:
    urls = many(3, 2)
    async with engine_on(tmp_path, urls, requested=False) as engine, asyncio.timeout(60), asyncio.TaskGroup() as group:
        enough, stopping = asyncio.Event(), asyncio.Event()
        read_from(engine.scheduler, EndlessAgenda(engine.store, enough))
        for url in urls:
            engine.web.page(url, html(created="1"))
        group.create_task(engine.run(stopping))
        while not any(engine.web.asked(url) for url in urls):  # noqa: ASYNC110 - the web gives no sign
            await asyncio.sleep(0)

        assert not enough.is_set()

        enough.set()
        stopping.set()
