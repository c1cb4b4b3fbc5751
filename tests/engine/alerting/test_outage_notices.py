"""Our own outage is told of once, and its end once, however many processes it lasts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from tests.fakes import EagerClock, RecordingTelemetry, SeededChance
from tocsin.adapters.stores import open_store
from tocsin.engine.alerting.announcements import OutageAnnouncer
from tocsin.engine.hosts.lease import Lease
from tocsin.engine.hosts.outage import OutageWatch
from tocsin.engine.judging.events import EventWriter
from tocsin.events import Happening
from tocsin.ports import Store

CHANCE = SeededChance()


async def one_shot(store: Store, answers: dict[str, bool]) -> list[Happening]:
    """What a check sees of the network, host by host; returns what it logs."""
    clock, telemetry = EagerClock(), RecordingTelemetry()
    lease = Lease(store, "test", timedelta(seconds=10), clock, telemetry)
    await lease.take()
    outage = OutageWatch(clock)
    uplink = OutageAnnouncer(store, lease, outage, EventWriter("tocsin", CHANCE), clock, telemetry, node="one")
    await uplink.recall()
    assert not outage.is_outage()
    await uplink.look()
    for host, ok in answers.items():
        outage.note(host, ok=ok, kind=None if ok else "connect")
    outage.settle(is_outage=True)
    await uplink.look()
    return telemetry.happenings


async def types(store: Store) -> list[str]:
    return [alert.type for alert in reversed(await store.alerts(limit=10))]


async def test_one_shot_checks_in_one_outage_tell_of_it_once_and_of_its_end(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        down = dict.fromkeys("abc", False)
        logged = [await one_shot(store, down) for _ in range(2)]
        during = await types(store)
        logged.append(await one_shot(store, {"a": True}))

        assert during == ["tocsin.outage.began.v1"]
        assert await types(store) == ["tocsin.outage.began.v1", "tocsin.outage.ended.v1"]
        happenings = [each for of_check in logged for each in of_check if each.name.startswith("outage.")]
        told = [(each.name, each.values["summary"]) for each in happenings]
        assert [name for name, _ in told] == ["outage.began", "outage.ended"]
        assert [said for _, said in told] == [
            row.event["data"]["summary"] for row in (await store.alerts(limit=10))[::-1]
        ]


async def test_a_check_that_nobody_answered_does_not_end_an_outage(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        await one_shot(store, dict.fromkeys("abc", False))
        await one_shot(store, {"a": False})

        assert await types(store) == ["tocsin.outage.began.v1"]


async def test_a_notice_names_the_node_whose_connection_it_is(tmp_path: Path) -> None:
    async with await open_store(f"sqlite:{tmp_path / 'tocsin.db'}", engine=True) as store:
        await one_shot(store, dict.fromkeys("abc", False))
        await one_shot(store, {"a": True})

        assert [alert.event["data"]["node"] for alert in await store.alerts(limit=9)] == ["one", "one"]
