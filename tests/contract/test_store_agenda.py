"""What is due and when, who may claim it, and what a start does with overdue pages."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tests.claiming import claim_all
from tests.contract.desk import DAY, HOUR, MINUTE, NOW, SECOND, A, B, C, Desk, new_page
from tocsin.adapters.stores import open_store
from tocsin.adapters.stores.sql.checking import work
from tocsin.errors import StaleClaim
from tocsin.model import (
    CheckReport,
    CheckResult,
    DueTime,
    Instruction,
)


async def test_first_checks_are_spread_by_a_jitter_that_stays_with_the_page(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(1000)))

    due = sorted(task.page_id for task in await desk.due(at=NOW + 10 * 1_000_000))

    # Twenty milliseconds a page: after ten of twenty seconds, about half of them.
    assert 450 < len(due) < 550


async def test_the_agenda_gives_each_host_its_earliest_page(desk: Desk) -> None:
    await desk.watch(A, B, C)
    rows = {url: await desk.page(url) for url in (A, B, C)}

    agenda = await desk.agenda()

    assert sorted(agenda.values()) == sorted([min(rows[A].due.at or 0, rows[B].due.at or 0), rows[C].due.at or 0])


async def test_one_crowded_host_starves_no_other(desk: Desk) -> None:
    await desk.watch(*(f"https://big.example/{number}" for number in range(500)))
    await desk.watch("https://small.example/")

    tasks = await desk.due(per_host=3)

    assert [task.host for task in tasks].count("big.example") == 3
    assert [task.host for task in tasks].count("small.example") == 1


async def test_a_hosts_pages_come_together_and_the_longest_due_first(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number % 7}.example/{number}" for number in range(70)))

    tasks = await desk.due()

    hosts = [task.host for task in tasks]
    assert [host for place, host in enumerate(hosts) if place == 0 or hosts[place - 1] != host] == sorted(set(hosts))
    of_one = [(await desk.page(task.url)).due.at for task in tasks if task.host == "h3.example"]
    assert of_one == sorted(of_one, key=lambda at: at or 0)


async def test_the_hosts_that_were_received_last_are_known_without_a_memory_of_checks(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(3)))
    tasks = {task.host: task for task in await desk.due()}
    results = [
        CheckResult(
            page_id=task.page_id,
            host_id=task.host_id,
            report=CheckReport(task.url, "first"),
            checked_at=NOW,
            set_at=at,
            due=DueTime(NOW + DAY, "every"),
        )
        for at, task in enumerate([tasks["h1.example"], tasks["h0.example"]], NOW)
    ]
    await desk.store.commit(desk.claim, results)

    received = await desk.store.hosts_received_last(5)

    assert received == [(tasks["h0.example"].host_id, NOW + 1), (tasks["h1.example"].host_id, NOW)]
    assert await desk.store.hosts_received_last(1) == received[:1]


async def test_requested_pages_come_first_and_their_host_is_due_at_once(desk: Desk) -> None:
    await desk.watch(A, B)
    late = max([await desk.page(A), await desk.page(B)], key=lambda page: page.due.at or 0)

    request = await desk.store.request_check([late.id], NOW)

    (host,) = await desk.agenda()
    assert (await desk.agenda())[host] == 0
    tasks = await desk.store.due_pages(desk.claim, [host], NOW + DAY, per_host=1)
    assert [(task.url, task.order.request_id) for task in tasks] == [(late.url, request)]


async def test_a_page_that_is_due_and_requested_takes_one_place(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.store.request_check([(await desk.page(A)).id], NOW)

    assert [task.url for task in await desk.due(per_host=2)] == [A, B]


async def test_a_request_can_be_served_alone(desk: Desk) -> None:
    await desk.watch(A, B)
    page = await desk.page(B)
    request = await desk.store.request_check([page.id], NOW)

    tasks = await desk.store.due_pages(desk.claim, list(await desk.agenda()), NOW + DAY, per_host=9, request_id=request)

    assert [task.url for task in tasks] == [B]


async def test_paused_pages_are_not_due(desk: Desk) -> None:
    (page_id,) = await desk.watch(A)
    await desk.edit(page_id, paused=True)

    assert await desk.agenda() == {}
    assert await desk.due() == []


async def test_an_edit_of_another_process_is_noticed_and_names_its_host(desk: Desk) -> None:
    await desk.watch(A, C)
    revision = await desk.store.foreign_revision()
    assert await desk.store.foreign_revision() is None
    async with await open_store(desk.behind.url, engine=False) as other:
        await other.add_pages([new_page(B)], NOW)

    async with asyncio.timeout(60):
        # A notification takes its time.
        while (newer := await desk.store.foreign_revision()) is None:
            pass

    assert revision is not None
    assert newer > revision
    assert list(await desk.agenda(since=revision)) == [(await desk.task(A)).host_id]
    assert await desk.agenda(since=newer) == {}


async def test_own_results_are_no_edit(desk: Desk) -> None:
    await desk.watch(A)
    revision = await desk.store.foreign_revision()

    await desk.check(A, "2026")

    assert await desk.store.foreign_revision() is None
    assert await desk.agenda(since=revision) == {}


async def test_an_edit_through_this_very_store_is_noticed_too(desk: Desk) -> None:
    await desk.store.foreign_revision()

    await desk.watch(A)

    assert await desk.store.foreign_revision() is not None


async def test_the_agenda_is_whole_beyond_one_read(desk: Desk) -> None:
    revision = await desk.store.foreign_revision()
    await desk.watch(*(f"https://h{number}.example/" for number in range(5203)))

    assert len(await desk.agenda()) == 5203
    assert len(await desk.agenda(since=revision)) == 5203


async def checked_long_ago(desk: Desk, count: int, ago: int, due: int) -> None:
    """Let pages be checked `ago` before now, and due at `due`."""
    await desk.watch(*(f"https://h{number}.example/" for number in range(count)))
    desk.now = NOW - ago
    results: list[CheckResult] = [desk.result(task, next_at=due) for task in await desk.due(at=NOW + DAY)]
    await desk.store.commit(desk.claim, results)
    desk.now = NOW


async def overdue(desk: Desk, now: int = NOW, *, at_launch: timedelta = timedelta(hours=1), cron: str = "") -> int:
    """Launch at this time, under a configuration that says this; returns how many pages became due."""
    return await desk.store.spread_overdue(desk.claim, now, at_launch=at_launch, cron=cron)


async def test_T63_what_is_overdue_at_launch_is_spread_not_fired_at_once(desk: Desk) -> None:
    await checked_long_ago(desk, 500, 3 * DAY, NOW - 2 * DAY)

    moved = await overdue(desk)

    assert moved == 500
    half = await desk.due(at=NOW + 5 * 1_000_000)
    assert 200 < len(half) < 300
    assert len(await desk.due(at=NOW + 10 * 1_000_000)) == 500


async def test_T63_a_crash_loop_moves_each_page_once(desk: Desk) -> None:
    await checked_long_ago(desk, 50, 3 * DAY, NOW + 20 * HOUR)
    await overdue(desk)
    first = await desk.due()

    again = await overdue(desk, NOW + 100_000)

    assert again == 0
    assert await desk.due() == first


async def test_T63_what_was_checked_a_moment_ago_stays_where_it_is(desk: Desk) -> None:
    await checked_long_ago(desk, 5, 10 * MINUTE, NOW + 23 * HOUR)

    assert await overdue(desk) == 0


async def test_T63_cron_paused_held_and_never_are_left_alone(desk: Desk) -> None:
    await checked_long_ago(desk, 4, 3 * DAY, NOW - 2 * DAY)
    cron, paused, held, never = [(await desk.page(f"https://h{number}.example/")).id for number in range(4)]
    await desk.edit(cron, settings={"cron": "0 6 * * *"})
    await desk.edit(paused, paused=True)
    desk.now = NOW - 2 * DAY
    await desk.fail("https://h2.example/", next_at=NOW - DAY, next_why="held: Retry-After")
    await desk.fail("https://h3.example/")
    question = (await desk.page("https://h3.example/")).question_id
    assert question is not None
    await desk.store.answer(question, Instruction("never"), scope="page", url=None, now=desk.now)

    assert held != never
    assert await overdue(desk) == 0


async def test_T63_a_cron_expression_of_the_group_counts(desk: Desk) -> None:
    await checked_long_ago(desk, 3, 3 * DAY, NOW - 2 * DAY)
    await desk.store.edit_group("main", NOW - 2 * DAY - MINUTE, settings={"cron": "0 6 * * *"}, unset=[])

    assert await overdue(desk) == 0


async def test_T63_an_interval_of_the_page_stands_above_a_cron_expression_of_its_group(desk: Desk) -> None:
    await checked_long_ago(desk, 2, 3 * DAY, NOW + 20 * HOUR)
    await desk.store.edit_group("main", NOW, settings={"cron": "0 6 * * *"}, unset=[])
    desk.now = NOW - DAY
    await desk.edit((await desk.page("https://h0.example/")).id, settings={"every": "48h"})

    assert await overdue(desk, NOW + HOUR) == 1


@pytest.mark.parametrize("level", ["page", "group", "all"])
async def test_T63_an_interval_stands_above_a_cron_expression_of_the_configuration(desk: Desk, level: str) -> None:
    await checked_long_ago(desk, 1, 3 * DAY, NOW + 20 * HOUR)
    if level == "page":
        await desk.edit(1, settings={"every": "48h"})
    else:
        await desk.store.edit_group("main" if level == "group" else None, NOW, settings={"every": "48h"}, unset=[])

    assert await overdue(desk, cron="0 6 * * *") == 1


async def test_T63_a_cron_expression_of_the_configuration_counts(desk: Desk) -> None:
    await checked_long_ago(desk, 1, 3 * DAY, NOW - 2 * DAY)

    assert await overdue(desk, cron="0 6 * * *") == 0


@pytest.mark.parametrize("cron", ["", "0 6 * * *"])
async def test_T63_what_was_checked_by_a_clock_that_was_ahead_is_due_once(desk: Desk, cron: str) -> None:
    await checked_long_ago(desk, 3, -3650 * DAY, NOW + 3651 * DAY)

    assert await overdue(desk, cron=cron) == 3
    assert len(await desk.due(at=NOW + MINUTE)) == 3
    assert await overdue(desk, cron=cron) == 0


@pytest.mark.parametrize(
    ("span", "in_configuration", "moved"),
    [("3h", timedelta(hours=1), 0), ("1h30m", timedelta(hours=9), 1), ("0s", timedelta(hours=9), 1)],
)
@pytest.mark.parametrize("level", ["page", "group", "all"])
async def test_T63_each_level_may_say_what_is_overdue_at_launch(
    desk: Desk, level: str, span: str, in_configuration: timedelta, moved: int
) -> None:
    await checked_long_ago(desk, 1, 2 * HOUR, NOW + 20 * HOUR)
    settings = {"at_launch": span}
    if level == "page":
        await desk.edit(1, settings=settings)
    else:
        await desk.store.edit_group("main" if level == "group" else None, NOW, settings=settings, unset=[])

    assert await overdue(desk, at_launch=in_configuration) == moved


async def test_T63_the_nearest_word_on_what_is_overdue_at_launch_counts(desk: Desk) -> None:
    await checked_long_ago(desk, 2, 2 * HOUR, NOW + 20 * HOUR)
    await desk.store.edit_group("main", NOW, settings={"at_launch": "9h"}, unset=[])
    await desk.edit(1, settings={"at_launch": "1h"})

    assert await overdue(desk, at_launch=timedelta(minutes=1)) == 1


async def test_T54_what_the_configuration_turned_off_and_on_again_is_due(desk: Desk) -> None:
    await desk.watch(A, C)
    await desk.edit((await desk.page(C)).id, settings={"mode": "off"})
    await desk.check(A, next_at=None, next_why="off")
    revision = await desk.store.foreign_revision()

    assert await desk.store.wake_off(NOW, mode="off") == 0
    assert await desk.store.wake_off(NOW, mode="auto") == 1

    assert (await desk.page(A)).due.at == pytest.approx(NOW, abs=MINUTE)
    assert (await desk.page(C)).due.at is None
    assert len(await desk.agenda(since=revision)) == 1


async def test_T54_a_group_that_is_off_stays_off_whatever_the_configuration_says(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.edit_group("main", NOW, settings={"mode": "off"}, unset=[])
    await desk.check(A, next_at=None, next_why="off")

    assert await desk.store.wake_off(NOW, mode="on") == 0


async def test_T60_what_is_never_to_be_checked_is_not_woken(desk: Desk) -> None:
    await desk.watch(A)
    await desk.fail(A)
    await desk.store.answer(1, Instruction("never"), scope="page", url=None, now=NOW)

    assert await desk.store.wake_off(NOW, mode="on") == 0


async def test_T54_many_that_were_off_are_woken_in_short_transactions(desk: Desk) -> None:
    await desk.watch(*(f"https://h{number}.example/" for number in range(1003)))
    await desk.store.commit(
        desk.claim, [desk.result(task, next_at=None, next_why="off") for task in await desk.due(at=NOW + DAY)]
    )

    assert await desk.store.wake_off(NOW, mode="on") == 1003


@pytest.mark.parametrize("who", ["user", "configuration"])
async def test_T54_a_check_that_began_while_its_page_was_off_does_not_turn_it_off_again(desk: Desk, who: str) -> None:
    await desk.watch(A)
    await desk.store.edit_group("main", NOW, settings={"mode": "off"}, unset=[])
    under_way = desk.result(await desk.task(A), next_at=None, next_why="off")
    if who == "user":
        await desk.store.edit_group("main", NOW, settings={"mode": "on"}, unset=[])
    else:
        await desk.store.edit_group("main", NOW, settings={}, unset=["mode"])
        await desk.store.wake_off(NOW, mode="on")

    await desk.store.commit(desk.claim, [under_way])

    assert (await desk.page(A)).due.at == pytest.approx(NOW, abs=MINUTE)


async def test_the_due_time_after_a_batch_is_told_for_each_of_its_hosts(desk: Desk) -> None:
    await desk.watch(A, C)
    first, second = await desk.due()

    due, _ = await desk.store.commit(
        desk.claim, [desk.result(first, next_at=NOW + HOUR), desk.result(second, next_at=None, next_why="off")]
    )

    assert due == {first.host_id: NOW + HOUR, second.host_id: None}


async def test_a_lease_that_ran_out_unnoticed_still_commits(desk: Desk) -> None:
    await desk.watch(A)
    desk.now += 60 * SECOND

    await desk.check(A)

    assert (await desk.page(A)).last.report is not None


async def test_results_under_an_old_epoch_are_refused_and_nothing_is_written(desk: Desk) -> None:
    await desk.watch(A)
    result = desk.result(await desk.task(A))
    await claim_all(desk.store, "engine")

    committed = await desk.store.commit(desk.claim, [result])

    assert committed == ({}, 1)
    assert (await desk.page(A)).last.checked_at is None


async def test_a_rendering_under_an_old_epoch_is_refused_and_nothing_is_written(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "2026-01")
    await desk.check(A, "2026-02")
    job = await desk.job(A)
    await claim_all(desk.store, "engine")

    with pytest.raises(StaleClaim):
        await desk.store.commit_renderings(desk.claim, [desk.rendered(job)])

    assert await desk.alerts() == []


async def test_slots_of_an_old_epoch_are_waiting_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "2026-01")
    await desk.check(A, "2026-02")
    await desk.job(A)
    assert await desk.store.count_waiting() == 0

    await claim_all(desk.store, "engine")

    assert await desk.store.count_waiting() == 1


AT_LAUNCH = timedelta(hours=1)


async def checked(desk: Desk, *urls: str, due: int) -> None:
    """Let pages be watched, checked two days ago, and due at this time."""
    await desk.watch(*urls)
    tasks = [await desk.task(url) for url in urls]
    desk.now = NOW - 2 * DAY
    results: list[CheckResult] = [desk.result(task, next_at=due) for task in tasks]
    await desk.store.commit(desk.claim, results)
    desk.now = NOW


async def spread(desk: Desk, told: list[dict[int, int] | None] | None = None, **changes: Any) -> int:
    settings: dict[str, Any] = {"at_launch": AT_LAUNCH, "cron": ""}
    if told is not None:
        settings["on_spread"] = told.append
    return await desk.store.spread_overdue(desk.claim, NOW, **(settings | changes))


async def test_T63_what_is_overdue_waits_until_it_is_spread(desk: Desk) -> None:
    await checked(desk, A, B, C, due=NOW - DAY)

    await desk.store.hold_overdue(NOW, at_launch=AT_LAUNCH)

    assert await desk.due() == []
    assert await desk.agenda() == {}
    assert await spread(desk) == 3
    assert len(await desk.due(at=NOW + MINUTE)) == 3
    assert len(await desk.agenda()) == 2


async def test_T63_what_became_due_a_moment_ago_does_not_wait(desk: Desk) -> None:
    await checked(desk, A, due=NOW - 1000)

    await desk.store.hold_overdue(NOW, at_launch=AT_LAUNCH)

    assert len(await desk.due()) == 1
    assert await desk.agenda() == {1: NOW - 1000}


async def test_T63_requested_pages_do_not_wait(desk: Desk) -> None:
    await checked(desk, A, B, due=NOW - DAY)
    await desk.store.hold_overdue(NOW, at_launch=AT_LAUNCH)

    await desk.store.request_check([(await desk.page(B)).id], NOW)

    assert [task.url for task in await desk.due()] == [B]
    assert await desk.agenda() == {1: 0}


async def test_T63_the_host_of_a_page_that_was_checked_is_not_due_for_what_waits(desk: Desk) -> None:
    await checked(desk, A, B, due=NOW - DAY)
    task = await desk.task(B)
    await desk.store.hold_overdue(NOW, at_launch=AT_LAUNCH)

    due, _ = await desk.store.commit(desk.claim, [desk.result(task, next_at=NOW + DAY)])

    assert due == {task.host_id: NOW + DAY}


async def test_T63_hosts_are_told_with_the_earliest_time_of_their_pages(desk: Desk) -> None:
    told: list[dict[int, int] | None] = []
    await checked(desk, A, B, C, due=NOW - DAY)

    await spread(desk, told)

    assert told == [await desk.agenda(), None]


async def test_T63_what_keeps_to_a_cron_expression_waits_no_longer_than_for_the_others(desk: Desk) -> None:
    told: list[dict[int, int] | None] = []
    await checked(desk, A, due=NOW - DAY)
    await desk.store.hold_overdue(NOW, at_launch=AT_LAUNCH)

    assert await spread(desk, told, cron="0 6 * * *") == 0

    assert told == [None]
    assert await desk.agenda() == {1: NOW - DAY}


async def test_T63_where_nothing_waited_nothing_is_to_be_read_again(desk: Desk) -> None:
    told: list[dict[int, int] | None] = []
    await checked(desk, A, due=NOW + 1000)

    await spread(desk, told)

    assert told == []


async def test_T63_every_page_is_looked_at_however_short_the_looks(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "_LOOK_PAGES", 2)
    await checked(desk, *(f"https://h{number}.example/" for number in range(5)), due=NOW - DAY)

    assert await spread(desk) == 5


async def test_T63_what_was_checked_since_it_was_found_overdue_is_not_checked_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    await checked(desk, A, due=NOW - DAY)
    really = desk.store._spread

    async def after_its_check(*step: Any) -> Any:
        desk.now = NOW + SECOND
        await desk.check(A, next_at=NOW + DAY)
        return await really(*step)

    monkeypatch.setattr(desk.store, "_spread", after_its_check)

    assert await spread(desk) == 0
    assert (await desk.page(A)).due.at == NOW + DAY


async def test_T63_what_was_checked_since_the_launch_was_not_checked_by_a_clock_that_was_ahead(desk: Desk) -> None:
    await checked(desk, A, due=NOW)
    desk.now = NOW + 10 * MINUTE
    await desk.check(A, next_at=NOW + DAY + HOUR)

    assert await spread(desk, at_launch=timedelta(0)) == 0


async def test_T54_every_page_that_was_off_is_looked_at_however_short_the_looks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "_LOOK_PAGES", 1)
    await desk.watch(A, B, C)
    for url in (A, C):
        await desk.check(url, next_at=None, next_why="off")

    assert await desk.store.wake_off(NOW, mode="on") == 2
