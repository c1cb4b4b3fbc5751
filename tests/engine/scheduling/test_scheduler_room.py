"""Hosts that are due while the one that checks them has no room: their place, and what the lateness gauge says."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.engine.visiting.checking import LEASE
from tests.fakes import START, ManualClock, RecordingTelemetry
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.store import SqlStore
from tocsin.engine.hosts.kept_gates import KeptGates
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.policies import Policies
from tocsin.engine.scheduling.scheduler import Scheduler
from tocsin.model import Instant, NewPage, PageTask
from tocsin.ports import Store
from tocsin.settings import FetchSettings, HostSettings, PageSettings
from tocsin.spec.html.urls import watch_url

if TYPE_CHECKING:
    from tocsin.engine.fetchers.checkers import Put

S = 1_000_000


class RationedCheckers:
    """Two checkers with as much room as the test says; hosts whose name begins with "a" are the first one's."""

    def __init__(self) -> None:
        self.free = {0: 0, 1: 0}
        self.begun: list[str] = []
        self.was_asked, self.has_begun = asyncio.Event(), asyncio.Event()
        self.oldest: Instant | None = None

    @asynccontextmanager
    async def checking(self, put: Put) -> AsyncIterator[None]:  # noqa: ARG002 - no check ends here
        yield

    def checker_of(self, host: str) -> int:
        return 0 if host.startswith("a") else 1

    def room(self, checker: int) -> int:
        self.was_asked.set()
        return self.free[checker]

    def room_of_all(self) -> int:
        return sum(map(self.room, self.free))

    def waiting_since(self) -> Instant | None:
        return self.oldest

    def begin(self, tasks: Sequence[PageTask]) -> None:
        self.free[self.checker_of(tasks[0].host)] -= len(tasks)
        self.begun += [task.host for task in tasks]
        self.has_begun.set()

    def put_off(self, tasks: Iterable[PageTask]) -> None:  # noqa: ARG002 - not called
        raise AssertionError("there is no outage")

    def withdraw(self, page_ids: set[int]) -> None:
        pass

    def drop(self) -> None:
        pass

    def refresh(self) -> None:
        pass

    def pass_on_holds(self) -> None:
        pass


class Parts:
    """A scheduler over a real store, with rationed checkers and a clock by hand."""

    def __init__(self, store: Store) -> None:
        self.store, self.clock, self.checkers = store, ManualClock(), RationedCheckers()
        telemetry = RecordingTelemetry()
        self.lease = Lease(store, "test", LEASE, self.clock, telemetry)
        self.gates = KeptGates(HostSettings(delay=timedelta(0)), self.clock, store, telemetry)
        self.scheduler = Scheduler(
            store,
            self.lease,
            self.checkers,
            Policies(PageSettings()),
            self.gates,
            OutageWatch(self.clock),
            FetchSettings(in_flight=50),
            self.clock,
            telemetry,
            recall_holds=self.gates.recall,
        )

    async def watch(self, host: str, *, late_s: float) -> None:
        """Add a page that is due for so long, within a second."""
        one = watch_url(f"http://{host}/")
        page = NewPage(url=one.url, given=one.given, host=one.host, shard=one.shard)
        await self.store.add_pages([page], self.clock.now() - round(late_s * S) - S)

    async def begun(self, number: int) -> list[str]:
        """Wait until so many pages have begun."""
        while len(self.checkers.begun) < number:
            self.checkers.has_begun.clear()
            self.scheduler.wake()
            await self.checkers.has_begun.wait()
        return self.checkers.begun


@asynccontextmanager
async def scheduling(folder: Path, *hosts: tuple[str, float]) -> AsyncIterator[Parts]:
    async with await open_store(f"sqlite:{folder / 'tocsin.db'}", engine=True) as store:
        parts = Parts(store)
        for host, late_s in hosts:
            await parts.watch(host, late_s=late_s)
        await parts.lease.take()
        stopping = asyncio.Event()
        writer: Any = NoWriter()
        async with asyncio.TaskGroup() as group:
            group.create_task(parts.scheduler.run(writer, stopping))
            yield parts
            stopping.set()
            parts.scheduler.wake()


class NoWriter:
    async def put_all(self, results: Sequence[object]) -> None:  # noqa: ARG002 - not called
        raise AssertionError("no check ends here")


async def test_a_host_without_room_keeps_its_place(tmp_path: Path) -> None:
    async with scheduling(tmp_path, ("a-long.example", 600), ("b.example", 10)) as parts:
        parts.checkers.free[1] = 5
        await parts.begun(1)
        await parts.watch("a-short.example", late_s=1)

        parts.checkers.free[0] = 1
        begun = await parts.begun(2)
        parts.checkers.free[0] = 1
        await parts.begun(3)

        assert begun == ["b.example", "a-long.example", "a-short.example"]


async def test_hosts_without_room_hold_up_no_host_of_another_checker(tmp_path: Path) -> None:
    overdue = [(f"a{number}.example", 900.0) for number in range(30)]
    async with scheduling(tmp_path, *overdue, ("b.example", 1)) as parts:
        parts.checkers.free[1] = 1

        assert await parts.begun(1) == ["b.example"]


async def test_lateness_is_that_of_a_host_that_waits_for_room(tmp_path: Path) -> None:
    async with scheduling(tmp_path, ("a.example", 600)) as parts:
        await parts.checkers.was_asked.wait()

        assert 600 <= parts.scheduler.late_s() <= 601


async def test_lateness_is_that_of_a_page_in_hand_that_waits_for_its_turn(tmp_path: Path) -> None:
    async with scheduling(tmp_path, ("b.example", 600)) as parts:
        parts.checkers.free[1] = 1
        await parts.begun(1)
        assert parts.scheduler.late_s() == 0

        parts.checkers.oldest = START - 700 * S

        assert parts.scheduler.late_s() == 700


async def test_a_page_that_was_asked_for_is_late_since_then(tmp_path: Path) -> None:
    async with scheduling(tmp_path, ("a.example", 0)) as parts:
        await parts.checkers.was_asked.wait()
        await parts.store.request_check(None, parts.clock.now())
        parts.checkers.was_asked.clear()
        while 0 not in parts.scheduler._first_dues():
            parts.scheduler.wake()
            await parts.checkers.was_asked.wait()
            parts.checkers.was_asked.clear()

        parts.clock.set_wall(START + 5 * S)

        assert parts.scheduler.late_s() == 5


async def test_the_store_is_not_asked_for_pages_that_no_checker_has_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[int]()
    due_pages = SqlStore.due_pages

    async def note(*given: Any, **named: Any) -> Sequence[PageTask]:
        asked.append(1)
        return await due_pages(*given, **named)

    monkeypatch.setattr(SqlStore, "due_pages", note)
    async with scheduling(tmp_path, ("b.example", 600)) as parts:
        for _ in range(3):
            parts.checkers.was_asked.clear()
            parts.scheduler.wake()
            await parts.checkers.was_asked.wait()
        before = list(asked)
        parts.checkers.free[1] = 1
        await parts.begun(1)

    assert before == []
    assert asked


async def test_due_hosts_are_looked_at_less_often_while_no_checker_has_room(tmp_path: Path) -> None:
    async with scheduling(tmp_path, ("b.example", 600)) as parts:
        parts.checkers.was_asked.clear()
        parts.scheduler.wake()
        await parts.checkers.was_asked.wait()
        without_room = parts.scheduler.pause_s()
        parts.checkers.free[1] = 1

        assert without_room == 20 * parts.scheduler.pause_s()


async def test_a_host_that_asked_for_a_pause_is_checked_when_the_pause_is_over(tmp_path: Path) -> None:
    async with scheduling(tmp_path) as parts:
        parts.checkers.free[1] = 5
        parts.gates.hold("b.example", parts.clock.monotonic() + 100)
        await parts.watch("b.example", late_s=10)
        await parts.watch("c.example", late_s=1)
        before_its_end = list(await parts.begun(1))
        await parts.clock.advance(101)

        assert before_its_end == ["c.example"]
        assert await parts.begun(2) == ["c.example", "b.example"]


async def test_a_host_that_asked_the_node_before_for_a_pause_is_left_alone_by_the_one_that_takes_it_over(
    tmp_path: Path,
) -> None:
    async with scheduling(tmp_path, ("b.example", 600)) as parts:
        await parts.checkers.was_asked.wait()
        await parts.watch("c.example", late_s=1)
        await parts.store.hold_hosts({"b.example": START + 100 * S})

        parts.scheduler.on_taken({0})
        parts.checkers.free[1] = 5

        assert await parts.begun(1) == ["c.example"]
