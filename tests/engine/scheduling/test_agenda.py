"""The agenda of hosts, and dates that feeds and sitemaps list for other pages."""

from __future__ import annotations

import asyncio
import tracemalloc
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tests.awareness import Listener
from tests.contract.desk import A, B, Desk
from tests.fakes import ManualClock
from tocsin.engine.scheduling.agenda import Agenda
from tocsin.engine.scheduling.writer import LOOK_S, ListedDates
from tocsin.model import Listing

SLOT_US = 2**26


def test_the_agenda_gives_hosts_in_order_of_their_time_and_only_what_is_due() -> None:
    agenda = Agenda()
    for host_id, due in ((1, 30), (2, 10), (3, 20), (4, 99)):
        agenda.put(host_id, due)

    assert agenda.take(30, most=2) == {2: 10, 3: 20}
    assert agenda.take(30, most=5) == {1: 30}
    assert agenda.next_due() == 99


def test_the_agenda_heeds_only_the_newest_time_of_a_host() -> None:
    agenda = Agenda()
    agenda.put(1, 10)
    agenda.put(1, 50)
    agenda.put(2, 20)
    agenda.put(2, None)

    assert agenda.take(40, most=5) == {}
    assert agenda.hosts() == [1]


def test_what_comes_before_a_time_that_was_looked_at_is_taken_first() -> None:
    agenda = Agenda()
    agenda.put(1, 9 * SLOT_US)
    agenda.next_due()
    agenda.put(2, 3 * SLOT_US)
    agenda.put(3, 9 * SLOT_US - 1)

    assert agenda.next_due() == 3 * SLOT_US
    assert list(agenda.take(10 * SLOT_US, most=5)) == [2, 3, 1]


def test_a_host_that_is_put_into_the_next_slot_costs_no_look_at_the_others() -> None:
    looks = 0

    class Counted(Agenda):
        def _due_of(self, host_id: int) -> int:
            nonlocal looks
            looks += 1
            return super()._due_of(host_id)

    agenda = Counted()
    for host_id in range(1, 1001):
        agenda.put(host_id, 9 * SLOT_US + host_id * 7919 % 1000)
        agenda.next_due()

    assert agenda.next_due() == 9 * SLOT_US
    assert looks < 5 * 1000


def test_a_host_takes_few_bytes_however_far_its_time() -> None:
    hosts = 100_000
    tracemalloc.start()
    try:
        agenda = Agenda()
        for host_id in range(1, hosts + 1):
            agenda.put(host_id, host_id * 2654435761 % 2**32 * 20)
        took, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert took / hosts < 24
    assert most / hosts < 24


def test_a_host_whose_time_changes_for_ever_takes_no_more() -> None:
    agenda = Agenda()
    tracemalloc.start()
    try:
        for number in range(200_000):
            agenda.put(1 + number % 7, (1 + number % 1000) * SLOT_US)
        took, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert took < 1_000_000
    assert len(agenda.take(2**62, most=100)) == 7


def test_what_was_seen_before_a_sweep_hides_no_host_that_came_after_it() -> None:
    agenda = Agenda()
    agenda.put(2, 0)
    agenda.put(2, 1)
    assert agenda.next_due() == 1

    agenda._sweep()
    agenda.put(1, 0)

    assert agenda.next_due() == 0


HOSTS = st.integers(1, 12) | st.integers(1, 2**32 - 1)
TIMES = st.integers(-10, 10) | st.integers(0, 5 * SLOT_US) | st.integers(-(2**62), 2**62)


class AgendaBesideItsModel(RuleBasedStateMachine):
    """An agenda behaves like a dict that is sorted each time."""

    def __init__(self) -> None:
        super().__init__()
        self.agenda = Agenda()
        self.model: dict[int, int] = {}

    @rule(host_id=HOSTS, due=TIMES)
    def put(self, host_id: int, due: int) -> None:
        """Note a time."""
        self.agenda.put(host_id, due)
        self.model[host_id] = due

    @rule(host_id=HOSTS)
    def take_out(self, host_id: int) -> None:
        """Take a host out."""
        assert self.agenda.take_out(host_id) == self.model.pop(host_id, None)

    @rule(host_id=HOSTS, due=TIMES)
    def advance(self, host_id: int, due: int) -> None:
        """Note a time, unless an earlier one is known."""
        self.agenda.advance(host_id, due)
        self.model[host_id] = min(due, self.model.get(host_id, due))

    @rule(now=TIMES, most=st.integers(0, 4))
    def take(self, now: int, most: int) -> None:
        """Take what is due."""
        due = sorted((due, host_id) for host_id, due in self.model.items() if due <= now)[:most]
        assert list(self.agenda.take(now, most).items()) == [(host_id, at) for at, host_id in due]
        for _, host_id in due:
            del self.model[host_id]

    @rule()
    def sweep(self) -> None:
        """Forget the times before, as happens after many changes."""
        self.agenda._sweep()

    @rule()
    def look_ahead(self) -> None:
        """Ask when the first host is due."""
        assert self.agenda.next_due() == min(self.model.values(), default=None)

    @invariant()
    def holds_the_same_hosts(self) -> None:
        """What is on it is known at any time."""
        assert len(self.agenda) == len(self.model)
        assert self.agenda.hosts() == sorted(self.model)
        assert all(host_id in self.agenda for host_id in self.model)


TestAgendaBesideItsModel = AgendaBesideItsModel.TestCase

TestAgendaBesideItsModel.settings = settings(suppress_health_check=[HealthCheck.too_slow])


async def test_what_a_feed_says_is_taken_over_soon_after_its_check(tmp_path: Path) -> None:
    desk, telemetry, clock = await Desk.at(tmp_path), Listener(), ManualClock()
    async with desk.store:
        await desk.watch(A, B)
        hearsay = ListedDates(desk.store, clock, telemetry)
        nothing = await hearsay.look()

        await desk.check(A, "1", listing=Listing("feed", ((B, "2026-01-02"),)))

        assert (nothing, await hearsay.look(), await hearsay.look()) == (0, 1, 0)
        beside = (await desk.task(B)).beside
        assert beside is not None
        assert beside.listed == {"feed": "2026-01-02"}
        assert [happening.values for happening in telemetry.happenings] == [{"pages": 1}]


async def test_the_loop_goes_on_after_a_fault_of_the_store(tmp_path: Path) -> None:
    desk, telemetry, clock = await Desk.at(tmp_path), Listener(), ManualClock()
    async with desk.store:
        await desk.watch(A, B)
        await desk.check(A, "1", listing=Listing("feed", ((B, "2026-01-02"),)))
        await desk.store._write(lambda db: db.execute("alter table listings rename to hidden"))
        async with asyncio.TaskGroup() as group:
            loop = group.create_task(ListedDates(desk.store, clock, telemetry).run(), name="hearsay")
            await telemetry.heard("listings.failed")
            await desk.store._write(lambda db: db.execute("alter table hidden rename to listings"))
            await clock.advance(LOOK_S)
            await telemetry.heard("listings.read")
            loop.cancel()

        beside = (await desk.task(B)).beside
        assert beside is not None
        assert beside.listed == {"feed": "2026-01-02"}
