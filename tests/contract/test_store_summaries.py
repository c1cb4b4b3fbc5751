"""What lists show of pages beside their rows: the last change in words, and days."""

from __future__ import annotations

import pytest

from tests.contract.desk import DAY, HOUR, NOW, A, B, Desk, alert
from tocsin.events import CHANGED, UNREACHABLE
from tocsin.model import MOST_DAYS, DayMark, DayMarks, LastChange, day_of

TODAY = day_of(NOW)


async def marks(desk: Desk, url: str = A, count: int = 4) -> list[int]:
    """The marks of a page in the days from NOW on."""
    return [int(mark) for mark in (await desk.page(url)).days.until(TODAY + count - 1, count)]


async def test_each_day_has_the_most_telling_of_what_its_checks_found(desk: Desk) -> None:
    await desk.watch(A, B)
    desk.now = TODAY * DAY + HOUR
    await desk.check(A, "1")
    await desk.fail(A)
    desk.now += DAY
    await desk.check(A, "2")
    await desk.fail(A)
    desk.now += 2 * DAY
    await desk.check(A, "2")

    assert await marks(desk) == [DayMark.PROBLEM, DayMark.MAJOR, DayMark.NOTHING, DayMark.NOTHING]
    assert await marks(desk, B) == [0, 0, 0, 0]


async def test_of_two_results_of_one_page_in_one_batch_both_are_marked(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    desk.now += HOUR
    failed, changed = desk.failed(await desk.task(A)), desk.result(await desk.task(A), "2")

    await desk.store.commit(desk.claim, [changed, failed])

    assert (await desk.page(A)).change.outcome == "major"
    assert max(await marks(desk)) == DayMark.MAJOR


async def test_checks_that_find_nothing_new_and_failures_of_one_day_write_no_summary(desk: Desk) -> None:
    await desk.watch(A, B)
    await desk.check(A, "1")
    await desk.fail(B)
    before = desk.behind.look("select * from summaries")
    ((_, day),) = desk.behind.look("select page_id, day from summaries")

    await desk.check(A, "1")
    await desk.fail(B)

    assert desk.behind.look("select * from summaries") == before
    assert day == TODAY


async def test_the_last_change_is_told_in_words_once_its_alert_is_written(desk: Desk) -> None:
    await desk.watch(A)
    await desk.check(A, "1")
    before = (await desk.page(A)).change
    desk.now += HOUR
    await desk.check(A, "2")
    found = (await desk.page(A)).change
    draft = alert("told", 1, CHANGED)
    draft.event["data"] = {"short": "14 instead of 30"}
    await desk.store.write_alert(draft)
    other = alert("other", 1, UNREACHABLE)
    other.event["data"] = {"short": "Unreachable"}
    await desk.store.write_alert(other)
    told = (await desk.page(A)).change
    desk.now += HOUR
    await desk.check(A, "3")

    assert (before, found) == (LastChange(), LastChange("major"))
    assert told == LastChange("major", "14 instead of 30")
    assert (await desk.page(A)).change == LastChange("major")


@pytest.mark.parametrize("days", [40, 400])
def test_a_page_that_changes_every_day_keeps_a_year_of_days(days: int) -> None:
    found = DayMarks()
    for day in range(days):
        found = found.with_mark(TODAY + day, DayMark.MINOR)

    assert found.until(TODAY + days - 1, 500).count(DayMark.MINOR) == min(days, MOST_DAYS)
    assert len(found.packed) == (2 * min(days, MOST_DAYS) + 7) // 8
