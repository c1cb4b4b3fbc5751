"""What the engine counts, and what it is doing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.contract.desk import Desk, alert
from tests.fakes import START, ManualClock, RecordingTelemetry
from tests.observing.measured import result_of
from tocsin.engine.activity import KEPT, SPAN_US, ActivityRecorder, CountedChannel, EngineCounts, Histogram
from tocsin.errors import DeliveryError, StoreError
from tocsin.events import Happening
from tocsin.model import (
    ActivityRow,
    CheckOrder,
    CrowdedHost,
    CrowdedHosts,
    Findings,
    Instant,
    NamedLease,
    NodeIdentity,
    SerializedEvent,
    StoreFigures,
)
from tocsin.ports import Notification

BUCKET = START - START % SPAN_US
MINUTE = 60_000_000


class Standing:
    """A store's activity and figures; `is_full` makes every write fail."""

    def __init__(self, figures: StoreFigures) -> None:
        self._figures = figures
        self.rows: list[ActivityRow] = []
        self.is_full = False
        self.pruned: list[tuple[Instant, timedelta]] = []

    def under(self, lease: NamedLease | None) -> Standing:
        raise AssertionError(f"no other node could have the lease {lease}")

    async def figures(self, now: Instant, *, after: int | None = None) -> StoreFigures:
        del after
        return replace(self._figures, at=now)

    async def keep_findings(self, findings: Findings) -> None:
        raise AssertionError(f"a node without others keeps nothing for them: {findings}")

    async def findings(self) -> Findings | None:
        return None

    async def note_activity(self, row: ActivityRow) -> None:
        if self.is_full:
            raise StoreError("full")
        self.rows.append(row)

    async def prune_activity(self, now: Instant, *, keep: timedelta) -> None:
        self.pruned.append((now, keep))


class Rig:
    """Activity on a clock that stands still."""

    def __init__(self, figures: StoreFigures) -> None:
        self.store, self.counts, self.clock = Standing(figures), EngineCounts(), ManualClock(BUCKET + MINUTE)
        self.telemetry = RecordingTelemetry()
        self.activity = ActivityRecorder(self.store, self.counts, self.clock, self.telemetry)

    def check(self, outcome: str = "unchanged") -> None:
        self.counts.committed([result_of(outcome, received=100, saved=7)])


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    opened = await Desk.at(tmp_path)
    yield opened
    await opened.store.close()


@pytest.fixture
async def rig(desk: Desk) -> Rig:
    return Rig(await desk.store.figures(START))


async def test_what_was_done_is_noted_with_the_five_minutes_in_which_it_was(rig: Rig) -> None:
    rig.check()
    rig.check("major")
    rig.counts.emit(Happening("page.rendered", "info", {}))

    await rig.activity.note()

    row = ActivityRow(BUCKET, {"unchanged": 1, "major": 1}, rendered=1, wire_bytes=200, saved_bytes=14)
    assert rig.store.rows == [row]


async def test_how_late_checks_begin_and_alerts_come_is_noted(rig: Rig) -> None:
    due = [None, *(START - late_us for late_us in (0, 90_000, 2_000_000, 61_000_000, 7_200_000_001))]
    checks = [replace(result_of("first"), checked_at=START, order=CheckOrder(due_at=at)) for at in due]
    rig.counts.committed(checks)
    receiver = CountedChannel(Receiver(), rig.counts)
    for late_s in (0.1, 9.9, 10.1):
        await receiver.deliver(Notification(SerializedEvent("A", b"{}")))
        rig.counts.accepted(late_s)

    await rig.activity.note()

    (row,) = rig.store.rows
    assert row.delays == {"100": 2, "2500": 1, "300000": 1, "": 1}
    assert (row.delivered, row.late) == (3, 1)


async def test_each_note_tells_only_of_what_is_new_and_nothing_is_noted_of_nothing(rig: Rig) -> None:
    rig.check()
    await rig.activity.note()
    await rig.activity.note()
    rig.check()
    await rig.activity.note()

    assert [row.outcomes for row in rig.store.rows] == [{"unchanged": 1}, {"unchanged": 1}]


async def test_it_costs_one_write_a_minute_and_a_row_ends_with_its_five_minutes(rig: Rig) -> None:
    async with asyncio.TaskGroup() as group:
        running = group.create_task(rig.activity.run())
        for _ in range(10):
            rig.check()
            await rig.clock.advance(60)
        running.cancel()

    assert [(row.at - BUCKET) // SPAN_US for row in rig.store.rows] == [0, 0, 0, 0, 1, 1, 1, 1, 1, 2]
    assert sum(row.outcomes["unchanged"] for row in rig.store.rows) == 10


async def test_what_a_full_disk_kept_from_being_noted_is_noted_later(rig: Rig) -> None:
    rig.store.is_full = True
    rig.check()
    await rig.activity.finish()
    await rig.activity.finish()
    rig.store.is_full = False
    rig.check()

    await rig.activity.finish()

    assert [row.outcomes for row in rig.store.rows] == [{"unchanged": 2}]
    # Once: that the figures can be read meanwhile does not mean that it can be written.
    assert rig.telemetry.names() == ["activity.failed"]


async def test_a_disk_that_is_full_anew_is_told_of_anew(rig: Rig) -> None:
    for is_full in (True, False, True):
        rig.store.is_full = is_full
        rig.check()
        await rig.activity.finish()

    assert rig.telemetry.names() == ["activity.failed"] * 2


async def test_what_is_old_is_forgotten_once_an_hour(rig: Rig) -> None:
    for minutes in (0, 30, 31):
        await rig.clock.advance(minutes * 60)
        rig.check()
        await rig.activity.note()

    assert [keep for _, keep in rig.store.pruned] == [KEPT, KEPT]
    assert rig.store.pruned[1][0] - rig.store.pruned[0][0] == 61 * MINUTE


async def test_alerts_are_counted_from_the_start_on_by_what_they_tell(desk: Desk) -> None:
    counts, clock = EngineCounts(), ManualClock()
    activity = ActivityRecorder(desk.store, counts, clock, RecordingTelemetry())
    await desk.store.write_alert(alert("before", None))
    await activity.look()

    await desk.store.write_alert(alert("a", None))
    await desk.store.write_alert(alert("b", None, kind="tocsin.outage.began.v1"))
    await activity.look()
    await activity.note()

    assert activity.alerts == {("changed", ""): 1, ("outage", ""): 1}
    assert (await desk.store.activity(0))[0].alerts == 2


class GivenDuty:
    """Whether a node leads, as a test says; implements `Duty`."""

    def __init__(self, lease: NamedLease | None) -> None:
        self.is_held, self.lease = lease is not None, lease


async def test_of_two_nodes_the_leader_alone_counts_the_alerts_and_both_know_the_figures(desk: Desk) -> None:
    crowded = CrowdedHosts(1, (CrowdedHost("busy.example", 9, 9.0, 3.0),))
    lease = await desk.store.take_lease(NodeIdentity("one", 0), "leader", timedelta(seconds=60))
    duties = GivenDuty(lease), GivenDuty(None)
    leader, other = (
        ActivityRecorder(
            desk.store, EngineCounts(), ManualClock(), RecordingTelemetry(), leads=duty, crowded=lambda: crowded
        )
        for duty in duties
    )
    await other.look()
    unknown = other.figures
    await leader.look()
    await desk.store.write_alert(alert("a", None))
    for node in (leader, other):
        await node.look()
        await node.note()

    assert unknown is None
    assert leader.figures is not None
    assert other.figures == replace(leader.figures, alerts={})
    assert (other.crowded, other.alerts) == (crowded, {})
    assert sum(row.alerts for row in await desk.store.activity(0)) == 1

    # The next leader goes on where the one before it stopped.
    duties[0].is_held, duties[1].is_held = False, True
    await desk.store.write_alert(alert("b", None))
    await other.look()

    assert other.alerts == {("changed", ""): 1}


async def test_activity_survives_a_restart_and_adds_up(desk: Desk) -> None:
    for _ in range(2):
        counts = EngineCounts()
        activity = ActivityRecorder(desk.store, counts, ManualClock(BUCKET), RecordingTelemetry())
        counts.committed([replace(result_of("minor"), checked_at=START, order=CheckOrder(due_at=START))])
        counts.deliveries["ops", "accepted"] = 1
        counts.accepted(60.0)
        await activity.finish()

    (row,) = await desk.store.activity(0)
    assert (row.at, row.outcomes, row.delays) == (BUCKET, {"minor": 2}, {"100": 2})
    assert (row.delivered, row.late) == (2, 2)


class Receiver:
    """A channel that answers as it is told to."""

    name = "ops"
    at_once = 1
    takes_messages = False

    def __init__(self) -> None:
        self.blames: str | None = None
        self.is_closed = False

    async def deliver(self, notification: Notification) -> None:
        if self.blames is not None:
            raise DeliveryError(self.name, self.blames, f"{notification.event.id}: no")

    async def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize(
    ("blames", "result"), [(None, "accepted"), ("channel", "failed"), ("alert", "refused"), ("gone", "gone")]
)
async def test_what_channels_answer_is_counted_and_passed_on(blames: str | None, result: str) -> None:
    receiver, counts = Receiver(), EngineCounts()
    channel, receiver.blames = CountedChannel(receiver, counts), blames

    if blames is None:
        await channel.deliver(Notification(SerializedEvent.of({"id": "1"})))
    else:
        with pytest.raises(DeliveryError, match="1: no"):
            await channel.deliver(Notification(SerializedEvent.of({"id": "1"})))

    assert dict(counts.deliveries) == {("ops", result): 1}


async def test_a_counted_channel_is_closed_as_it_is() -> None:
    receiver = Receiver()

    await CountedChannel(receiver, EngineCounts()).close()

    assert receiver.is_closed


def test_a_value_on_a_bound_falls_below_it() -> None:
    spread = Histogram((10, 20))

    for took_ms in (10, 10.5, 20, 21):
        spread.add(took_ms)

    assert (spread.counts, spread.total_ms) == ([1, 2, 1], 61.5)
