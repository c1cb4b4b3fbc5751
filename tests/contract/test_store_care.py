"""Keeping the store well: copies, findings, forgetting."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest

from tests.contract.desk import DAY, LEASE, NOW, A, Desk, alert
from tests.routers import gathering
from tocsin.adapters.stores import open_store
from tocsin.errors import StoreLocked
from tocsin.model import ChannelState, DeliveryResult

YEAR = timedelta(days=365)


async def forget(desk: Desk, at: int) -> int:
    """Forget all that is older than a year."""
    forgotten = 0
    while some := await desk.store.prune(at, history=YEAR, limit=2):
        assert some <= 2
        forgotten += some
    return forgotten


async def test_the_time_to_prune_by_is_ahead_of_the_one_before_by_a_bounded_span(desk: Desk) -> None:
    times = (NOW, NOW + 3 * DAY, NOW + 3 * DAY, NOW + DAY, NOW + DAY + 1)

    began = [await desk.store.begin_pruning(at, most=timedelta(days=1)) for at in times]

    assert began == [NOW, NOW + DAY, NOW + 2 * DAY, NOW + DAY, NOW + DAY + 1]


async def test_history_is_forgotten_after_its_retention_and_the_table_stays(desk: Desk) -> None:
    await desk.watch(A)
    for major in ("1", "2", "3"):
        await desk.check(A, major)
        desk.now += DAY
    await desk.render(A)
    assert await forget(desk, NOW + 300 * DAY) == 0

    await forget(desk, NOW + 700 * DAY)

    (entry,) = await desk.store.history(A, limit=9)
    assert (entry.fields[10], entry.in_table, entry.verdicts) == ("3", True, ())
    assert await desk.alerts() == []


async def test_what_still_waits_is_not_forgotten(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await desk.watch(A)
    await desk.check(A, "1")
    await desk.check(A, "2")
    await desk.store.write_alert(alert("waiting", 1))
    await desk.fail(A)

    await forget(desk, NOW + 700 * DAY)

    assert await desk.store.count_waiting() == 1
    assert await desk.alerts() == ["waiting"]
    assert len(await desk.store.questions()) == 1


async def test_alerts_in_digests_are_kept_until_these_end_and_go_with_them(desk: Desk) -> None:
    await desk.store.set_channels(["mail"])
    await desk.store.set_routes(gathering(NOW), ["daily"], NOW)
    await desk.store.write_alert(alert("waiting", None))
    made = await desk.store.add_silence({}, from_at=NOW, until_at=NOW + DAY, reason="", who="")
    await forget(desk, NOW + 700 * DAY)
    assert await desk.alerts() == ["waiting"]

    await desk.store.seal_bundle(1, NOW)
    await desk.store.record_deliveries([DeliveryResult("M1", "mail", "accepted", NOW, position=-1)])
    await forget(desk, NOW + 700 * DAY)

    assert (await desk.alerts(), await desk.store.bundles(limit=9)) == ([], [])
    assert made not in await desk.store.silences(limit=9)


@pytest.mark.parametrize("why", ["removed", "disabled"])
async def test_T64_a_channel_that_listens_no_more_keeps_no_alert_from_being_forgotten(desk: Desk, why: str) -> None:
    await desk.store.set_channels(["ops", "gone"])
    await desk.store.write_alert(alert("waiting", None))
    accepted = DeliveryResult("waiting".rjust(26, "0"), "ops", "accepted", NOW)
    await desk.store.record_deliveries([accepted])
    if why == "removed":
        await desk.store.set_channels(["ops"])
    else:
        await desk.store.save_channel_state(ChannelState("gone", disabled=True))

    await forget(desk, NOW + 700 * DAY)

    assert await desk.alerts() == []


async def test_answered_questions_requests_and_delivered_alerts_are_forgotten(desk: Desk) -> None:
    await desk.store.set_channels(["ops"])
    await desk.watch(A)
    request = await desk.store.request_check(None, NOW)
    await desk.fail(A)
    await desk.check(A)
    await desk.store.write_alert(alert("told", 1))
    accepted = DeliveryResult("told".rjust(26, "0"), "ops", "accepted", NOW)
    await desk.store.record_deliveries([accepted])

    await forget(desk, NOW + 700 * DAY)

    assert await desk.store.questions(closed=True) == []
    assert await desk.store.request_reports(request, after=0) == []
    assert await desk.alerts() == []


@pytest.mark.parametrize(("days", "left"), [(6, 1), (8, 0)])
async def test_reports_of_a_request_are_forgotten_after_a_week(desk: Desk, days: int, left: int) -> None:
    await desk.watch(A)
    request = await desk.store.request_check(None, NOW)
    await desk.check(A)

    await desk.store.forget(NOW + days * DAY, history=timedelta(days=365), limit=1000)

    assert len(await desk.store.request_reports(request, after=0)) == left


async def test_T64_hosts_that_nothing_is_kept_of_are_forgotten(desk: Desk) -> None:
    ids = await desk.watch(A)
    await desk.store.save_robots("https://one.example", "kept")
    await desk.store.remove_pages(ids)

    await forget(desk, NOW)

    assert await desk.store.load_robots("https://one.example") is None


async def test_no_history_keeps_nothing_of_what_is_pruned(database: str, tmp_path: Path) -> None:
    desk = await Desk.at(tmp_path, database, history=False)
    async with desk.store:
        await desk.watch(A)
        for major in ("1", "2", "3"):
            await desk.check(A, major)
        await desk.render(A)

        assert [entry.fields[10] for entry in await desk.store.history(A, limit=9)] == ["3"]
        assert await desk.store.check() == []


async def test_the_store_says_whether_an_engine_holds_it(desk: Desk) -> None:
    me = await desk.store.enter("one", LEASE, {})
    assert me is not None
    async with await open_store(desk.behind.url, engine=False) as beside:
        assert await beside.is_held()
        await desk.store.leave(me)
        await desk.store.close()
        assert not await beside.is_held()
        desk.store = (await desk.again()).store


async def test_of_two_engines_the_second_is_refused_unless_nodes_share_the_store(desk: Desk) -> None:
    refused = pytest.raises(StoreLocked, match="is working on this store")
    with nullcontext() if desk.store.is_shared else refused:
        async with await open_store(desk.behind.url, engine=True) as second:
            assert await second.nodes() == await desk.store.nodes()
