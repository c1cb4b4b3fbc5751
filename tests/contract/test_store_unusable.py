"""Settings in the store that nothing can use, as another program may have written them: they stop nobody else."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from tests.contract.desk import DAY, HOUR, NOW, A, B
from tocsin.model import CheckOutcome, CheckReport

if TYPE_CHECKING:
    from tests.contract.desk import Desk
    from tocsin.model import JsonObject


async def put(desk: Desk, url: str, settings: JsonObject) -> None:
    """Write settings that no command would take."""
    page = await desk.page(url)
    await desk.store.edit_pages(
        [page.id], desk.now, settings=settings, unset=(), paused=None, group=None, text=None, clear_text=False
    )


async def find_off(desk: Desk) -> None:
    """Commit a check that found the page off, as its settings said when it began."""
    report = CheckReport(A, CheckOutcome.SKIPPED, problem="off")
    off = desk.failed(await desk.task(A), report=report, failure=None, next_at=None, next_why="off")
    await desk.store.commit(desk.claim, [off])


@pytest.mark.parametrize("written", ["soon", "9999999999999d", "999999999d", 5, ["1h"], {"hours": 1}])
async def test_T63_a_launch_goes_on_whatever_a_page_says_of_launches(desk: Desk, written: object) -> None:
    await desk.watch(A, B)
    tasks = [await desk.task(url) for url in (A, B)]
    desk.now = NOW - 2 * DAY
    await desk.store.commit(desk.claim, [desk.result(task, next_at=NOW - DAY) for task in tasks])
    desk.now = NOW
    await put(desk, A, {"at_launch": written})

    moved = await desk.store.spread_overdue(desk.claim, NOW, at_launch=timedelta(hours=1), cron="")

    assert moved == 2


@pytest.mark.parametrize("written", ["bogus", 3])
async def test_T52_a_page_whose_own_mode_is_none_stays_off_where_the_next_level_says_so(
    desk: Desk, written: object
) -> None:
    await desk.watch(A)
    await desk.store.wake_off(NOW, mode="off")
    await put(desk, A, {"mode": written})

    await find_off(desk)

    page = await desk.page(A)
    assert (page.next_at, page.next_why) == (None, "off")


async def test_T52_a_page_that_is_turned_on_while_it_is_found_off_is_looked_at_again(desk: Desk) -> None:
    await desk.watch(A)
    await desk.store.wake_off(NOW, mode="off")
    await put(desk, A, {"mode": "auto"})

    await find_off(desk)

    due = (await desk.page(A)).next_at
    assert due is not None
    assert due < NOW + HOUR
