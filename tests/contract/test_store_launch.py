"""What waits at a launch, what is spread, and what goes on meanwhile (T63)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from tests.contract.desk import DAY, HOUR, MINUTE, NOW, SECOND, A, B, C
from tocsin.adapters.stores.sql.checking import launch

if TYPE_CHECKING:
    import pytest

    from tests.contract.desk import Desk
    from tocsin.model import CheckResult

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

    due = await desk.store.commit(desk.claim, [desk.result(task, next_at=NOW + DAY)])

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
    monkeypatch.setattr(launch, "_LOOK_PAGES", 2)
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
    assert (await desk.page(A)).next_at == NOW + DAY


async def test_T63_what_was_checked_since_the_launch_was_not_checked_by_a_clock_that_was_ahead(desk: Desk) -> None:
    await checked(desk, A, due=NOW)
    desk.now = NOW + 10 * MINUTE
    await desk.check(A, next_at=NOW + DAY + HOUR)

    assert await spread(desk, at_launch=timedelta(0)) == 0


async def test_T54_every_page_that_was_off_is_looked_at_however_short_the_looks(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launch, "_LOOK_PAGES", 1)
    await desk.watch(A, B, C)
    for url in (A, C):
        await desk.check(url, next_at=None, next_why="off")

    assert await desk.store.wake_off(NOW, mode="on") == 2
